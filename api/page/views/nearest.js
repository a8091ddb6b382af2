/** What came nearest to a question that was refused: passages, in the same form as those of an answer. */

import { h } from "../dom.js";
import { hasBearing } from "../text/worth.js";
import { number } from "../words/format.js";
import { words } from "../words/index.js";
import { readingOf } from "./answer_sources.js";
import { passageText, quotedFrom, readingMarker } from "./passage.js";

/** List what came nearest to an answer. @param {App} app @param {Answer} answer */
export function nearestList(app, { nearest }) {
  if (!nearest.length) return null;
  return h("section", { class: hasBearing({ nearest }) ? "nearest" : "nearest far" },
    h("h3", null, words.answer.nearest),
    h("ul", { class: "sources" }, nearest.map((source) => h("li", { class: "section" }, passageOf(app, source, nearest)))),
  );
}

/** @param {App} app @param {Source} source @param {Source[]} among */
function passageOf(app, source, among) {
  const { excerpt, start, passage } = source;
  const from = quotedFrom(readingMarker(app, number(source.index), readingOf(source, among)), source, { ...source, ...passage });
  const bare = excerpt.includes(" | ") ? "" : passageText({ start, quote: excerpt }); // rows on one line say nothing
  return [from, passage ? passageText(passage) : bare];
}
