/** What came nearest to a question that was refused: passages, in the same form as those of an answer. */

import { h } from "../dom.js";
import { hasBearing } from "../text/worth.js";
import { number } from "../words/format.js";
import { words } from "../words/index.js";
import { pointTo } from "./answer_sources.js";
import { passageText, quotedFrom } from "./passage.js";

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
  const { document_id: documentId, title, index, excerpt, start } = source;
  const own = among.filter((each) => each.document_id === documentId);
  const read = () => app.read({ documentId, title, citations: own.map(pointTo), at: own.indexOf(source) });
  const shown = number(index);
  const way = h(
    "button",
    { type: "button", class: "marker quoted", "aria-label": words.proof.marker({ number: shown, title, verdict: words.proof.read }), onclick: read },
    h("span", null, shown),
  );
  const bare = excerpt.includes(" | ") ? "" : passageText({ start, quote: excerpt }); // rows on one line say nothing
  return [quotedFrom(way, source, { ...source, ...source.passage }), source.passage ? passageText(source.passage) : bare];
}
