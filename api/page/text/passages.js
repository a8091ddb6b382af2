/** Where the quotes of citations stand in the text of a document today. */

import { highlighted } from "./highlighted.js";
import { codePointIndex } from "./offsets.js";

/** A stretch of one segment: its place in the list of segments, and from where to where in UTF-16.
 * @typedef {{segment: number, from: number, to: number}} Part */
/** "here" at the offsets that the citation gives, "moved" elsewhere, "changed" nowhere, "gone" with its document.
 * @typedef {"here" | "moved" | "changed" | "gone"} Standing */
/**
 * @typedef {object} Passage
 * @property {string} quote
 * @property {Standing} standing
 * @property {Part[]} parts More than one where the quote runs on into further segments; none where it stands nowhere.
 * @property {Part[]} best Those of the entry in it that bears the claim, where the quote is a passage of several.
 * @property {boolean} whole Whether it is a whole source rather than a quote.
 * @property {number[]} citations Places of those that give this passage, in the list of citations.
 */

const CUT = "...";
const GONE = { parts: [], standing: /** @type {const} */ ("gone") };

/**
 * Find the passages that citations give, in the order in which they stand; those that stand nowhere come last.
 * @param {Wire.RawSegment[] | null} segments Null where the document is gone.
 * @param {Citation[]} citations
 * @returns {Passage[]}
 */
export function passagesOf(segments, citations) {
  /** @type {Map<string, Passage & {order: number}>} */
  const passages = new Map();
  citations.forEach((citation, index) => {
    const { parts, standing } = segments ? locate(segments, citation) : GONE;
    const [first] = parts;
    const key = first ? `${first.segment}:${first.from}:${citation.quote}` : citation.quote;
    const known = passages.get(key);
    if (known) return void known.citations.push(index);
    const order = first ? (segments?.[first.segment]?.start ?? 0) + first.from : Infinity;
    const whole = citation.section_index < 0;
    passages.set(key, { quote: citation.quote, standing, parts, best: bestOf(citation, parts), whole, citations: [index], order });
  });
  return [...passages.values()].sort((one, other) => (one.order === other.order ? 0 : one.order - other.order));
}

/**
 * Find a citation's quote: at its offsets, if the text there is the quote, or else where it is nearest to them. What is
 * of no section points to a whole source, whose quote is an excerpt.
 * @param {Wire.RawSegment[]} segments
 * @param {Citation} citation
 * @returns {{parts: Part[], standing: Standing}}
 */
function locate(segments, citation) {
  const { start, end } = citation.now ?? citation;
  const parts = partsBetween(segments, start, end);
  const text = textOf(segments, parts);
  const same = text === citation.quote || (citation.section_index < 0 && isExcerpt(citation.quote, text));
  if (same) return { parts, standing: start === citation.start ? "here" : "moved" };
  const nearest = partsOfNearest(segments, citation.quote, start);
  return nearest.length ? { parts: nearest, standing: "moved" } : { parts: [], standing: "changed" };
}

/** Give the parts of a quote's highlight, where it is not all of the quote. @param {Citation} citation @param {Part[]} parts */
function bestOf(citation, parts) {
  const best = highlighted(citation);
  if (!(best.before + best.after).trim()) return [];
  let said = 0;
  return parts.flatMap(({ segment, from, to }) => {
    const own = { segment, from: Math.max(from, from + best.from - said), to: Math.min(to, from + best.to - said) };
    said += to - from;
    return own.from < own.to ? [own] : [];
  });
}

/**
 * Tell whether a source of this text is shown by this excerpt: its white space evened out, and cut where it is long.
 * @param {string} excerpt
 * @param {string} text
 */
function isExcerpt(excerpt, text) {
  const even = text.trim().replace(/\s+/g, " ");
  return excerpt === even || (excerpt.endsWith(CUT) && even.startsWith(excerpt.slice(0, -CUT.length)));
}

/**
 * @param {Wire.RawSegment[]} segments
 * @param {number} start In code points of the whole text, as is `end`.
 * @param {number} end
 */
function partsBetween(segments, start, end) {
  return segments.flatMap((segment, at) => {
    if (segment.end <= start || segment.start >= end) return [];
    const unit = codePointIndex(segment.text);
    const part = { segment: at, from: unit(start - segment.start), to: unit(end - segment.start) };
    return part.from < part.to ? [part] : [];
  });
}

/** @param {Wire.RawSegment[]} segments @param {string} quote @param {number} start */
function partsOfNearest(segments, quote, start) {
  const text = segments.map((segment) => segment.text).join("");
  const wanted = codePointIndex(text)(start);
  const found = [text.lastIndexOf(quote, wanted), text.indexOf(quote, wanted)].filter((at) => at >= 0);
  const [nearest] = found.sort((one, other) => Math.abs(one - wanted) - Math.abs(other - wanted));
  if (nearest === undefined) return [];
  let before = 0;
  return segments.flatMap((segment, at) => {
    const from = Math.max(nearest - before, 0);
    const to = Math.min(nearest + quote.length - before, segment.text.length);
    before += segment.text.length;
    return from < to ? [{ segment: at, from, to }] : [];
  });
}

/** @param {Wire.RawSegment[]} segments @param {Part[]} parts */
function textOf(segments, parts) {
  return parts.map(({ segment, from, to }) => segments[segment]?.text.slice(from, to) ?? "").join("");
}
