/** What is said of an answer as a whole: its verdicts, its disagreements, and what has become of its quotes. */

import { h } from "../dom.js";
import { numbersOf } from "../text/numbering.js";
import { percent } from "../words/format.js";
import { language, words } from "../words/index.js";
import { sourceButton } from "./answer_sources.js";
import { icon } from "./icons.js";
import { reasonTexts, SIGNS } from "./verdicts.js";

/** @typedef {import("../state/run.js").Answer} Answer */
/** @typedef {import("../api/types.js").Verdict} Verdict */

/** Say how many claims have which verdict, and where no model wrote them. @param {Answer} answer */
export function verdictLine(answer) {
  const counts = countsOf(answer);
  const disagree = answer.disagreements.length > 0; // what a source says is proven, and still another denies it
  const parts = /** @type {Verdict[]} */ (Object.keys(SIGNS))
    .filter((verdict) => counts[verdict])
    .map((verdict) => h(
      "li",
      { class: verdict === "supported" && disagree ? "disputed" : verdict },
      icon(verdict === "supported" && disagree ? "unsure" : SIGNS[verdict]),
      words.answer.claims[verdict](counts[verdict] ?? 0),
      verdict === "supported" && disagree ? words.answer.disputed : null,
    ));
  const quotes = answer.stopReason !== "no_retrieval_needed" && answer.stopReason !== "answered_from_catalogue";
  const quoted = answer.family === "extractive" && answer.outcome === "answered" && quotes;
  if (quoted) parts.push(h("li", null, icon("book"), words.answer.extractive));
  return parts.length ? h("ul", { class: "verdicts" }, parts) : null;
}

/** From which chance on each word is said. @type {["likely" | "perhaps" | "doubtful", number][]} */
const LEAST = [["likely", 0.75], ["perhaps", 0.5], ["doubtful", 0]];

/**
 * Say in words how likely what is shown answers the question: no proof says it, so no sign of a proof stands by it.
 * @param {Answer} answer
 */
export function answerhoodLine({ outcome, assessment }) {
  const chance = assessment?.answerhood ?? null;
  if (outcome !== "answered" || chance === null) return null;
  const [word] = LEAST.find(([, least]) => chance >= least) ?? ["doubtful"];
  return h("p", { class: "answerhood muted" }, words.answer.answerhood[word](percent(chance)));
}

/**
 * Count the claims that are shown by their verdicts; the assessment knows nothing of sections that were added after it.
 * @param {Answer} answer
 * @returns {Partial<Record<Verdict, number>>}
 */
function countsOf({ sections, assessment }) {
  const claims = sections.flatMap((section) => section.claims ?? []);
  if (!claims.length) return assessment?.claims ?? {};
  /** @type {Partial<Record<Verdict, number>>} */
  const counts = {};
  for (const { verdict } of claims) counts[verdict] = (counts[verdict] ?? 0) + 1;
  return counts;
}

/** Show sources that contradict each other. @param {import("../state/app.js").App} app @param {Answer} answer */
export function disagreements(app, answer) {
  if (!answer.disagreements.length) return null;
  const told = answer.disagreements.map(({ segment_ids, reason }) => {
    const sources = segment_ids.flatMap((id) => answer.sources.filter((source) => source.segment_id === id)); // newest first
    const numbers = numbersOf(answer);
    const rows = sources.map((source) =>
      h("li", null, sourceButton(app, source, answer.sources, numbers.get(source.index) ?? source.index)));
    return h("li", null, h("p", null, reasonTexts([reason])), h("ul", { class: "sources" }, rows));
  });
  const title = h("p", { class: "outcome" }, icon("unsure"), h("strong", null, words.answer.disagreements));
  return h("section", { class: "panel disagreements" }, title, h("ul", null, told));
}

/** Say how many quotes do not stand where they stood. @param {Answer} answer */
export function changesSince(answer) {
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
  const parts = /** @type {const} */ (["moved", "changed", "deleted", "withheld"])
    .filter((kind) => counts[kind])
    .map((kind) => words.answer.changes[kind](counts[kind]));
  if (!parts.length) return null;
  const list = new Intl.ListFormat(language, { type: "unit" }).format(parts);
  return h("p", { class: "since" }, icon("unsure"), h("span", null, `${words.answer.since} ${list}`));
}
