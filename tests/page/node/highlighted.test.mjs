/** Where a quote's highlight is found in the Markdown that shows the quote: there, or nowhere. */

import assert from "node:assert/strict";
import { test } from "node:test";

const { highlightIn } = await import("../../../api/page/text/highlighted.js");

/** Find `best`, the last of it, in a text that shows a quote; gives the words that would be marked. */
function found(text, quote, best) {
  const start = [...quote.slice(0, quote.lastIndexOf(best))].length;
  const place = highlightIn(text, quote, { start, end: start + [...best].length });
  return place && [...text].slice(place.start, place.end).join("");
}

test("a sentence with its signs, by code points", () => {
  assert.equal(found("😀 One. “Two”! Three.", "😀 One. “Two”! Three.", "“Two”!"), "“Two”!");
  assert.equal(found("一 𠮷二。三。", "一 𠮷二。三。", "𠮷二。"), "𠮷二。");
  assert.equal(found("Tiê\u0301ng Viê\u0323t. Hai.", "Tiê\u0301ng Viê\u0323t. Hai.", "Viê\u0323t."), "Viê\u0323t.");
});

test("a row of a table, whose signs are others, below a header that the quote has not", () => {
  const text = "| Plan | Price |\n| --- | ---: |\n| A | 25 |\n| B | 25 |";
  assert.equal(found(text, "A | 25\nB | 25", "B | 25"), "B | 25");
  assert.equal(found("| a \\| b | 1 |\n|---|---|\n| c | 2 |", "a | b | 1\nc | 2", "a | b | 1"), "a \\| b | 1");
});

test("of what is said twice the one that is meant", () => {
  assert.equal(highlightIn("- Ask.\n- Ask.", "Ask.\nAsk.", { start: 5, end: 9 }).start, 9);
});

test("code in a fence that names its language", () => {
  assert.equal(found("Set it:\n\n```bash\nexport A=1\n```", "Set it:\nexport A=1", "export A=1"), "export A=1");
});

test("an escaped sign", () => assert.equal(found("One. 2 \\* 3 \\*.", "One. 2 * 3 *.", "2 * 3 *."), "2 \\* 3 \\*."));

test("where the text has more in between, what it says once", () => {
  const text = "A: one.\n\n(A note.)\n\nB: two.";
  assert.equal(found(text, "A: one.\nB: two.", "B: two."), "B: two.");
  assert.equal(found(`${text} B: two.`, "A: one.\nB: two.", "B: two."), null, "or nothing, rather than the wrong one");
});

test("nothing where it is all of the quote, no word of it, or not there", () => {
  assert.equal(found("One.", "One.", "One."), null);
  assert.equal(found("One. — Two.", "One. — Two.", "—"), null);
  assert.equal(found("Another text.", "One. Two.", "Two."), null);
});
