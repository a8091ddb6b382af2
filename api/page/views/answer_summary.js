/** What is said of an answer as a whole: its verdicts, and what has become of its quotes. */

import { h } from "../dom.js";
import { bothQuoted } from "../text/apart.js";
import { percent } from "../words/format.js";
import { language, words } from "../words/index.js";
import { icon } from "./icons.js";
import { SIGNS } from "./verdicts.js";

/** @typedef {import("../state/run.js").Answer} Answer */
/** @typedef {import("../api/types.js").Verdict} Verdict */

/** Say how many statements have which verdict, and where no model wrote them. @param {Answer} answer */
export function verdictLine(answer) {
  const counts = countsOf(answer);
  const disagree = answer.disagreements.length > 0; // nothing is green then: the amber line above says so
  const parts = /** @type {Verdict[]} */ (Object.keys(SIGNS))
    .filter((verdict) => counts[verdict])
    .map((verdict) => h(
      "li",
      { class: verdict === "supported" && disagree ? "" : verdict },
      icon(SIGNS[verdict]),
      words.answer.claims[verdict](counts[verdict] ?? 0),
    ));
  if (answer.family === "extractive" && quotesIn(answer)) parts.push(h("li", null, icon("book"), words.answer.extractive));
  return parts.length ? h("ul", { class: "verdicts" }, parts) : null;
}

/** Tell whether an answer says anything from a source: small talk, and a list of the library, do not. @param {Answer} answer */
export function quotesIn({ outcome, sections, stopReason }) {
  const said = outcome === "answered" && stopReason !== "answered_from_catalogue";
  return said && sections.some(({ text, grounded, sourceIds }) => text && grounded && sourceIds.length > 0);
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
  const claims = sections.filter((section) => !bothQuoted(section)).flatMap((section) => section.claims ?? []);
  if (!claims.length) return sections.some(bothQuoted) ? {} : assessment?.claims ?? {};
  /** @type {Partial<Record<Verdict, number>>} */
  const counts = {};
  for (const { verdict } of claims) counts[verdict] = (counts[verdict] ?? 0) + 1;
  return counts;
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
