/** The text of a document as its layout shows it: slices of it in elements, which know their offsets. */

import { fill } from "../dom.js";
import { codePointIndex } from "../text/offsets.js";
import { markedIn, pieces } from "./reader_marks.js";

/** @typedef {import("../text/passages.js").Passage} Passage */
/** @typedef {import("./reader_marks.js").Mark} Mark */
/** @typedef {{from: number, to: number, notation: "mathml" | "latex", source: string}} Formula */
/** @typedef {{element: HTMLElement, from: number, to: number, formulas: Formula[]}} Leaf */

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

  /**
   * Put a slice of the text into an element, with what is marked in it.
   * @template {HTMLElement} Made
   * @param {Made} element
   * @param {number} from
   * @param {number} to
   * @returns {Made}
   */
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
