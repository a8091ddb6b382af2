/** What is marked of a text: the quotes of an answer, one of them more than the others, and in it what answers best. */

import { h } from "../dom.js";
import { words } from "../words/index.js";

/** @typedef {import("../text/passages.js").Passage} Passage */
/** @typedef {import("../text/passages.js").Part} Part */
/** @typedef {"light" | "whole" | "current" | "current whole" | "current best" | "current around"} Kind */
/** From where to where, in UTF-16. @typedef {{from: number, to: number, kind: Kind}} Mark */

/**
 * Give the parts of a passage that are marked, each with how; what is within another comes before it.
 * @param {Passage} passage
 * @param {Passage | null} current
 * @returns {(Part & {kind: Kind})[]}
 */
export function markedIn(passage, current) {
  const { parts, best, whole } = passage;
  const marks = (/** @type {Part[]} */ those, /** @type {Kind} */ kind) => those.map((part) => ({ ...part, kind }));
  if (passage !== current) return marks(parts, whole ? "whole" : "light");
  if (!best.length) return marks(parts, whole ? "current whole" : "current");
  return [...marks(best, "current best"), ...marks(parts, "current around")];
}

/**
 * Cut a text where marks begin and end; where they overlap, the current one counts.
 * @param {string} text
 * @param {Mark[]} marks
 */
export function pieces(text, marks) {
  const edges = new Set([0, text.length, ...marks.flatMap(({ from, to }) => [from, to])]);
  const cuts = [...edges].sort((one, other) => one - other);
  /** @type {{from: number, to: number, kind: Kind | ""}[]} */
  const stretches = [];
  for (const [at, from] of cuts.slice(0, -1).entries()) {
    const to = /** @type {number} */ (cuts[at + 1]);
    const over = marks.filter((mark) => mark.from <= from && to <= mark.to);
    const kind = (over.find((mark) => mark.kind.startsWith("current")) ?? over[0])?.kind ?? "";
    const last = stretches.at(-1);
    if (last && last.kind === kind) last.to = to;
    else stretches.push({ from, to, kind });
  }
  return stretches.map(({ from, to, kind }) => {
    const piece = text.slice(from, to);
    const says = kind === "current best" && words.proof.best;
    return kind ? h("mark", { class: kind, "aria-current": kind.startsWith("current") && "true", "data-says": says }, piece) : piece;
  });
}
