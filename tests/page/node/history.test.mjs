/** A session that is read in parts and read again: earlier messages stay, and what did not change is the same object. */

import assert from "node:assert/strict";
import test from "node:test";

import { joined, readAnew, turnsOf } from "../../../api/page/state/turns.js";

const BLANK = { versions: [], page_ids: [], selected_text: null, sections: [], citations: [], sources: [], nearest: [], claims: [], assessment: null, disagreements: [], spent: {}, created_at: "" };

function messages(...numbers) {
  return numbers.flatMap((number) => [
    { ...BLANK, message_id: `q${number}`, run_id: `r${number}`, parent_message_id: null, role: "user", content: `Question ${number}`, outcome: null },
    { ...BLANK, message_id: `a${number}`, run_id: `r${number}`, parent_message_id: `q${number}`, role: "assistant", content: "", outcome: "answered", stop_reason: "answer_complete" },
  ]);
}

const keys = (turns) => turns.map((turn) => turn.key);

test("a new reading keeps earlier turns, and each turn that is as it was", () => {
  const before = turnsOf(messages(1, 2, 3));
  const { turns, known } = readAnew(turnsOf(messages(2, 3, 4)), before);
  assert.deepEqual(keys(turns), ["r1", "r2", "r3", "r4"]);
  assert.equal(known, true);
  assert.deepEqual([0, 1, 2].map((at) => turns[at] === before[at]), [true, true, true]);
});

test("a reading of another branch keeps what both share", () => {
  const { turns, known } = readAnew(turnsOf(messages(1, 5)), turnsOf(messages(1, 2, 3)));
  assert.deepEqual(keys(turns), ["r1", "r5"]);
  assert.equal(known, false);
  assert.deepEqual(keys(readAnew(turnsOf(messages(7)), turnsOf(messages(1, 2))).turns), ["r7"]);
});

test("a turn with another version beside it, or a quote that changed, is taken anew", () => {
  const before = turnsOf(messages(1, 2));
  const versions = messages(1, 2);
  versions[3].versions = ["a2", "a9"];
  const read = readAnew(turnsOf(versions), before).turns;
  assert.deepEqual([read[0] === before[0], read[1] === before[1]], [true, false]);
  const claim = (freshness) => ({ start: 0, end: 1, text: "A", verdict: "supported", reasons: [], section_index: 0, citations: [{ freshness }] });
  const [fresh, gone] = ["fresh", "deleted"].map((freshness) => {
    const own = messages(1);
    Object.assign(own[1], { sections: [{ text: "A", source_ids: [] }], claims: [claim(freshness)] });
    return turnsOf(own);
  });
  assert.notEqual(readAnew(gone, fresh).turns[0], fresh[0]);
});

test("a page that begins behind a question is joined to the page that ends with it", () => {
  const all = messages(1, 2, 3);
  const later = turnsOf(all.slice(3));
  assert.deepEqual([later[0].question, later[0].questionId], ["", "q2"]);
  const turns = joined(turnsOf(all.slice(0, 3)), later);
  assert.deepEqual(turns.map((turn) => [turn.question, turn.answerId]), [["Question 1", "a1"], ["Question 2", "a2"], ["Question 3", "a3"]]);
  assert.deepEqual(keys(joined(turnsOf(all.slice(0, 2)), turnsOf(all.slice(2)))), ["r1", "r2", "r3"]);
  assert.equal(readAnew(turnsOf(all.slice(3)), turns).turns[1], turns[1]);
});
