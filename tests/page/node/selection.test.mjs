import assert from "node:assert/strict";
import { test } from "node:test";

globalThis.localStorage = { getItem: () => null, setItem: () => undefined };
const { Problem } = await import("../../../api/page/api/client.js");
const { Selection } = await import("../../../api/page/state/selection.js");

const page = (id) => ({ document_id: id, title: id.toUpperCase() });
const chosen = (selection) => selection.pages.value.map((each) => each.document_id);

/** Open a session that is saved by a server which does with each change what it is told to. */
async function opened(...replies) {
  const saved = [];
  const client = {
    document: async (id) => page(id),
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

test("a selection that can't be saved does not undo the one that followed it", async () => {
  const { selection, saved } = await opened(false, true);
  const [first, second] = await Promise.allSettled([selection.add(page("b")), selection.add(page("c"))]);
  assert.deepEqual([first.status, second.status], ["rejected", "fulfilled"]);
  assert.deepEqual([chosen(selection), saved], [["a", "b", "c"], [["a", "b", "c"]]]);
});

test("where neither can be saved, what was saved comes back", async () => {
  const { selection } = await opened(false, false);
  await Promise.allSettled([selection.add(page("b")), selection.add(page("c"))]);
  assert.deepEqual(chosen(selection), ["a"]);
});
