/** What is said of an answer as a whole: whether it answers, its verdicts, and what has become of its quotes. */

import { h } from "../dom.js";
import { answerhoodOf } from "../text/answerhood.js";
import { bothQuoted } from "../text/apart.js";
import { gradeOf, gradesIn } from "../text/grades.js";
import { percent } from "../words/format.js";
import { language, words } from "../words/index.js";
import { icon } from "./icons.js";
import { SIGNS } from "./verdicts.js";

/** @typedef {import("../state/run.js").Answer} Answer */
/** @typedef {import("../text/grades.js").Grade} Grade */

/** Say how many statements are proven in which way, or that no model wrote them. @param {Answer} answer */
export function verdictLine(answer) {
  const counts = gradesOf(answer);
  const disagree = answer.disagreements.length > 0; // nothing is green then: the amber line above says so
  const bare = answer.family === "extractive";
  const parts = /** @type {Grade[]} */ (Object.keys(SIGNS))
    .filter((grade) => counts[grade] && !(bare && grade === "quoted"))
    .map((grade) => h(
      "li",
      { class: grade === "supported" && disagree ? "" : grade },
      icon(SIGNS[grade]),
      words.answer.claims[grade](counts[grade] ?? 0),
    ));
  if (bare && quotesIn(answer)) parts.push(h("li", null, icon("book"), words.answer.extractive));
  return parts.length ? h("ul", { class: "verdicts" }, parts) : null;
}

/** Tell whether an answer says anything from a source: small talk, and a list of the library, do not. @param {Answer} answer */
export function quotesIn({ outcome, sections, stopReason }) {
  const said = outcome === "answered" && stopReason !== "answered_from_catalogue";
  return said && sections.some(({ text, grounded, sourceIds }) => text && grounded && sourceIds.length > 0);
}

/** Say whether what is shown answers the question, and how likely that is. @param {Pick<Answer, "outcome" | "assessment">} answer */
export function answerhoodIn({ outcome, assessment }) {
  const chance = assessment?.answerhood ?? null;
  if (outcome !== "answered" || chance === null) return null;
  const { likely, ...degrees } = words.answer.answerhood;
  const degree = answerhoodOf(chance);
  return { degree, said: degrees[degree], share: likely(percent(chance)) };
}

/** Show whether it answers, and that its sources disagree: no sign of a proof stands by it. @param {Answer} answer */
export function answerhoodLine(answer) {
  const known = answerhoodIn(answer);
  const disputed = answer.disagreements.length;
  return known && h(
    "p",
    { class: "answerhood" },
    known.degree === "answers" && !disputed ? null : icon("unsure"),
    h("strong", null, known.said),
    h("span", { class: "muted" }, known.share),
    disputed > 0 && h("span", { class: "disputed" }, words.apart.disputed(disputed)),
  );
}

/**
 * Count the claims that are shown by what is told of them; the assessment knows none of sections that were added after it.
 * @param {Pick<Answer, "sections" | "assessment" | "family">} answer
 * @returns {Partial<Record<Grade, number>>}
 */
export function gradesOf({ sections, assessment, family }) {
  const claims = sections.filter((section) => !bothQuoted(section)).flatMap((section) => section.claims ?? []);
  if (!claims.length && sections.some(bothQuoted)) return {};
  if (!claims.length) return gradesIn(assessment?.claims ?? {}, family === "extractive" ? Infinity : 0);
  /** @type {Partial<Record<Grade, number>>} */
  const counts = {};
  for (const grade of claims.map(gradeOf)) counts[grade] = (counts[grade] ?? 0) + 1;
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
