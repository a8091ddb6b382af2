/** Signs of emphasis and what they pair with: `*em*`, `**strong**`, `_em_`, `__strong__`. */

/** @typedef {import("./inline.js").Piece} Piece */
/**
 * Signs in a row: `opens` has the outermost first, `closes` the innermost; `left` are those that do neither.
 * @typedef {{kind: "run", sign: string, start: number, end: number, left: number, opens: ("strong" | "em")[],
 *   closes: ("strong" | "em")[], waits: boolean}} Run `waits` where what it begins may still be closed.
 */

const LONGEST = 3; // signs in a row; more are a line to write on
const WIDTHS = [[], [1, 3], [2, 3], [1, 2, 3]]; // of the runs that a run of one, two or three closes
const WORD = /[\p{L}\p{N}]/u;
const SPACE = /\s/;

/** Pairs the runs of a stretch of text as they come. */
export class Emphasis {
  /** @param {string} text @param {number} start @param {number} end @param {boolean} growing Whether more may follow. */
  constructor(text, start, end, growing) {
    this.text = text;
    this.start = start;
    this.last = end;
    this.growing = growing;
    /** @type {Run[]} */
    this.waiting = [];
    /** How many wait, by sign and width, so that none is looked for in vain. @type {Record<string, number>} */
    this.counts = {};
  }

  /**
   * Take the run that begins at a place.
   * @param {number} place
   * @param {(end: number) => boolean} endsLine
   * @returns {Run}
   */
  take(place, endsLine) {
    const sign = this.text.charAt(place);
    const end = Math.min(past(this.text, place, sign), this.last);
    /** @type {Run} */
    const run = { kind: "run", sign, start: place, end, left: end - place, opens: [], closes: [], waits: false };
    if (run.left > LONGEST) return run;
    const before = place > this.start ? signBefore(this.text, place) : " ";
    const after = end < this.last && !endsLine(end) ? signAt(this.text, end) : " ";
    // "2*3" multiplies, and "snake_case" is a name.
    const joins = sign === "_" ? WORD.test(before) && WORD.test(after) : /\d/.test(before) && /\d/.test(after);
    if (joins) return run;
    if (!SPACE.test(before)) this.close(run);
    if (run.left && this.growing && end === this.last) run.waits = true;
    else if (run.left && !SPACE.test(after) && !(sign === "_" && WORD.test(before))) {
      this.waiting.push(run);
      this.count(run, 1);
    }
    return run;
  }

  /** @param {Run} run */
  close(run) {
    for (let opener = this.openerOf(run); opener; opener = this.openerOf(run)) {
      this.count(opener, -1);
      const used = Math.min(opener.left, run.left, 2);
      const name = used === 2 ? "strong" : "em";
      opener.left -= used;
      run.left -= used;
      opener.opens.unshift(name);
      run.closes.push(name);
      if (opener.left) this.count(opener, 1);
      else this.waiting.pop();
    }
  }

  /** Give the last run that waits for this one, and let go of those behind it. @param {Run} run */
  openerOf(run) {
    const widths = WIDTHS[run.left] ?? [];
    if (!widths.some((width) => this.counts[run.sign + width])) return null;
    for (;;) {
      const opener = /** @type {Run} */ (this.waiting.at(-1));
      if (opener.sign === run.sign && widths.includes(opener.left)) return opener;
      this.waiting.pop();
      this.count(opener, -1);
    }
  }

  /** Leave what was never closed as it is written, or unwritten where it may still be. */
  end() {
    if (this.growing) for (const run of this.waiting) run.waits = true;
  }

  /** @param {Run} run @param {number} by */
  count(run, by) {
    const kind = run.sign + run.left;
    this.counts[kind] = (this.counts[kind] ?? 0) + by;
  }
}

/** Turn a run into what it closes, the signs that are left of it, and what it opens. @param {Run} run @returns {Piece[]} */
export function said(run) {
  /** @type {Piece[]} */
  const pieces = [];
  let at = run.start;
  const width = (/** @type {string} */ name) => (name === "strong" ? 2 : 1);
  for (const name of run.closes) pieces.push({ kind: "close", name, start: at, end: (at += width(name)) });
  if (run.left && !run.waits) pieces.push({ kind: "text", start: at, end: at + run.left });
  at += run.left;
  for (const name of run.opens) pieces.push({ kind: "open", name, start: at, end: (at += width(name)) });
  return pieces;
}

/** Give where a row of one sign ends. @param {string} text @param {number} place @param {string} sign */
export function past(text, place, sign) {
  let end = place;
  while (text.charAt(end) === sign) end += 1;
  return end;
}

/** @param {string} text @param {number} place */
function signAt(text, place) {
  return String.fromCodePoint(text.codePointAt(place) ?? 32);
}

/** @param {string} text @param {number} place */
function signBefore(text, place) {
  const low = /[\udc00-\udfff]/.test(text.charAt(place - 1));
  return signAt(text, place - (low && place > 1 ? 2 : 1));
}
