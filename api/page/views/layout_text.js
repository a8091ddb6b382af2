/** The text of a document as its layout shows it: slices of it in elements, which know their offsets. */

import { fill, h } from "../dom.js";
import { codePointIndex } from "../text/offsets.js";
import { words } from "../words/index.js";

/** @typedef {import("../text/passages.js").Part} Part */

/** @typedef {{from: number, to: number, notation: "mathml" | "latex", source: string}} Formula */
/** @typedef {{element: HTMLElement, from: number, to: number, formulas: Formula[]}} Leaf */
/** @typedef {"light" | "whole" | "current" | "current whole" | "current best" | "current around"} Kind */
/** From where to where, in UTF-16. @typedef {{from: number, to: number, kind: Kind}} Mark */

/** A text whose slices stand in elements, with marks in them. Offsets are those of the whole text in UTF-16. */
export class LaidOutText {
  /** @param {Wire.RawSegment[]} segments */
  constructor(segments) {
    this.text = segments.map((segment) => segment.text).join("");
    /** Gives the UTF-16 index of an offset in code points. */
    this.unit = codePointIndex(this.text);
    /** Where each segment begins. @type {number[]} */
    this.starts = [];
    let at = 0;
    for (const segment of segments) {
      this.starts.push(at);
      at += segment.text.length;
    }
    /** Formulas that lines of the text say, in its order. @type {Formula[]} */
    this.formulas = [];
    /** Draws a formula; gives nothing where it can't be read. @type {(formula: Formula, isAlone: boolean) => HTMLElement | null} */
    this.drawn = () => null;
    /** @type {Leaf[]} */
    this.leaves = [];
    /** @type {Mark[]} */
    this.marks = [];
  }

  /** Put a slice of the text into an element, with what is marked in it.
   * @template {HTMLElement} Made @param {Made} element @param {number} from @param {number} to @returns {Made} */
  put(element, from, to) {
    while (this.formulas[0] && this.formulas[0].to <= from) this.formulas.shift();
    const beyond = this.formulas.findIndex((formula) => formula.to > to);
    /** @type {Leaf} */
    const leaf = { element, from, to, formulas: this.formulas.slice(0, beyond < 0 ? Infinity : beyond) };
    this.leaves.push(leaf);
    this.draw(leaf);
    return element;
  }

  /** @param {Leaf} leaf */
  draw({ element, from, to, formulas }) {
    let at = from;
    const parts = formulas.flatMap((formula) => {
      const drawn = formula.from >= at ? this.drawn(formula, formula.from === from && formula.to === to) : null;
      if (!drawn) return [];
      const line = this.text.slice(formula.from, formula.to);
      drawn.dataset.line = line;
      const [mark] = this.within(formula.from, formula.to).filter((each) => typeof each !== "string");
      const before = this.within(at, formula.from);
      at = formula.to;
      if (!mark) return [...before, drawn];
      fill(mark, drawn);
      return [...before, mark];
    });
    fill(element, [...parts, ...this.within(at, to)]);
  }

  /** Give a slice of the text with its marks. @param {number} from @param {number} to */
  within(from, to) {
    const marks = this.marks.filter((mark) => mark.from < to && from < mark.to);
    const own = marks.map(({ from: start, to: end, kind }) => ({ from: Math.max(start - from, 0), to: Math.min(end, to) - from, kind }));
    return pieces(this.text.slice(from, to), own);
  }

  /** Mark these passages, and one of them more than the others. @param {Passage[]} passages @param {Passage | null} current */
  mark(passages, current) {
    const before = this.marks;
    this.marks = passages.flatMap((passage) => markedIn(passage, current).map(({ segment, from, to, kind }) => {
      const start = this.starts[segment] ?? 0;
      return { from: start + from, to: start + to, kind };
    }));
    const changed = [...before, ...this.marks];
    for (const leaf of this.leaves) {
      if (changed.some((mark) => mark.from < leaf.to && leaf.from < mark.to)) this.draw(leaf);
    }
  }

  /** Where what is looked at begins, or what in it answers best; infinitely far where nothing is. */
  get currentStart() {
    return this.marks.find((mark) => mark.kind.startsWith("current"))?.from ?? Infinity;
  }
}

/** Give the parts of a passage that are marked, each with how; what is within another comes before it.
 * @param {Passage} passage @param {Passage | null} current @returns {(Part & {kind: Kind})[]} */
export function markedIn(passage, current) {
  const { parts, best, whole } = passage;
  const marks = (/** @type {Part[]} */ those, /** @type {Kind} */ kind) => those.map((part) => ({ ...part, kind }));
  if (passage !== current) return marks(parts, whole ? "whole" : "light");
  if (!best.length) return marks(parts, whole ? "current whole" : "current");
  return [...marks(best, "current best"), ...marks(parts, "current around")];
}

/** Cut a text where marks begin and end; where they overlap, the current one counts.
 * @param {string} text @param {Mark[]} marks */
export function pieces(text, marks) {
  const edges = new Set([0, text.length, ...marks.flatMap(({ from, to }) => [from, to])]);
  const cuts = [...edges].sort((one, other) => one - other);
  const stretches = /** @type {{from: number, to: number, kind: Kind | ""}[]} */ ([]);
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
