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

test("what is gone limits nothing, and is not asked for", async () => {
  const { selection } = await opened(true);
  selection.client.documents = async () => ({ documents: [] });
  await selection.check();
  assert.deepEqual([selection.pages.value[0].gone, selection.limited, selection.fields().page_ids], [true, false, []]);
});
