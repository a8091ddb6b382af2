/** What an answer is worth: the one line over it, and how its statements are counted. */

import { words } from "../words/index.js";
import { answerhoodOf } from "./answerhood.js";
import { bothQuoted } from "./apart.js";
import { gradeOf, gradesIn } from "./grades.js";

/** @typedef {import("./grades.js").Grade} Grade */
/** `sign` is the tick only where nothing is in doubt, and something else than a copy proves it.
 * @typedef {{sign: "check" | "unsure" | "dash" | null, line: string}} Worth */

const BEARS = 0.5; // the least relevance of what has a bearing on a question that it does not answer
const QUOTED_WHOLE = Infinity;

/**
 * Say what an answer that has ended is worth; null where there is nothing to be said of it.
 * @param {Pick<Answer, "outcome" | "stopReason" | "sections" | "assessment" | "family" | "disagreements" | "nearest">} answer
 * @returns {Worth | null}
 */
export function worthOf(answer) {
  const { outcome, assessment, disagreements } = answer;
  const { abstained, answerhood, worth } = words.answer;
  if (outcome === "abstained") return { sign: "dash", line: hasBearing(answer) ? worth.notOutright : abstained };
  if (outcome !== "answered") return null;
  if (disagreements.length) return { sign: "unsure", line: words.apart.disputed({ count: disagreements.length }) };
  const chance = assessment?.answerhood ?? null;
  const degree = chance === null ? null : answerhoodOf(chance);
  const proven = provenIn(answer);
  const said = [degree && answerhood[degree], proven?.line].filter((part) => part).join(worth.colon);
  if (!said) return null;
  return { sign: degree === "may_answer" || degree === "nearest" ? "unsure" : proven?.sign ?? null, line: said };
}

/** Tell whether something came near to a question that was refused and has a bearing on it. @param {Pick<Answer, "nearest">} answer */
export function hasBearing({ nearest }) {
  return nearest.some(({ score }) => score >= BEARS);
}

/** @param {Parameters<typeof worthOf>[0]} answer @returns {Worth | null} */
function provenIn(answer) {
  const wording = words.answer.worth;
  if (answer.family === "extractive") {
    return quotesIn(answer) ? { sign: null, line: wording.passages({ count: answer.sections.filter(cites).length }) } : null;
  }
  const counts = gradesOf(answer);
  const all = Object.values(counts).reduce((sum, count) => sum + count, 0);
  if (!all) return null;
  const { supported = 0, quoted = 0, checked = 0, unverified = 0, contradicted = 0, unsupported = 0 } = counts;
  const doubted = contradicted + unsupported;
  const by = judgesOf(answer);
  /** @type {string[]} */
  const told = [];
  for (const [count, say] of /** @type {const} */ ([
    [supported, wording.confirmed], [quoted, wording.quoted], [checked, wording.checked],
    [unverified, wording.unchecked], [doubted, wording.doubted],
  ])) {
    if (!count) continue;
    const first = count === all ? wording.statements({ count }) : wording.statementsOf({ count, all });
    told.push(say({ said: told.length ? wording.more({ count }) : first, by }));
  }
  const sign = doubted || unverified ? "unsure" : supported ? "check" : null;
  return { sign, line: told.join(wording.comma) };
}

/** Name who judged. @param {Pick<Answer, "sections">} answer */
export function judgesOf({ sections }) {
  const names = sections.flatMap(({ claims }) => (claims ?? []).flatMap(({ judge }) => judge?.model ?? []));
  return [...new Set(names)].join(", ");
}

/** Tell whether an answer says anything from a source: small talk, and a list of the library, do not.
 * @param {Pick<Answer, "outcome" | "sections" | "stopReason">} answer */
export function quotesIn({ outcome, sections, stopReason }) {
  return outcome === "answered" && stopReason !== "answered_from_catalogue" && sections.some(cites);
}

/** @param {SectionView} section */
function cites({ text, grounded, sourceIds, claims }) {
  return text !== "" && grounded && (sourceIds.length > 0 || (claims ?? []).some(({ citations }) => citations.length > 0));
}

/**
 * Count the claims that are shown by what is told of them; the assessment knows none of sections that were added after it.
 * @param {Pick<Answer, "sections" | "assessment" | "family">} answer
 * @returns {Partial<Record<Grade, number>>}
 */
export function gradesOf({ sections, assessment, family }) {
  const claims = sections.filter((section) => !bothQuoted(section)).flatMap((section) => section.claims ?? []);
  if (!claims.length && sections.some(bothQuoted)) return {};
  if (!claims.length) return gradesIn(assessment?.claims ?? {}, family === "extractive" ? QUOTED_WHOLE : 0);
  /** @type {Partial<Record<Grade, number>>} */
  const counts = {};
  for (const grade of claims.map(gradeOf)) counts[grade] = (counts[grade] ?? 0) + 1;
  return counts;
}
