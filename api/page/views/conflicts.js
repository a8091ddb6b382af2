/** Sources that contradict each other: what each says, side by side, with its value, its date and the way to it. */

import { h } from "../dom.js";
import { numbersOf } from "../text/numbering.js";
import { bothQuoted, positionsOf } from "../text/apart.js";
import { sayReason } from "../text/reasons.js";
import { number } from "../words/format.js";
import { words } from "../words/index.js";
import { dateOf, pathOf, saidPlace, sourceButton, sourceOf } from "./answer_sources.js";
import { icon, textButton } from "./icons.js";

/** @typedef {import("../state/app.js").App} App */
/** @typedef {import("../state/run.js").Answer} Answer */
/** @typedef {import("../api/types.js").Position} Position */
/** @typedef {import("../api/types.js").Disagreement} Disagreement */

/** Show sources that contradict each other. @param {App} app @param {Answer} answer */
export function disagreements(app, answer) {
  if (!answer.disagreements.length) return null;
  const told = answer.disagreements.map((each) => h("li", null, sidesOf(app, answer, each) ?? bare(app, answer, each)));
  const title = h("p", { class: "outcome" }, icon("unsure"), h("strong", null, words.apart.disputed(answer.disagreements.length)));
  return h("section", { class: "panel disagreements" }, title, h("ul", null, told));
}

/** @param {App} app @param {Answer} answer @param {Disagreement} disagreement */
function sidesOf(app, answer, disagreement) {
  const positions = positionsOf(disagreement);
  if (!positions.length) return null;
  const dates = new Set(positions.map(({ date }) => date));
  const newest = dates.size > 1 && positions.every(({ date }) => date) ? positions[0] : null;
  return h(
    "ol",
    { class: "positions" },
    positions.map((position) => h("li", null, sideOf(app, answer, position, position === newest))),
  );
}

/** @param {App} app @param {Answer} answer @param {Position} position @param {boolean} newest */
function sideOf(app, answer, position, newest) {
  const source = sourceOf(answer.sources, position.segment_id);
  const shown = source && (numbersOf(answer).get(source.index) ?? source.index);
  const cited = citationOf(answer, position);
  const place = source ? [pathOf(source, cited), saidPlace({ ...source, ...cited }, words.answer.page)].filter(Boolean).join(" · ") : "";
  const { documentId, title } = { documentId: position.document_id, title: position.title };
  const read = () => app.read({ documentId, title, citations: [cited], at: 0 });
  return [
    position.value ? h("p", { class: "value", dir: "auto" }, position.value) : null,
    h("blockquote", { dir: "auto" }, h("q", null, position.quote)),
    h(
      "p",
      { class: "from" },
      shown === undefined ? null : h("span", { class: "number" }, number(shown)),
      h("span", { class: "what" },
        h("span", { class: "title", dir: "auto" }, title),
        place ? h("span", { class: "place", dir: "auto" }, place) : null,
        position.date ? h("span", { class: "date" }, dateOf(position), newest ? ` · ${words.apart.newest}` : null) : null),
    ),
    textButton("quiet small", read, icon("book"), words.proof.read),
  ];
}

/** Give the citation of a position, or make one of it. @param {Answer} answer @param {Position} position @returns {import("../api/types.js").Citation} */
function citationOf({ sections, sources }, { segment_id, document_id, start, end, quote }) {
  const told = sections.filter(bothQuoted).flatMap(({ claims }) => (claims ?? []).flatMap(({ citations }) => citations));
  const known = told.find((each) => each.document_id === document_id && each.start === start && each.end === end);
  if (known) return known;
  const source = sourceOf(sources, segment_id);
  const place = { segment_id, document_id, segment_index: Number(segment_id.split(":").at(-1)), page_idx: source?.page_idx ?? null, start, end };
  return { ...place, quote, origin: "cited", verdict: "supported", source_index: source?.index ?? 0, section_index: -1 };
}

/** Show a disagreement of which no positions are told. @param {App} app @param {Answer} answer @param {Disagreement} disagreement */
function bare(app, answer, { segment_ids, reason }) {
  const sources = [...new Set(segment_ids.flatMap((id) => sourceOf(answer.sources, id) ?? []))]; // newest first
  const numbers = numbersOf(answer);
  const rows = sources.map((source) =>
    h("li", null, sourceButton(app, source, answer.sources, numbers.get(source.index) ?? source.index)));
  return [h("p", { dir: "auto" }, sayReason([], reason)), h("ul", { class: "sources" }, rows)];
}
