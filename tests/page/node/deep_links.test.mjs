import assert from "node:assert/strict";
import { test } from "node:test";

import { addressOfQuote, checksum, citationOf, linkedBy, tokenIn } from "../../../api/page/text/deep_links.js";
import { cellsOf } from "../../../api/page/views/layout_blocks.js";

const DOCUMENT = "7a9e0f3c-5a55-4b0e-9b0c-0d3f1f6d2a01";
const TEXT = ["🦊 Foxes sleep. ", "Owls 假期 wake."];
const RAW = {
  document_id: DOCUMENT,
  title: "Animals",
  segments: TEXT.map((text, at) => {
    const start = at ? Array.from(TEXT[0]).length : 0;
    return { segment_index: at, page_idx: null, start, end: start + Array.from(text).length, text };
  }),
};

test("the address of a quote leads to it, in code points", () => {
  const quote = "sleep. Owls 假期";
  const start = Array.from(TEXT.join("")).join("").indexOf("sleep") - 1; // the fox is two units and one code point
  const address = addressOfQuote({ document_id: DOCUMENT, start, quote });
  assert.equal(address, `#/documents/${DOCUMENT}?quote=${start}-${start + 14}&check=${checksum(quote).toString(16)}`);
  const found = citationOf(linkedBy(address), RAW);
  assert.deepEqual([found.quote, found.start, found.segment_index, found.section_index], [quote, start, 0, 0]);
});

test("a quote that is another by now is told, and so is a checksum that is none", () => {
  const named = (query) => citationOf(linkedBy(`#/documents/${DOCUMENT}${query}`), RAW);
  assert.equal(named("?quote=2-7&check=1"), "changed");
  assert.equal(named("?quote=2-7&check=what"), "changed");
  assert.equal(named("?quote=2-7&check="), "changed");
  assert.equal(named("?quote=900-907"), "changed");
  assert.equal(named("?quote=2-7").quote, "Foxes");
  assert.equal(named("?quote=7-2"), null);
  assert.equal(named(""), null);
  assert.deepEqual([named("?segment=1").quote, named("?segment=1").section_index], [TEXT[1], -1]);
  assert.equal(named("?segment=9"), null);
});

test("what is no address of a document names none", () => {
  for (const hash of ["", "#/documents/x", `#/sessions/${DOCUMENT}`, `#/documents/${DOCUMENT}/x`, `#documents/${DOCUMENT}`]) {
    assert.equal(linkedBy(hash), null, hash);
  }
  assert.equal(tokenIn(`#/links/${"a".repeat(90)}.b-_`), `${"a".repeat(90)}.b-_`);
  for (const hash of ["#/links/", "#/links/a", `#/links/${"a".repeat(90)}/../x`]) assert.equal(tokenIn(hash), null, hash);
});

test("checksums are those of the server", () => {
  assert.equal(checksum("123456789"), 0xcbf43926);
  assert.equal(checksum("Nghỉ phép 🦊"), 0x4d19767a);
});

test("cells of a row are found by what joins them, empty ones too", () => {
  const cells = (row) => cellsOf(`before ${row}\nbehind`, 7, 7 + row.length).map(([from, to]) => `before ${row}\nbehind`.slice(from, to));
  assert.deepEqual(cells("a | b | c"), ["a", "b", "c"]);
  assert.deepEqual(cells("a"), ["a"]);
  assert.deepEqual(cells("a |  | c"), ["a", "", "c"]);
  assert.deepEqual(cells("| b | c"), ["", "b", "c"]);
  assert.deepEqual(cells("|  | c"), ["", "", "c"]);
  assert.deepEqual(cells("a | b |"), ["a", "b", ""]);
  assert.deepEqual(cells("a |"), ["a", ""]);
  assert.deepEqual(cells("a|b || c"), ["a|b || c"]);
});
