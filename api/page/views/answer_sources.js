/** The sources of an answer; each opens the reader at its segment. */

import { h } from "../dom.js";
import { citedIn, numbersOf } from "../text/numbering.js";
import { placeOf } from "../text/places.js";
import { day, number } from "../words/format.js";
import { words } from "../words/index.js";
import { icon, textButton } from "./icons.js";

/** @type {Record<Wire.SourceKind, IconName>} */
export const KINDS = { page: "page", search: "book", web: "web" };

/** List the sources that are cited, with what a mark means, and apart those that were only read. @param {App} app @param {Answer} answer */
export function sourceList(app, answer) {
  const numbers = numbersOf(answer);
  const numberOf = (/** @type {Source} */ { index }) => numbers.get(index) ?? index;
  const sources = [...answer.sources].sort((one, other) => numberOf(one) - numberOf(other));
  const indices = new Set(citedIn(answer));
  const lists = [sources.filter(({ index }) => indices.has(index)), sources.filter(({ index }) => !indices.has(index))];
  const said = [words.answer.marks, words.answer.onlyRead];
  return lists.flatMap((shown, at) => (shown.length
    ? [h("p", { class: "muted" }, said[at] ?? ""), h("ol", { class: "sources" }, shown.map((source) => h("li", null, sourceButton(app, source, sources, numberOf(source)))))]
    : []));
}

/** Find the source that a segment is read from. @param {Source[]} sources @param {string} segmentId */
export function sourceOf(sources, segmentId) {
  return sources.find(({ segment_id, document_id, segments = [] }) =>
    segment_id === segmentId || segments.some(({ segment_index }) => `${document_id}:${segment_index}` === segmentId));
}

/** Make a button that reads a source, with the others of its document.
 * @param {App} app @param {Source} source @param {Source[]} among @param {number} [shown] Its number. */
export function sourceButton(app, source, among, shown = source.index) {
  const place = [pathOf(source), placeOf(source)].filter((part) => part).join(" · ");
  return textButton("quiet source", () => app.read(readingOf(source, among)),
    h("span", { class: "number" }, number(shown)),
    h("span", { class: "what" }, h("span", { class: "title", dir: "auto" }, source.title), h("span", { class: "place", dir: "auto" }, place)),
    source.kind === "search" ? null : h("span", { class: "kind" }, icon(KINDS[source.kind]), words.proof.kinds[source.kind]),
  );
}

/** Point the reader to a source, among the others of its document. @param {Source} source @param {Source[]} among @returns {Reading} */
export function readingOf(source, among) {
  const own = among.filter((each) => each.document_id === source.document_id);
  return { documentId: source.document_id, title: source.title, citations: own.map(pointTo), at: own.indexOf(source) };
}

/** Write the path of headings that a source stands under, or of those above what is quoted of it, without its title.
 * @param {{heading: string, title: string}} source @param {{heading_path?: string[]}} [quoted] */
export function pathOf({ heading, title }, { heading_path: path = heading.split(" > ") } = {}) {
  return (path[0] === title ? path.slice(1) : path).join(" › ");
}

/** Say the date of a document: its own, or the day on which the library stored it.
 * @param {Pick<Wire.Position, "date" | "dated_by">} document */
export function dateOf({ date, dated_by: by }) {
  return by === "library" ? words.apart.added({ day: day(date) }) : words.apart.dated({ day: day(date) });
}

/** Point to the passage that is shown of a source, or else to its whole segment, as a citation points to its quote.
 * @param {Source} source @returns {Citation} */
export function pointTo({ segment_id, document_id, segment_index, page_idx, start, end, excerpt, index, passage }) {
  const place = { segment_id, document_id, segment_index, page_idx, source_index: index };
  const shown = passage ? { ...passage, section_index: 0 } : { start, end, quote: excerpt, section_index: -1 };
  return { ...place, ...shown, origin: "matched", verdict: "unverified" };
}
