/** Claims that repeat one passage share its quote and its marker. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { foldSection } from "../../../api/page/state/sections.js";
import { footnoted } from "../../../api/page/text/footnotes.js";
import { continues, withNext } from "../../../api/page/text/runs.js";

const claim = (start, end, more = {}) => ({
  start,
  end,
  text: "x",
  verdict: "supported",
  by: "text",
  reasons: [],
  citations: [{ segment_id: "d:0", start: 10, end: 10 + end }],
  ...more,
});

test("a claim goes on where the next one has the longer quote from the same beginning", () => {
  assert.equal(continues(claim(0, 5), claim(6, 9)), true);
  assert.equal(continues(claim(0, 5), claim(6, 9, { citations: [{ segment_id: "d:0", start: 11, end: 30 }] })), false);
  assert.equal(continues(claim(0, 5), claim(6, 9, { citations: [{ segment_id: "d:1", start: 10, end: 30 }] })), false);
  assert.equal(continues(claim(0, 5), claim(6, 9, { verdict: "unverified", by: undefined })), false);
  assert.equal(continues(claim(0, 5, { by: "judge" }), claim(6, 9)), false);
  assert.equal(continues(claim(0, 5, { citations: [] }), claim(6, 9)), false);
  assert.equal(continues(claim(0, 5), undefined), false);
});

test("what is told claim by claim has the quote as far as it goes", () => {
  const apart = claim(3, 5, { citations: [{ segment_id: "d:0", start: 90, end: 99 }] });
  const claims = [apart, claim(0, 5), claim(6, 9), claim(10, 14)].reduce(withNext, []);
  assert.deepEqual(claims.map((each) => [each.citations[0].start, each.citations[0].end]), [[90, 99], [10, 24], [10, 24], [10, 24]]);
  const told = [claim(0, 5), claim(6, 9)].map((each) => ({ type: "claim_checked", section_index: 0, claim: each }));
  assert.deepEqual(told.reduce(foldSection, [])[0].claims.map((each) => each.citations[0].end), [19, 19]);
});

test("a copied answer has one footnote for a run, and its mark below quoted code", () => {
  const quote = (start, end) => [{ document_id: "d", segment_id: "d:0", segment_index: 0, page_idx: null, start, end, quote: "Q" }];
  const text = "One. Two.\n\n```\nmake\n```\nDone.";
  const claims = [
    claim(0, 4, { citations: quote(0, 20) }),
    claim(5, 9, { citations: quote(0, 20) }),
    claim(11, 23, { citations: quote(30, 34) }),
  ];
  const written = footnoted({ sections: [{ text, claims }], sources: [] }, "https://a.example/");
  assert.ok(written.startsWith("One. Two.[^1]\n\n```\nmake\n```\n[^2]\n\nDone.\n\n[^1]: "), written);
});
