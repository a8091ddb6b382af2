/** An answer: what it is worth, its sections with their proof beside them, and how it came about. */

import { change, fill, h } from "../dom.js";
import { isWithdrawn } from "../state/sections.js";
import { isLive } from "../state/turns.js";
import { bothQuoted, isApart, positionsOf, shows } from "../text/apart.js";
import { numbersOf } from "../text/numbering.js";
import { sayReason } from "../text/reasons.js";
import { hasBearing, worthOf } from "../text/worth.js";
import { number } from "../words/format.js";
import { language, words } from "../words/index.js";
import { answerActions } from "./answer_actions.js";
import { limitsView } from "./answer_limits.js";
import { outcomeView } from "./answer_outcome.js";
import { readingOf, sourceButton, sourceOf } from "./answer_sources.js";
import { icon } from "./icons.js";
import { fillMargin } from "./margin.js";
import { passageText, quotedFrom, readingMarker } from "./passage.js";
import { sectionView, takenBack } from "./section.js";

/** Make the view of an answer; `account` is where the line of its run stands once it has ended.
 * @param {App} app @returns {TurnView & {account: HTMLElement}} */
export function answerView(app) {
  const views = /** @type {ReturnType<typeof sectionView>[]} */ ([]);
  let shown = /** @type {Answer | null} */ (null);
  let marginFilled = false;
  const sections = h("div", { class: "sections" });
  const margin = h("div", { class: "margin", role: "group", "aria-label": words.proof.passages });
  const beside = h("div", { class: "beside" }, sections, margin);
  const outcome = outcomeView(app);
  const limits = limitsView();
  const [above, back, below, account] = [h("div", { class: "above" }), h("div"), h("div", { class: "below" }), h("div")];
  const actions = answerActions(app);
  const element = h("div", { class: "answer", role: "group", "aria-label": words.answer.label },
    above, outcome.element, limits.element, beside, back, below, account, actions.element,
  );

  /** @param {Answer | null} answer */
  function showAnswer(answer) {
    const isLost = (/** @type {SectionView} */ section) => isWithdrawn(section) && !section.moved;
    const all = answer?.sections ?? [];
    views.length = Math.min(views.length, all.length);
    for (const [index, section] of all.entries()) {
      const view = (views[index] ??= sectionView(app));
      view.show(section, /** @type {Answer} */ (answer));
      view.element.hidden = isApart(section, /** @type {Answer} */ (answer)) || isLost(section);
    }
    fill(sections, views.map((view) => view.element));
    const before = all.filter(isLost).map((section) => section.before ?? "");
    if (before.length !== back.querySelectorAll(".before").length) fill(back, takenBack(before));
    // Room is kept from the first word on, so that nothing is wrapped anew when the cards come.
    const proven = answer !== null && answer.family !== "extractive" && answer.outcome !== "abstained" && answer.sources.length > 0;
    beside.classList.toggle("proven", proven);
    if (proven && !marginFilled) fillMargin(sections, margin);
    marginFilled ||= proven;
    if (!answer || answer.outcome === null) for (const each of [above, below]) fill(each);
    else if (answer !== shown) {
      fill(above, worthLine(answer), changesSince(answer));
      fill(below, disagreements(app, answer), answer.outcome === "abstained" ? nearestList(app, answer) : null);
    }
    shown = answer;
  }

  return {
    element,
    account,
    show(turn, answering = false) {
      const { answer, run } = turn;
      if (answer !== shown || answer === null) showAnswer(answer);
      outcome.show(turn, answering);
      limits.show(turn);
      actions.show(turn, answering);
      change(element, { "aria-busy": String(isLive(run)) });
      element.classList.toggle("unkept", turn.answerId === null);
    },
  };
}

/** Say what an answer is worth. @param {Answer} answer */
function worthLine(answer) {
  const worth = worthOf(answer);
  return worth && h("p", { class: `worth ${worth.sign ?? ""}`.trim() }, worth.sign && icon(worth.sign), h("strong", { dir: "auto" }, worth.line));
}

/** Say how many quotes do not stand where they stood. @param {Answer} answer */
function changesSince(answer) {
  const counts = { moved: 0, changed: 0, deleted: 0, withheld: 0 };
  const seen = new Set();
  for (const section of answer.sections) {
    for (const { document_id, start, end, freshness } of (section.claims ?? []).flatMap((claim) => claim.citations)) {
      const quote = `${document_id} ${start} ${end}`;
      if (!freshness || freshness === "fresh" || seen.has(quote)) continue;
      seen.add(quote);
      counts[freshness] += 1;
    }
  }
  const kinds = /** @type {(keyof typeof counts)[]} */ (Object.keys(counts));
  const parts = kinds.filter((kind) => counts[kind]).map((kind) => words.answer.changes[kind]({ count: counts[kind] }));
  if (!parts.length) return null;
  const list = new Intl.ListFormat(language, { type: "unit" }).format(parts);
  return h("p", { class: "since" }, icon("unsure"), h("span", null, `${words.answer.since} ${list}`));
}

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
function nearestList(app, { nearest }) {
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
