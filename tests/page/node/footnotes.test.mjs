/** An answer as Markdown: where the marks stand, what a footnote says, and that nothing in it becomes markup. */

import assert from "node:assert/strict";
import test from "node:test";

import { footnoted } from "../../../api/page/text/footnotes.js";
import { words } from "../../../api/page/words/index.js";

const DOCUMENT = "7a9e0f3c-5a55-4b0e-9b0c-0d3f1f6d2a01";
const HOME = "http://127.0.0.1:8400/wells/";
const SOURCE = { index: 1, segment_id: `${DOCUMENT}:2`, document_id: DOCUMENT, title: "Staff handbook", heading: "Leave > Annual", url: null };

function citation(quote, more = {}) {
  return { segment_id: `${DOCUMENT}:2`, document_id: DOCUMENT, segment_index: 2, page_idx: null, start: 7, end: 7 + quote.length, quote, source_index: 1, ...more };
}

function claim(text, part, citations, verdict = "supported") {
  const start = Array.from(text.slice(0, text.indexOf(part))).length;
  return { start, end: start + Array.from(part).length, text: part, verdict, reasons: [], citations };
}

function written(text, claims, sources = [SOURCE]) {
  return footnoted({ sections: [{ text, claims }], sources }, HOME);
}

test("each claim has its marks behind it, and each quote one footnote", () => {
  const first = "Staff get 25 days. Unused leave lapses.";
  const [days, lapse] = [citation("25 days"), citation("lapses in March", { page_idx: 2 })];
  const markdown = footnoted(
    {
      sections: [
        { text: first, claims: [claim(first, "Unused leave lapses.", [lapse, days]), claim(first, "Staff get 25 days.", [days])] },
        { text: "", claims: [] },
        { text: "Again 25 days.", claims: [claim("Again 25 days.", "Again 25 days.", [days, days])] },
      ],
      sources: [SOURCE],
    },
    HOME,
  );
  const address = (place) => `<http://127.0.0.1:8400/wells/#/documents/${DOCUMENT}?quote=${place}>`;
  assert.equal(
    markdown,
    "Staff get 25 days.[^1] Unused leave lapses.[^2][^1]\n\nAgain 25 days.[^1]\n\n" +
      `[^1]: "25 days" — Staff handbook › Leave › Annual, ${address("7-14&check=fd46f165")}\n` +
      `[^2]: "lapses in March" — Staff handbook › Leave › Annual, p. 3, ${address("7-22&check=fc52c0cd")}\n`,
  );
});

test("an answer without claims is its text", () => {
  assert.equal(written("Stopped here.", null), "Stopped here.\n");
});

test("offsets count code points", () => {
  const text = "🦊🦊 lapse. 假期 in 𝒜 March.";
  assert.equal(written(text, [claim(text, "🦊🦊 lapse.", [citation("x")]), claim(text, "假期 in 𝒜 March.", [citation("x")])]).split("\n")[0], "🦊🦊 lapse.[^1] 假期 in 𝒜 March.[^1]");
});

test("a claim that is not proven says so, and has marks only where one stands behind it", () => {
  const text = "One. Two. Three. Four. Five.";
  const [one, two, ...rest] = text.split(" ").map((part) => claim(text, part, [citation("x")], "unverified"));
  const [three, four, five] = rest;
  const judge = { model: "m", exam: null, says: "supported" };
  const claims = [{ ...one, mark: "shown", judge }, { ...two, mark: "withheld" }, { ...three, mark: "pending" }, four, { ...five, verdict: "contradicted" }];
  assert.equal(
    written(text, claims).split("\n")[0],
    "One.[^1] (checked by a model) Two. (unverified) Three. (unverified) Four.[^1] (unverified) Five. (contradicted)",
  );
});

test("a quote that moved is found where it stands now", () => {
  const moved = citation("x", { freshness: "moved", now: { segment_id: `${DOCUMENT}:5`, segment_index: 5, page_idx: 6, start: 90, end: 91 } });
  assert.match(written("A.", [claim("A.", "A.", [moved])]), /, p\. 7, <.*\?quote=90-91&check=[0-9a-f]+>\n$/);
});

