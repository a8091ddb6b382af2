/** Where quotes stand in a document that is cut into segments, counted in code points. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { passagesOf } from "../../../api/page/text/passages.js";

/** Cut a text into segments of so many code points. */
function cut(text, size) {
  const points = [...text];
  return Array.from({ length: Math.ceil(points.length / size) }, (_, index) => {
    const own = points.slice(index * size, (index + 1) * size);
    return { segment_index: index, page_idx: null, start: index * size, end: index * size + own.length, text: own.join("") };
  });
}

function citation(text, quote, more = {}) {
  const start = [...text.slice(0, text.indexOf(quote))].length;
  return { start, end: start + [...quote].length, quote, section_index: 0, ...more };
}

const marked = (segments, { parts }) => parts.map(({ segment, from, to }) => segments[segment].text.slice(from, to)).join("");
const TEXT = "😀 Rest 🏖️. 员工每年有二十五天年假。 Unused 👩‍👩‍👧 leave lapses in March. 😀 Unused";

test("a quote is found in segments of every size", () => {
  for (const quote of ["😀", "🏖️. 员工", "👩‍👩‍👧 leave lapses", "March. 😀 Unused", TEXT]) {
    for (let size = 1; size <= [...TEXT].length; size += 1) {
      const segments = cut(TEXT, size);
      const [passage] = passagesOf(segments, [citation(TEXT, quote)]);
      assert.equal(passage.standing, "here");
      assert.equal(marked(segments, passage), quote);
    }
  }
});

test("where the text at the offsets is another, the nearest of the same words is meant", () => {
  const text = `March. ${"x".repeat(50)} March. ${"y".repeat(50)} March.`;
  const segments = cut(text, 9);
  const [passage] = passagesOf(segments, [{ ...citation(text, "March."), start: 61, end: 67 }]);
  assert.equal(passage.standing, "moved");
  assert.equal(marked(segments, passage), "March.");
  assert.equal(segments[passage.parts[0].segment].start + passage.parts[0].from, 58);
});

test("what is told of today goes before what was cited", () => {
  const now = citation(TEXT, "leave");
  const [passage] = passagesOf(cut(TEXT, 8), [{ ...now, start: 0, end: 5, now: { start: now.start, end: now.end } }]);
  assert.equal(passage.standing, "moved");
  assert.equal(marked(cut(TEXT, 8), passage), "leave");
});

test("words that stand nowhere are in no part, and come last", () => {
  const cited = ["lapses in May", "Unused", "Rest", "Unused"].map((quote) => citation(TEXT, quote));
  cited[0].start = 0;
  const passages = passagesOf(cut(TEXT, 8), cited);
  assert.deepEqual(passages.map(({ quote, standing, citations }) => [quote, standing, citations]), [
    ["Rest", "here", [2]],
    ["Unused", "here", [1, 3]],
    ["lapses in May", "changed", [0]],
  ]);
  assert.deepEqual(passages.at(-1).parts, []);
});

test("a document that is gone leaves the quotes", () => {
  const passages = passagesOf(null, [citation(TEXT, "Rest"), citation(TEXT, "leave")]);
  assert.deepEqual(passages.map(({ quote, standing }) => [quote, standing]), [["Rest", "gone"], ["leave", "gone"]]);
});

test("a source is a whole segment, known by its excerpt", () => {
  const text = `Leave\n\n${"Every  employee rests. ".repeat(40)}`;
  const segments = cut(text, 2000);
  const excerpt = `${text.replace(/\s+/g, " ").slice(0, 400).trimEnd()}...`;
  const source = { start: 0, end: text.length, quote: excerpt, section_index: -1 };
  assert.equal(marked(segments, passagesOf(segments, [source])[0]), text);
  assert.equal(passagesOf(segments, [{ ...source, section_index: 0 }])[0].standing, "changed");
  assert.equal(passagesOf(cut(text.replace("Leave", "Rest "), 2000), [source])[0].standing, "changed");
});
