/** Questions that are asked while their session is being opened: none is lost, whatever becomes of the opening. */

import assert from "node:assert/strict";
import { test } from "node:test";

import "./elements.mjs";
import { golden } from "./golden.mjs";
import { Server, json } from "./server.mjs";

globalThis.sessionStorage = { getItem: () => null, setItem: () => undefined };
const { Client } = await import("../../../api/page/api/client.js");
const { Conversation } = await import("../../../api/page/state/conversation.js");

const ID = "7a9e0f3c-5a55-4b0e-9b0c-0d3f1f6d2a01";
const SESSION = `api/sessions/${ID}`;
const QUESTION = "How many days of annual leave does an employee get?";
const read = json({ session: { session_id: ID, title: "", page_ids: [] }, messages: [], next_cursor: null });
const noRuns = json({ runs: [] });
const away = json({ code: "database_unavailable", detail: "no", retryable: true }, 503);

/** Make something to wait for, and what lets it happen. */
function gate() {
  let open;
  const opened = new Promise((resolve) => (open = resolve));
  return { opened, open };
}

/** Make a conversation with a server that answers each question as the golden run was; `asked` is when it is asked one. */
function conversing(replies) {
  const asked = gate();
  const answer = () => {
    asked.open();
    return new Response(golden("answered"));
  };
  const server = new Server({ [`GET ${SESSION}/runs`]: noRuns, [`GET ${SESSION}`]: read, [`POST ${SESSION}/runs`]: answer, ...replies });
  const refused = gate();
  const tell = { asked() {}, ended: async () => true, titled() {}, gone() {}, refused: refused.open };
  const client = new Client(new URL("http://host/"), () => "");
  return { server, asked: asked.opened, refused: refused.opened, conversation: new Conversation(client, tell) };
}

test("whoever leaves while a session is being opened has asked in it nevertheless", async () => {
  const reading = gate();
  const { conversation, asked } = conversing({ [`GET ${SESSION}/runs`]: () => reading.opened.then(() => noRuns()) });
  const opening = conversation.open(ID);
  const asking = conversation.ask({ question: QUESTION });
  conversation.leave();
  reading.open();
  await asked;
  await Promise.all([opening, asking]);
  assert.deepEqual([conversation.turns.value, conversation.failure.value], [[], null]);
});

test("whoever leaves while a session can't be opened is told that nothing was asked", async () => {
  const reading = gate();
  const { conversation, server, refused } = conversing({ [`GET ${SESSION}/runs`]: () => reading.opened.then(() => away()) });
  const opening = assert.rejects(conversation.open(ID));
  void conversation.ask({ question: QUESTION });
  conversation.leave();
  reading.open();
  assert.equal((await refused).code, "database_unavailable");
  await opening;
  assert.ok(!server.asked.includes(`POST ${SESSION}/runs`));
});

test("a question that waits for a session is asked in it, and shown, where the session is opened anew meanwhile", async () => {
  const reading = gate();
  const { conversation, server } = conversing({ [`GET ${SESSION}/runs`]: [away, () => reading.opened.then(() => noRuns()), noRuns] });
  await assert.rejects(conversation.open(ID));
  const asking = conversation.ask({ question: QUESTION });
  await conversation.open(ID);
  reading.open();
  await asking;
  assert.deepEqual(conversation.turns.value.map((turn) => turn.question), [QUESTION]);
  assert.equal(server.asked.filter((each) => each === `POST ${SESSION}/runs`).length, 1);
});