test("a quote of a slide or a sheet says so, and its cell where that is still known", () => {
  const place = (more) => /Annual, (.*), </.exec(written("A.", [claim("A.", "A.", [citation("x", more)])]))?.[1];
  assert.equal(place({ page_idx: 2, slide: 2 }), "slide 3");
  assert.equal(place({ page_idx: 0, sheet: "Prices", cell: "A3" }), "sheet Prices, A3");
  const now = { segment_id: `${DOCUMENT}:5`, segment_index: 5, page_idx: 6, start: 90, end: 91 };
  assert.equal(place({ page_idx: 2, slide: 2, now }), "slide 7");
  assert.equal(place({ page_idx: 0, sheet: "Prices", cell: "A3", now }), "sheet Prices");
});

test("a source's own address is given where it is one of the web", () => {
  const address = (url) => /<(.*)>\n$/.exec(written("A.", [claim("A.", "A.", [citation("x")])], [{ ...SOURCE, url }]))?.[1];
  const here = `http://127.0.0.1:8400/wells/#/documents/${DOCUMENT}?quote=7-8&check=8cdc1683`;
  assert.equal(address("https://wiki.example/a b"), "https://wiki.example/a%20b");
  assert.equal(address("https://wiki.example/<b>?q=<i>"), "https://wiki.example/%3Cb%3E?q=%3Ci%3E");
  assert.equal(address("/wiki/handbook"), here);
  assert.equal(address("javascript:alert(1)"), here);
  assert.equal(address("https://"), here);
});

test("titles and quotes are text, whatever stands in them", () => {
  const nasty = "a\n\n# b `c` [d](http://e.example) ![f](g) <img src=x> *h* _i_ \\ | &lt; [^1]: j $k$";
  const [, note] = written("A.", [claim("A.", "A.", [citation(nasty)])], [{ ...SOURCE, title: "T\n[x]", heading: "<b>" }]).split("\n\n");
  assert.equal(
    note,
    '[^1]: "a # b \\`c\\` \\[d\\](http://e.example) !\\[f\\](g) \\<img src=x\\> \\*h\\* \\_i\\_ \\\\ \\| \\&lt; \\[^1\\]: j \\$k\\$" — ' +
      `T \\[x\\] › \\<b\\>, <http://127.0.0.1:8400/wells/#/documents/${DOCUMENT}?quote=7-88&check=87ff7ffa>\n`,
  );
});

test("what an answer says is neither a footnote of its own nor an element, but for code", () => {
  const text = "See [^1] and <b>this</b>: 1 < 2, `a <b> [^1]`.";
  assert.equal(written(text, null), "See \\[^1] and \\<b>this\\</b>: 1 < 2, `a <b> [^1]`.\n");
  assert.equal(written("\\<b> \\\\<b>", null), "\\<b> \\\\\\<b>\n", "what is escaped stays so");
});

test("a citation whose source is not listed still names its document", () => {
  assert.match(written("A.", [claim("A.", "A.", [citation("x")])], []), /\n\[\^1\]: "x" — <http:.*\?quote=7-8&check=8cdc1683>\n$/);
});

test("text from the model's own knowledge is told apart, once for sections in a row", () => {
  const sections = [
    { text: "Not found.", claims: null, grounded: false },
    { text: "Paris.", claims: null, grounded: false },
    { text: "Staff get 25 days.", claims: null, grounded: true },
  ];
  const markdown = footnoted({ sections, sources: [] }, HOME);
  assert.equal(markdown, `*${words.answer.ungrounded}*\n\nNot found.\n\nParis.\n\nStaff get 25 days.\n`);
});

test("an address of the web leads to the place that the quote has there", () => {
  const address = (url, anchor) =>
    /<(.*)>\n$/.exec(written("A.", [claim("A.", "A.", [citation("x", { anchor })])], [{ ...SOURCE, url }]))?.[1];
  assert.equal(address("https://wiki.example/leave", "unused leave"), "https://wiki.example/leave#unused%20leave");
  assert.equal(address("https://wiki.example/leave#top", "unused"), "https://wiki.example/leave#top");
  assert.equal(address("https://wiki.example/leave", undefined), "https://wiki.example/leave");
  assert.equal(address("javascript:alert(1)", "unused"), `http://127.0.0.1:8400/wells/#/documents/${DOCUMENT}?quote=7-8&check=8cdc1683`);
});
