/** What a revision is told to have changed. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { difference } from "../../../api/page/text/difference.js";

const SIGNS = { same: ["", ""], old: ["[-", "]"], new: ["[+", "]"] };
const told = (before, after) => difference(before, after).map(({ kind, text }) => SIGNS[kind].join(text)).join("");

const CASES = [
  ["Staff get 30 days.", "Staff get 25 days.", "Staff get [-30][+25] days."],
  ["The same.", "The same.", "The same."],
  ["", "New.", "[+New.]"],
  ["Old.", "", "[-Old.]"],
  ["a big old house", "a small new house", "a [-big old][+small new] house"],
  ["One. Two.", "Two.", "[-One. ]Two."],
  ["Mỗi nhân viên có 30 ngày.", "Mỗi người có 25 ngày.", "Mỗi [-nhân viên][+người] có [-30][+25] ngày."],
  ["员工有三十天年假。", "员工有二十五天年假。", "员工有[-三][+二]十[+五]天年假。"],
  ["Rest 🏖️ now", "Rest 🏔️ now", "Rest [-🏖][+🏔]️ now"],
  ["a\n\nb", "a\n\nc", "a\n\n[-b][+c]"],
];
for (const [before, after, expected] of CASES) test(`${before} → ${after}`, () => assert.equal(told(before, after), expected));

/** Numbers that look random and are the same each time. */
function* numbers(seed) {
  for (;;) yield (seed = (seed * 48271) % 2147483647);
}

test("either text can be read from what is told of both", () => {
  const next = numbers(7);
  const text = () => Array.from({ length: next.next().value % 30 }, () => ["a", "b ", " ", "c.", "中", "文", "\n", "😀"][next.next().value % 8]).join("");
  for (let time = 0; time < 300; time += 1) {
    const [before, after] = [text(), text()];
    const changes = difference(before, after);
    const without = (kind) => changes.filter((change) => change.kind !== kind).map((change) => change.text).join("");
    assert.deepEqual([without("new"), without("old")], [before, after]);
    assert.ok(changes.every((change, at) => change.text && change.kind !== changes[at + 1]?.kind));
  }
});

test("texts too long to compare are told as replaced, but for what they begin and end with", () => {
  const [one, other] = ["x ".repeat(5000), "y ".repeat(5000)];
  assert.deepEqual(difference(`Start ${one}end.`, `Start ${other}end.`), [
    { kind: "same", text: "Start " },
    { kind: "old", text: one.trimEnd() },
    { kind: "new", text: other.trimEnd() },
    { kind: "same", text: " end." },
  ]);
});
