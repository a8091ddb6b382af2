/** The server's reasons in the reader's language, by their codes. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { sayFallback, sayReason, sayReasons } from "../../../api/page/text/reasons.js";

const why = (code, ...parts) => [{ code, parts, text: "in English" }];

const CASES = [
  ["It is part of a longer sentence of the source.", "part_of_sentence"],
  ["The closest sentence of the source has 87% of its words.", "closest_sentence", 0.87],
  ["The closest sentence of the source has 100% of its words.", "closest_sentence", 1],
  ["“30” is nowhere in the sources.", "nowhere", "30"],
  ["The source says “25 days”, the answer says “30 days”.", "differs", "25 days", "30 days"],
  ["It is nearly a sentence of its source, but for this: “will” → “may”.", "nearly_quoted", "will", "may"],
  ["It is nearly a sentence of its source, but for this: +“so far”, −“not”.", "nearly_quoted", "", "so far", "not", ""],
  ["To prove what paragraph 2, 5 says.", "repair", 2, 5],
  ["notes: 1,200 of its results were cut at 100,000 characters.", "results_cut", "notes", 1200, 100000],
];
for (const [said, code, ...parts] of CASES) {
  test(`${code} ${parts.join(" ")}`, () => assert.equal(sayReason(why(code, ...parts)), said));
}

test("a code that is not known, and a reason without one, stay as the server says them", () => {
  assert.deepEqual(sayReasons(why("as_yet_unheard_of", 3)), [{ text: "in English", known: false }]);
  assert.deepEqual(sayReasons(why("constructor")), [{ text: "in English", known: false }]);
  assert.deepEqual(sayReasons(undefined, ["stored long ago", ""]), [{ text: "stored long ago", known: false }]);
  assert.deepEqual(sayReasons(why("uncited"), ["one", "another"]).map(({ text }) => text), ["one", "another"]);
  assert.equal(sayReason([], ""), "");
});

test("a fallback says what failed and what was done instead", () => {
  const fallback = { code: "model_unavailable", message: "Model m: no reply. Kept.", why: why("kept_by_score") };
  assert.equal(
    sayFallback(fallback),
    "The model did not answer. What was found was kept by how near it is to the question. Try again in a moment, or choose another model.",
  );
  assert.equal(sayFallback({ code: "of_a_plugin", message: "It stood still.", suggestion: "Push." }), "It stood still. Push.");
});
