import assert from "node:assert/strict";
import { test } from "node:test";

globalThis.localStorage = { getItem: () => null, setItem: () => undefined };
const { Problem } = await import("../../../api/page/api/problem.js");
const { Selection } = await import("../../../api/page/state/selection.js");

const page = (id) => ({ document_id: id, title: id.toUpperCase() });
const chosen = (selection) => selection.pages.value.map((each) => each.document_id);

/** Open a session that is saved by a server which does with each change what it is told to. */
async function opened(...replies) {
  const saved = [];
  const client = {
    documents: async ({ document_id }) => ({ documents: document_id.map(page) }),
    async changeSession(_, { page_ids }) {
      if (!replies.shift()) throw new Problem("unreachable", "");
      saved.push(page_ids);
    },
  };
  const selection = new Selection(client);
  await selection.restore({ session_id: "s", page_ids: ["a"] });
  return { selection, saved };
}

test("a selection that can't be saved is as it was before", async () => {
  const { selection, saved } = await opened(false);
  await assert.rejects(selection.add(page("b")));
  assert.deepEqual([chosen(selection), saved], [["a"], []]);
});

test("a change that another has overtaken is saved with it, and not by itself", async () => {
  const { selection, saved } = await opened(true, true);
  await Promise.all([selection.add(page("b")), selection.add(page("c"))]);
  assert.deepEqual([chosen(selection), saved], [["a", "b", "c"], [["a", "b", "c"]]]);
});

test("where neither can be saved, what was saved comes back", async () => {
  const { selection } = await opened(false, false);
  await Promise.allSettled([selection.add(page("b")), selection.add(page("c"))]);
  assert.deepEqual(chosen(selection), ["a"]);
});

test("more than a question may name are not ticked, and it is told", async () => {
  const { selection } = await opened(true, true);
  assert.equal(await selection.addAll(Array.from({ length: 999 }, (_, at) => page(`d${at}`))), true);
  assert.equal(await selection.addAll([page("a"), page("e")]), false);
  assert.equal(chosen(selection).length, 1000);
  assert.equal(selection.has("e"), false);
});

test("where all that is ticked is gone it is lost, and limits as before", async () => {
  const { selection } = await opened(true);
  selection.client.documents = async () => ({ documents: [] });
  await selection.check();
  assert.deepEqual([selection.pages.value[0].gone, selection.limited, selection.lost, selection.fields().page_ids], [true, true, true, []]);
});

test("a collection is asked with what is ticked, saved with it, and lost once it is gone", async () => {
  const { selection } = await opened();
  const saved = [];
  selection.client.changeSession = async (_, fields) => saved.push(fields);
  selection.client.json = async () => ({ collections: [{ collection_id: "c", name: "Rules" }] });
  await selection.tickCollection({ collection_id: "c", name: "Old name" }, true);
  assert.deepEqual(saved, [{ page_ids: ["a"], collection_ids: ["c"] }]);
  const { page_ids, collection_ids, only_selected_pages } = selection.fields();
  assert.deepEqual([page_ids, collection_ids, only_selected_pages], [["a"], ["c"], true]);
  await selection.remove("a");
  assert.equal(selection.limited, true);
  await selection.check();
  assert.equal(selection.collections.value[0].name, "Rules");
  selection.client.json = async () => ({ collections: [] });
  await selection.check();
  assert.deepEqual([selection.limited, selection.lost, selection.fields().collection_ids], [true, true, []]);
});

test("a session that was begun with a collection takes it over as it is", async () => {
  const selection = new Selection({});
  await selection.tickCollection({ collection_id: "c", name: "Rules" }, true);
  await selection.restore({ session_id: "new", page_ids: [], collection_ids: ["c"] });
  assert.equal(selection.collections.value[0].name, "Rules");
});
