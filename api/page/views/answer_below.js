/** What stands below an answer: sources that contradict each other, side by side, or what came nearest to a question that was refused. */

import { h } from "../dom.js";
import { bothQuoted, positionsOf, shows } from "../text/apart.js";
import { numbersOf } from "../text/numbering.js";
import { sayReason } from "../text/reasons.js";
import { hasBearing } from "../text/worth.js";
import { number } from "../words/format.js";
import { words } from "../words/index.js";
import { readingOf, sourceButton, sourceOf } from "./answer_sources.js";
import { passageText, quotedFrom, readingMarker } from "./passage.js";

/** Show sources that contradict each other. @param {App} app @param {Answer} answer */
export function disagreements(app, answer) {
  if (!answer.disagreements.length) return null;
  const told = answer.disagreements.map((each) => h("li", null, sidesOf(app, answer, each) ?? bare(app, answer, each)));
  return h("section", { class: "disagreements", "aria-label": words.apart.disputed({ count: answer.disagreements.length }) }, h("ul", null, told));
}

/** @param {App} app @param {Answer} answer @param {Wire.Disagreement} disagreement */
function sidesOf(app, answer, disagreement) {
  const positions = positionsOf(disagreement);
  if (!positions.length) return null;
  const days = new Set(positions.map(({ date, dated_by: by }) => (by === "document" ? date : "")));
  const isDated = days.size > 1 && !days.has("");
  return h("ol", { class: "positions" },
    positions.map((position, at) => h("li", { class: "section" }, sideOf(app, answer, position, isDated && at === 0))),
  );
}

/** @param {App} app @param {Answer} answer @param {Wire.Position} position @param {boolean} newest */
function sideOf(app, answer, position, newest) {
  const { document_id: documentId, title, value, dated_by: by, date } = position;
  const source = sourceOf(answer.sources, position.segment_id);
  const numbered = source ? number(numbersOf(answer).get(source.index) ?? source.index) : "";
  const cited = citationOf(answer, position);
  const own = by === "document" ? { date, dated_by: by } : { date: "" }; // the day on which it was stored decides nothing
  const way = readingMarker(app, numbered, { documentId, title, citations: [cited], at: 0 });
  const from = quotedFrom(way, { heading: "", page_idx: null, ...source, title }, { ...source, ...cited, ...own });
  if (newest) from.append(h("span", { class: "newest" }, words.apart.newest));
  const whole = answer.sections.find((section) => shows(section, position));
  const passage = whole?.claims?.[0]?.citations[0];
  const shown = passageText(passage ? { ...passage, text: whole?.text ?? "" } : cited);
  return [value ? h("p", { class: "value", dir: "auto" }, value) : null, from, shown];
}

/** Give the citation of a position, or make one of it. @param {Answer} answer @param {Wire.Position} position @returns {Citation} */
function citationOf({ sections, sources }, { segment_id, document_id, start, end, quote }) {
  const told = sections.filter(bothQuoted).flatMap(({ claims }) => (claims ?? []).flatMap(({ citations }) => citations));
  const known = told.find((each) => each.document_id === document_id && each.start === start && each.end === end);
  if (known) return known;
  const source = sourceOf(sources, segment_id);
  const place = { segment_id, document_id, segment_index: Number(segment_id.split(":").at(-1)), page_idx: source?.page_idx ?? null, start, end };
  return { ...place, quote, origin: "cited", verdict: "supported", source_index: source?.index ?? 0, section_index: -1 };
}

/** Show a disagreement of which no positions are told. @param {App} app @param {Answer} answer @param {Wire.Disagreement} disagreement */
function bare(app, answer, { segment_ids, reason }) {
  const sources = [...new Set(segment_ids.flatMap((id) => sourceOf(answer.sources, id) ?? []))]; // newest first
  const numbers = numbersOf(answer);
  const rows = sources.map((source) =>
    h("li", null, sourceButton(app, source, answer.sources, numbers.get(source.index) ?? source.index)));
  return [h("p", { dir: "auto" }, sayReason([], reason)), h("ul", { class: "sources" }, rows)];
}

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
