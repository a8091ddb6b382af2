/** What is marked of a text: the quotes of an answer, one of them more than the others. */

import { h } from "../dom.js";

/** @typedef {import("../text/passages.js").Passage} Passage */
/** From where to where, in UTF-16. @typedef {{from: number, to: number, kind: "light" | "whole" | "current" | "current whole"}} Mark */

/** @param {Passage} passage @param {Passage | null} current @returns {Mark["kind"]} */
export function kindOf(passage, current) {
  if (passage === current) return passage.whole ? "current whole" : "current";
  return passage.whole ? "whole" : "light";
}

/**
 * Cut a text where marks begin and end; where they overlap, the current one counts.
 * @param {string} text
 * @param {Mark[]} marks
 */
export function pieces(text, marks) {
  const edges = new Set([0, text.length, ...marks.flatMap(({ from, to }) => [from, to])]);
  const cuts = [...edges].sort((one, other) => one - other);
  /** @type {{from: number, to: number, kind: Mark["kind"] | ""}[]} */
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
    return kind ? h("mark", { class: kind, "aria-current": kind.startsWith("current") && "true" }, piece) : piece;
  });
}
