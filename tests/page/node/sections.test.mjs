/** What a stored answer keeps of how its run went. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { asSeen, foldSection, isWithdrawn } from "../../../api/page/state/sections.js";

const section = (text, before = null) => ({ text, sourceIds: [], claims: null, grounded: true, done: true, before, moved: false, removed: [] });

test("what was withdrawn keeps its place, and what was revised what it said before", () => {
  const seen = [section("", "No."), section("Yes.", "Perhaps."), section("", "Never."), section("Always.")];
  assert.deepEqual(asSeen([section("Yes."), section("Always.")], seen), seen);
  assert.deepEqual(seen.map(isWithdrawn), [true, false, true, false]);
});

test("what was cut off is left out, and what the run did not tell is taken as it is", () => {
  const cut = { ...section("Hal"), done: false };
  assert.deepEqual(asSeen([section("One.")], [section("One."), cut]), [section("One.")]);
  assert.deepEqual(asSeen([section("One."), section("Two.")], []), [section("One."), section("Two.")]);
});

test("what another section tells is no fault of the section that had quoted it", () => {
  const gone = { type: "section_revised", section_index: 0, text: "", source_ids: [], claims: [], moved: true };
  const [moved] = foldSection([section("It opens at 8.")], gone);
  assert.deepEqual([moved.moved, moved.before, isWithdrawn(moved)], [true, "It opens at 8.", true]);
  assert.deepEqual(asSeen([section("They disagree.")], [moved]), [moved, section("They disagree.")]);
});

test("what the model wrote of its own knowledge is told apart", () => {
  const started = (index, grounded) => ({ type: "section_started", section_index: index, fallback: null, grounded });
  const sections = [started(0, true), started(1, false)].reduce(foldSection, []);
  assert.deepEqual(sections.map((each) => each.grounded), [true, false]);
});
