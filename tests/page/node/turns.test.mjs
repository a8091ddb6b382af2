import assert from "node:assert/strict";
import { test } from "node:test";

import { fold, newRun } from "../../../api/page/state/run.js";
import { liveTurn, turnsOf } from "../../../api/page/state/turns.js";
import { eventsOf } from "./golden.mjs";

const message = (message_id, role, content, more = {}) => ({
  message_id, role, content, run_id: null, parent_message_id: null, created_at: "2026-11-22T12:00:00.000Z", versions: [],
  page_ids: [], selected_text: null, outcome: role === "assistant" ? "answered" : null, stop_reason: null, family: null,
  sections: role === "assistant" ? [{ text: content, source_ids: [] }] : [], citations: [], sources: [], nearest: [],
  claims: [], assessment: null, disagreements: [], spent: {}, ...more,
});
const shown = (turns) => turns.map((turn) => [turn.question, turn.answer?.sections.map((each) => each.text).join("") ?? null]);

test("each question is paired with its answer", () => {
  const turns = turnsOf([
    message("q1", "user", "One?", { run_id: "r1", versions: ["q0", "q1"], page_ids: ["d"], selected_text: "s" }),
    message("a1", "assistant", "First.", { run_id: "r1", versions: ["a0", "a1"], spent: { generate_answer: { calls: 1 } } }),
    message("q2", "user", "Two?"),
    message("a2", "assistant", "Second.", { run_id: "r2" }),
  ]);
  assert.deepEqual(shown(turns), [["One?", "First."], ["Two?", "Second."]]);
  const [first, second] = turns;
  assert.deepEqual(
    [first.key, first.questionId, first.questionVersions, first.pageIds, first.selectedText, first.answerId, first.answerVersions],
    ["r1", "q1", ["q0", "q1"], ["d"], "s", "a1", ["a0", "a1"]],
  );
  assert.deepEqual([second.key, first.spent], ["r2", { generate_answer: { calls: 1 } }]);
});

test("a question whose run failed has no answer, and takes none from the next", () => {
  const turns = turnsOf([message("q1", "user", "One?"), message("q2", "user", "Two?"), message("a2", "assistant", "Second.")]);
  assert.deepEqual(shown(turns), [["One?", null], ["Two?", "Second."]]);
});

test("an answer whose question is on an earlier page stands alone", () => {
  const turns = turnsOf([
    message("a0", "assistant", "Before.", { parent_message_id: "q0" }),
    message("q1", "user", "One?"),
    message("a1", "assistant", "First."),
  ]);
  assert.deepEqual(shown(turns), [["", "Before."], ["One?", "First."]]);
  assert.equal(turns[0].questionId, "q0");
});

test("a question that was kept before there were collections is of none", () => {
  const [turn] = turnsOf([message("q1", "user", "One?")]);
  assert.deepEqual([turn.collectionIds, turn.collectedIds], [[], []]);
});

test("claims find their section", () => {
  const claim = (section_index, text) => ({ section_index, text, start: 0, end: 1, verdict: "supported", reasons: [], citations: [] });
  const [turn] = turnsOf([
    message("a1", "assistant", "", {
      sections: [{ text: "A.", source_ids: ["d:0"] }, { text: "", source_ids: [] }, { text: "C.", source_ids: [] }],
      claims: [claim(2, "C."), claim(0, "A.")],
    }),
  ]);
  assert.deepEqual(turn.answer.sections.map((section) => section.claims?.map((each) => each.text) ?? null), [["A."], null, ["C."]]);
});

test("a turn keeps its key from its run's first event to its place in the session", () => {
  const events = eventsOf("answered");
  const [first, ...rest] = events;
  const begun = liveTurn(fold(newRun("ID1"), first));
  const ended = liveTurn(rest.reduce(fold, fold(newRun("ID1"), first)), { pageIds: ["d"] });
  const end = events.at(-1);
  const [stored] = turnsOf([
    message("q", "user", first.question, { run_id: "ID1" }),
    message("a", "assistant", "", { ...end.message, run_id: "ID1", outcome: end.outcome, stop_reason: end.stop_reason }),
  ]);
  assert.deepEqual([begun.key, ended.key, stored.key], ["ID1", "ID1", "ID1"]);
  assert.deepEqual(ended.pageIds, ["d"]);
  assert.deepEqual(stored.answer, ended.answer);
});
