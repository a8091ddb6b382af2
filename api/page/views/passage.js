/** A passage as it is shown: where it is quoted from, and in it the entry that answers best. */

import { fill, h } from "../dom.js";
import { gradeOf } from "../text/grades.js";
import { highlighted, highlightIn } from "../text/highlighted.js";
import { codePoints } from "../text/offsets.js";
import { placeOf } from "../text/places.js";
import { isReadable, readable, render } from "../text/reading.js";
import { words } from "../words/index.js";
import { dateOf, pathOf } from "./answer_sources.js";
import { icon } from "./icons.js";

/** @typedef {import("../text/highlighted.js").Quoted} Quoted */
/** What is shown of a document; `text` is the same in Markdown.
 * @typedef {Quoted & {text?: string, context?: Citation["context"]}} Shown `highlights` are all that answer best in it. */

const CELLS = / \| |^\| | \|$/; // what the server puts between the cells of a row

/** Give the citation of a section that shows a passage and says nothing of its own.
 * @param {Pick<SectionView, "claims">} section @param {Pick<Answer, "family">} answer */
export function passageIn({ claims }, { family }) {
  const [claim] = claims ?? [];
  if (family !== "extractive" || !claim || claims?.length !== 1 || gradeOf(claim) !== "quoted") return null;
  return claim.citations.length === 1 ? claim.citations[0] ?? null : null;
}

/**
 * Say where a passage is quoted from, and which other documents hold a copy of it; of all of them the date, if it tells anything.
 * @param {HTMLElement} way The button that leads there.
 * @param {Pick<Source, "title" | "heading" | "page_idx"> | undefined} source
 * @param {Pick<Citation, "page_idx" | "slide" | "sheet" | "cell" | "page_label" | "heading_path" | "copies" | "date" | "dated_by">} place
 * @param {string} [lead] What stands before the title.
 */
export function quotedFrom(way, source, place, lead = `${words.proof.quotedFrom} `) {
  const at = placeOf({ ...place, page_idx: place.page_idx ?? source?.page_idx ?? null });
  const path = source ? pathOf(source, place) : "";
  return h("p", { class: "quoted-from" }, way, h("span", null,
    lead,
    h("cite", { class: "title", dir: "auto" }, source?.title ?? ""),
    path && [" › ", h("bdi", null, path)],
    at && [" · ", h("bdi", null, at)],
    dated(place),
    place.copies?.flatMap((copy) => [
      h("br", null),
      `${copy.differs ? words.proof.changedIn : words.proof.alsoIn} `,
      h("cite", { class: "title", dir: "auto" }, copy.title),
      ...dated(copy),
    ]),
  ));
}

/**
 * Make the marker that reads a document at quotes of it.
 * @param {App} app
 * @param {string} shown The number of its source; nothing where it has none.
 * @param {Reading} reading
 */
export function readingMarker(app, shown, reading) {
  const label = words.proof.marker({ number: shown, title: reading.title, verdict: words.proof.read });
  const onclick = () => app.read(reading);
  return h("button", { class: "marker quoted", "aria-label": label, onclick }, shown ? h("span", null, shown) : icon("book"));
}

/** @param {Pick<Citation, "date" | "dated_by">} document */
const dated = ({ date, dated_by }) => (date && dated_by ? [" · ", h("span", { class: "date" }, dateOf({ date, dated_by }))] : []);

/**
 * Dress the text of a passage: marked is what answers best, as far as it is sure where that stands.
 * @param {string} text
 * @param {{start: number, end: number}} claim
 * @param {Quoted} quoted
 * @returns {import("../text/markup.js").Dress}
 */
export function dressOfPassage(text, { start, end }, quoted) {
  const { start: from, quote } = quoted;
  const best = highlightsOf(quoted).flatMap((each) => highlightIn(text, quote, { start: each.start - from, end: each.end - from }) ?? [])
    .sort((one, other) => one.start - other.start);
  const spans = [];
  let at = start;
  for (const each of best) {
    const [first, last] = [Math.max(each.start, at), Math.min(each.end, end)];
    if (first >= last) continue;
    spans.push({ start: at, end: first, best: false }, { start: first, end: last, best: true });
    at = last;
  }
  const filled = [...spans, { start: at, end, best: false }].filter((span) => span.start < span.end);
  const mark = marking();
  return {
    spans: filled,
    wrap: (index) => (filled[index]?.best ? mark() : h("span", { class: "claim quoted" })),
    behind: () => [],
  };
}

/** Show a passage as what it is, or where its Markdown is not known, as it stands in its document. @param {Shown} shown */
export function passageText(shown) {
  const text = shown.text || rowsOf(shown);
  const element = h("div", { class: "text", dir: "auto" });
  const write = () => {
    if (!isReadable()) void readable().then((came) => came && write());
    const dress = dressOfPassage(text, { start: 0, end: codePoints(text) }, shown);
    fill(element, ...render(text, { dress }, write));
  };
  if (text) write();
  else fill(element, h("p", { class: "as-written" }, quotedText(shown)));
  return element;
}

/** Give rows of a table under the header that they hang on as Markdown; nothing where they are none. @param {Shown} shown */
function rowsOf({ quote, context = [] }) {
  const headers = context.filter(({ role }) => role === "header").map(({ text }) => text);
  const rows = [...headers, ...quote.split("\n")].map((row) => row.split(CELLS));
  const width = rows[0]?.length ?? 0;
  if (width < 2 || rows.length < 2 || rows.some((row) => row.length !== width)) return "";
  const [head = [], ...body] = rows.map((row) => `| ${row.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`);
  return [head, `|${" --- |".repeat(width)}`, ...body].join("\n");
}

/** Show a quote word for word, marked what answers best in it. @param {Quoted} quoted */
function quotedText(quoted) {
  const { quote } = quoted;
  const mark = marking();
  const parts = /** @type {(string | HTMLElement)[]} */ ([]);
  let at = 0;
  for (const highlight of highlightsOf(quoted)) {
    const { before, after, from, to } = highlighted({ ...quoted, highlight });
    if (!(before + after).trim() || from < at) continue;
    parts.push(quote.slice(at, from), mark(quote.slice(from, to)));
    at = to;
  }
  return [...parts, quote.slice(at)];
}

/** @param {Quoted} quoted */
const highlightsOf = ({ highlight, highlights }) => highlights ?? (highlight ? [highlight] : []);

/** Give what makes marks, the first of which says to who hears it what they mean. */
function marking() {
  let says = /** @type {string | null} */ (words.proof.best);
  return (/** @type {string} */ text = "") => {
    const made = h("mark", { class: "best", "data-says": says }, text);
    says = null;
    return made;
  };
}
