/** What in a passage answers best, and where that stands in the Markdown that shows the passage. */

import { codePointIndex } from "./offsets.js";

/** @typedef {{start: number, end: number}} Span */
/** What of a citation says what it quotes. @typedef {{start: number, quote: string, highlight?: Span, highlights?: Span[]}} Quoted */

const LETTER = /[\p{L}\p{M}\p{N}]/u;
const FENCE = /^[ \t]*(?:`{3,}|~{3,}).*$/gm; // names a language at most

/** Divide a quote at what in it answers best; all of it is, where no more is known. @param {Quoted} quoted */
export function highlighted({ start, quote, highlight }) {
  const unit = codePointIndex(quote);
  const [from, to] = highlight ? [unit(highlight.start - start), unit(highlight.end - start)] : [0, quote.length];
  return { before: quote.slice(0, from), best: quote.slice(from, to), after: quote.slice(to), from, to };
}

/**
 * Find in a Markdown text what a quote's highlight says: by its letters and digits, for signs and spaces differ.
 * @param {string} text
 * @param {string} quote
 * @param {Span} highlight In code points of the quote.
 * @returns {Span | null} In code points of the text; null where that is not sure, or where it is all of the quote.
 */
export function highlightIn(text, quote, highlight) {
  const [shown, said] = [lettersOf(text.replace(FENCE, (fence) => " ".repeat([...fence].length))), lettersOf(quote)];
  const [first, last] = [unitAt(said, highlight.start), unitAt(said, highlight.end)];
  const wanted = said.letters.slice(first, last);
  if (!wanted || wanted === said.letters) return null;
  const whole = shown.letters.lastIndexOf(said.letters);
  const at = whole < 0 ? shown.letters.indexOf(wanted) : whole + first;
  if (at < 0 || (whole < 0 && at !== shown.letters.lastIndexOf(wanted))) return null;
  const [points, quoted] = [[...text], [...quote]];
  const found = { start: placeIn(shown, at), end: placeIn(shown, at + wanted.length - 1) + 1 };
  for (const sign of quoted.slice(highlight.start, placeIn(said, first)).reverse()) {
    if (points[found.start - 1] !== sign) break;
    found.start -= points[found.start - 2] === "\\" ? 2 : 1;
  }
  for (const sign of quoted.slice(placeIn(said, last - 1) + 1, highlight.end)) {
    const escape = points[found.end] === "\\" ? 1 : 0;
    if (points[found.end + escape] !== sign) break;
    found.end += escape + 1;
  }
  return found;
}

/** Give the letters of a text, and for each unit of UTF-16 in them the code point that it is of. @param {string} text */
function lettersOf(text) {
  /** @type {number[]} */
  const places = [];
  let letters = "";
  [...text].forEach((point, at) => {
    if (!LETTER.test(point)) return;
    letters += point;
    for (let unit = 0; unit < point.length; unit += 1) places.push(at);
  });
  return { letters, places };
}

/** @param {ReturnType<typeof lettersOf>} text @param {number} offset In code points. */
function unitAt({ places }, offset) {
  const found = places.findIndex((place) => place >= offset);
  return found < 0 ? places.length : found;
}

/** @param {ReturnType<typeof lettersOf>} text @param {number} unit */
function placeIn({ places }, unit) {
  return /** @type {number} */ (places[unit]);
}
