/** The sources of an answer, or what came nearest to one; each opens the reader at its segment. */

import { h } from "../dom.js";
import { number, percent } from "../words/format.js";
import { words } from "../words/index.js";
import { icon } from "./icons.js";

/** @typedef {import("../state/app.js").App} App */
/** @typedef {import("../state/run.js").Answer} Answer */
/** @typedef {import("../api/types.js").Source} Source */

/** @type {Record<import("../api/types.js").SourceKind, import("./icons.js").IconName>} */
const SIGNS = { page: "page", search: "book", web: "web" };

/** List all sources, folded. @param {App} app @param {Answer} answer */
export function sourceList(app, answer) {
  const { sources } = answer;
  if (!sources.length) return null;
  const rows = () => sources.map((source) => h("li", null, sourceButton(app, source, sources)));
  const list = h("ol", { class: "sources" });
  const element = h("details", { class: "all-sources", ontoggle: () => list.childElementCount || list.append(...rows()) });
  element.append(h("summary", null, words.answer.sources(sources.length)), list);
  return element;
}

/** List what came nearest to an answer. @param {App} app @param {Answer} answer */
export function nearestList(app, { nearest }) {
  if (!nearest.length) return null;
  const rows = nearest.map((source) => h("li", null, sourceButton(app, source, nearest), h("blockquote", { class: "excerpt" }, source.excerpt)));
  return h("section", { class: "nearest" }, h("h3", null, words.answer.nearest), h("ul", { class: "sources" }, rows));
}

/**
 * Make a button that reads a source, with the others of its document.
 * @param {App} app
 * @param {Source} source
 * @param {Source[]} among
 */
export function sourceButton(app, source, among) {
  const own = among.filter((each) => each.document_id === source.document_id);
  const { document_id: documentId, title } = source;
  const place = [source.heading.replaceAll(" > ", " › "), source.page_idx === null ? "" : words.answer.page(number(source.page_idx + 1))];
  const score = words.answer.score(percent(source.score));
  return h(
    "button",
    { type: "button", class: "quiet source", onclick: () => app.read({ documentId, title, citations: own.map(segmentOf), at: own.indexOf(source) }) },
    h("span", { class: "number" }, number(source.index)),
    h("span", { class: "what" }, h("span", { class: "title" }, title), h("span", { class: "place" }, place.filter((part) => part).join(" · "))),
    h("span", { class: "kind" }, icon(SIGNS[source.kind]), words.answer.kinds[source.kind]),
    h("span", { class: "score", title: score }, h("span", { class: "seen-by-readers-only" }, score), h("span", { "aria-hidden": "true" }, percent(source.score))),
  );
}

/**
 * Point to a whole segment, as a citation points to its quote.
 * @param {Source} source
 * @returns {import("../api/types.js").Citation}
 */
function segmentOf({ segment_id, document_id, segment_index, page_idx, start, end, excerpt, index }) {
  const place = { segment_id, document_id, segment_index, page_idx, start, end };
  return { ...place, quote: excerpt, origin: "matched", verdict: "unverified", source_index: index, section_index: -1 };
}
