/** The server's reasons in the reader's language, by their codes. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { sayFallback, sayReason, sayReasons } from "../../../api/page/text/reasons.js";
import { words } from "../../../api/page/words/index.js";

const why = (code, ...parts) => [{ code, parts, text: "in English" }];

const { problems, reasons, suggestions } = words;
const CASES = [
  [reasons.elsewhere, "elsewhere"],
  [reasons.closest_sentence(["87%"]), "closest_sentence", 0.87],
  [reasons.closest_sentence(["100%"]), "closest_sentence", 1],
  [reasons.number_not_found(["30"]), "number_not_found", "30"],
  [reasons.differs(["“25 days” → “30 days”"]), "differs", "25 days", "30 days"],
  [reasons.differs(["+“so far”"]), "differs", "", "so far"],
  [reasons.differs(["−“not”"]), "differs", "not", ""],
  [reasons.repair(["2, 5"]), "repair", 2, 5],
  [reasons.results_cut(["notes", "1,200", "100,000"]), "results_cut", "notes", 1200, 100000],
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
  const said = [problems.model_unavailable, reasons.kept_by_score, suggestions.model_unavailable];
  assert.equal(sayFallback(fallback), said.join(" "));
  assert.equal(sayFallback({ code: "of_a_plugin", message: "It stood still.", suggestion: "Push." }), "It stood still. Push.");
});
