import assert from "node:assert/strict";
import { test } from "node:test";

import { codePointIndex, codePoints } from "../../../api/page/text/offsets.js";

const TEXTS = ["", "plain", "Đà Lạt", "漢字かな", "🎈", "a🎈b👩‍🔬c", "🎈🎈🎈", "e\u0301\u{1d11e}x", "\u{10ffff}end"];

for (const text of TEXTS) {
  test(`every offset into ${JSON.stringify(text)} finds its place, in any order`, () => {
    const points = Array.from(text);
    const places = points.map((_, offset) => points.slice(0, offset).join("").length).concat(text.length);
    const rising = codePointIndex(text);
    places.forEach((place, offset) => assert.equal(rising(offset), place));
    const falling = codePointIndex(text);
    places.toReversed().forEach((place, back) => assert.equal(falling(places.length - 1 - back), place));
    assert.equal(codePoints(text), points.length);
  });

  test(`an offset beyond ${JSON.stringify(text)} is its end, and one before it its beginning`, () => {
    const at = codePointIndex(text);
    assert.deepEqual([at(1000), at(0), at(-1)], [text.length, 0, 0]);
  });
}

test("a quote is cut out as the API cuts it", () => {
  const text = "👋 Nghỉ phép 25 ngày. 🎈 Hết.";
  const at = codePointIndex(text);
  const start = Array.from(text).join("|").split("|").indexOf("N");
  assert.equal(text.slice(at(start), at(start + 18)), "Nghỉ phép 25 ngày.");
});
