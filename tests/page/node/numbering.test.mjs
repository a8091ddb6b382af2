/** The numbers that an answer's sources are shown by. */

import assert from "node:assert/strict";
import { test } from "node:test";

const { numbersOf } = await import("../../../api/page/text/numbering.js");

const claim = (start, ...sources) => ({ start, end: start + 1, citations: sources.map((source_index) => ({ source_index })) });
const sources = [1, 2, 3, 4].map((index) => ({ index }));

test("cited sources are numbered as the text meets them, the others follow", () => {
  const sections = [{ claims: [claim(9, 4), claim(0, 3, 1)] }, { claims: null }, { claims: [claim(0, 3)] }];
  assert.deepEqual([...numbersOf({ sections, sources })], [[3, 1], [1, 2], [4, 3], [2, 4]]);
});

test("a source that only a doubted sentence cites is not numbered with the cited ones", () => {
  const sections = [{ claims: [{ ...claim(0, 3), mark: "withheld" }, { ...claim(2, 4), verdict: "contradicted" }, { ...claim(4, 2), mark: "pending" }] }];
  assert.deepEqual([...numbersOf({ sections, sources })].map(([index]) => index), [2, 1, 3, 4]);
});

test("where nothing is cited they keep their order", () =>
  assert.deepEqual([...numbersOf({ sections: [], sources })].map(([index]) => index), [1, 2, 3, 4]));
