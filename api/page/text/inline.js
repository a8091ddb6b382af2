/**
 * What stands within a paragraph in Markdown: emphasis, code and links.
 *
 * The result is a flat list in the order of the text, with names opened and closed in pairs that never cross. Every
 * piece says where it stands. Nothing is looked for twice: a text takes as long as it has letters, whatever it opens
 * and never closes.
 */

import { Emphasis, past, said } from "./emphasis.js";
import { bareAddress, safeAddress } from "./addresses.js";
import { pairsOf } from "./pairs.js";

/** @typedef {"strong" | "em" | "code" | "a"} Name */
/**
 * @typedef {{kind: "text", start: number, end: number} | {kind: "break", start: number, end: number, breaks: boolean} |
 *   {kind: "open", name: Name, start: number, end: number, href?: string} | {kind: "close", name: Name, start: number, end: number}} Piece
 */
/** @typedef {{end: number, pieces: (Piece | import("./emphasis.js").Run)[]}} Known What was read, and where it ends. */

const SPECIAL = /[\\`*_[!\n]|https?:\/\//gi;
const ESCAPED = /[!-/:-@[-`{-~]/;
// An address in parentheses, which may hold others once, and a title, which nobody sees.
const TARGET = /\(\s*<?([^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)*)>?(?:\s+"[^"\n]*")?\s*\)/y;
const LONGEST_ADDRESS = 2000; // of one that is still being written
const FENCE = 3;
const MOST = 5000; // pieces of a paragraph; what would be more is shown as it is written

/**
 * Read the lines of a paragraph.
 * @param {string} text
 * @param {import("./blocks.js").Line[]} lines
 * @param {boolean} [growing] Whether more of it is still to come: what is begun then shows no signs.
 * @returns {Piece[]}
 */
export function inline(text, lines, growing = false) {
  const first = lines[0];
  const last = lines.at(-1);
  if (!first || !last) return [];
  const reading = new Reading(text, lines, growing);
  return reading.read(first.start, last.end, false);
}

class Reading {
  /** @param {string} text @param {import("./blocks.js").Line[]} lines @param {boolean} growing */
  constructor(text, lines, growing) {
    this.text = text;
    this.growing = growing;
    this.end = lines.at(-1)?.end ?? 0;
    /** Where a line ends and the next begins. @type {Map<number, {end: number, breaks: boolean}>} */
    this.gaps = new Map();
    this.ends = lines.slice(0, -1).map((line) => line.end);
    lines.slice(1).forEach((line, index) => {
      const before = /** @type {import("./blocks.js").Line} */ (lines[index]);
      this.gaps.set(before.end, { end: line.start, breaks: before.breaks });
    });
    this.gap = 0;
    this.pairs = pairsOf(text, lines[0]?.start ?? 0, this.end);
  }

  /** @param {number} start @param {number} end @param {boolean} linked Whether it is the text of a link. @returns {Piece[]} */
  read(start, end, linked) {
    /** @type {Known["pieces"]} */
    const pieces = [];
    const emphasis = new Emphasis(this.text, start, end, this.growing && end === this.end);
    let from = start;
    let to = start;
    const say = (/** @type {number} */ until) => {
      if (until > from) pieces.push({ kind: "text", start: from, end: until });
    };
    while (to < end && pieces.length < MOST) {
      const gapAt = this.nextGap(to);
      SPECIAL.lastIndex = to;
      const found = SPECIAL.exec(this.text)?.index ?? end;
      const special = Math.min(found, end);
      if (gapAt <= special && gapAt < end) {
        const gap = /** @type {{end: number, breaks: boolean}} */ (this.gaps.get(gapAt));
        say(gapAt);
        pieces.push({ kind: "break", start: gapAt, end: gap.end, breaks: gap.breaks });
        from = to = gap.end;
        continue;
      }
      if (special >= end) break;
      const sign = this.text.charAt(special);
      const known = sign === "*" || sign === "_" ? this.run(special, emphasis) : this.known(special, end, linked);
      if (!known) {
        to = special + 1;
        continue;
      }
      say(special);
      for (const piece of known.pieces) pieces.push(piece);
      from = to = known.end;
    }
    say(end);
    emphasis.end();
    return pieces.flatMap((piece) => (piece.kind === "run" ? said(piece) : [piece]));
  }

  /** Give the end of the line that a place stands in. @param {number} place */
  nextGap(place) {
    while (this.gap > 0 && /** @type {number} */ (this.ends[this.gap - 1]) >= place) this.gap -= 1;
    while (this.gap < this.ends.length && /** @type {number} */ (this.ends[this.gap]) < place) this.gap += 1;
    return this.ends[this.gap] ?? Infinity;
  }

  /** @param {number} place @param {Emphasis} emphasis @returns {Known} */
  run(place, emphasis) {
    const run = emphasis.take(place, (end) => this.gaps.has(end));
    return { end: run.end, pieces: [run] };
  }

  /** Read an escaped sign, code, or a link. @param {number} place @param {number} end @param {boolean} linked @returns {Known | null} */
  known(place, end, linked) {
    const sign = this.text.charAt(place);
    if (sign === "\\") {
      const escapes = place + 1 < end && ESCAPED.test(this.text.charAt(place + 1));
      return escapes ? { end: place + 2, pieces: [{ kind: "text", start: place + 1, end: place + 2 }] } : null;
    }
    if (sign === "`") return this.code(place, end);
    if (sign === "[") return this.link(place, end, linked);
    if (sign === "!") return this.image(place, end);
    return linked || sign === "\n" ? null : this.address(place, end);
  }

  /** @param {number} place @param {number} end @returns {Known | null} */
  code(place, end) {
    const span = this.pairs.codes.get(place);
    if (!span || span.end > end) {
      const behind = past(this.text, place, "`");
      const begun = this.growing && end === this.end && behind - place < FENCE && !span;
      return { end: behind, pieces: begun ? [] : [{ kind: "text", start: place, end: behind }] };
    }
    /** @type {Piece[]} */
    const pieces = [{ kind: "open", name: "code", start: place, end: span.from }];
    let from = span.from;
    for (let at = this.nextGap(from); at < span.to; at = this.nextGap(from)) {
      const gap = /** @type {{end: number}} */ (this.gaps.get(at));
      pieces.push({ kind: "text", start: from, end: at }, { kind: "break", start: at, end: gap.end, breaks: false });
      from = gap.end;
    }
    if (from < span.to) pieces.push({ kind: "text", start: from, end: span.to });
    pieces.push({ kind: "close", name: "code", start: span.to, end: span.end });
    return { end: span.end, pieces };
  }

  /** @param {number} place @param {number} end @param {boolean} linked @returns {Known | null} */
  link(place, end, linked) {
    const close = this.pairs.brackets.get(place);
    if (close === undefined || this.text.charAt(close + 1) !== "(" || linked) return null;
    TARGET.lastIndex = close + 1;
    const target = TARGET.exec(this.text);
    const behind = target ? TARGET.lastIndex : 0;
    if (!target || behind > end) {
      const short = end - close < LONGEST_ADDRESS;
      const begun = short && this.growing && end === this.end && !/[\s)]/.test(this.text.slice(close + 2, end));
      return begun ? { end, pieces: this.read(place + 1, close, true) } : null;
    }
    const href = safeAddress(target[1] ?? "");
    if (!href) return { end: behind, pieces: [{ kind: "text", start: place, end: behind }] };
    const label = this.read(place + 1, close, true);
    const open = /** @type {Piece} */ ({ kind: "open", name: "a", href, start: place, end: place + 1 });
    return { end: behind, pieces: [open, ...label, { kind: "close", name: "a", start: close, end: behind }] };
  }

  /** Leave an image as it is written. @param {number} place @param {number} end @returns {Known | null} */
  image(place, end) {
    const close = this.pairs.brackets.get(place + 1);
    if (close === undefined || this.text.charAt(close + 1) !== "(") return null;
    TARGET.lastIndex = close + 1;
    const behind = TARGET.test(this.text) ? TARGET.lastIndex : close + 1;
    return behind > end ? null : { end: behind, pieces: [{ kind: "text", start: place, end: behind }] };
  }

  /** @param {number} place @param {number} end @returns {Known | null} */
  address(place, end) {
    const bare = bareAddress(this.text, place, Math.min(end, this.nextGap(place)));
    if (!bare) return null;
    const behind = place + bare.length;
    return {
      end: behind,
      pieces: [
        { kind: "open", name: "a", href: bare.href, start: place, end: place },
        { kind: "text", start: place, end: behind },
        { kind: "close", name: "a", start: behind, end: behind },
      ],
    };
  }
}
