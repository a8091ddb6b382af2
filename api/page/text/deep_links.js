/** Addresses of quotes in this page: which document, from where to where, and by what a changed text is told. */

import { codePointIndex } from "./offsets.js";

/**
 * What an address names of a document: a quote by its offsets in code points, or a segment, or nothing of it.
 * @typedef {object} Linked
 * @property {string} documentId
 * @property {number} start
 * @property {number} end No greater than `start` where no quote is named.
 * @property {number | null} check The checksum of the quote's words, where the address has one.
 * @property {number | null} segment
 */

const DOCUMENT = /^#(?:\/sessions\/[0-9a-f-]{36})?\/documents\/([0-9a-f-]{36})(?:\?(.*))?$/i;
const QUOTE = /^(\d{1,9})-(\d{1,9})$/;

const NONE = -1; // a checksum that no text has

/** Read the address of a document. @param {string} hash @returns {Linked | null} */
export function linkedBy(hash) {
  const found = DOCUMENT.exec(hash);
  if (!found) return null;
  const named = new URLSearchParams(found[2]);
  const [, start, end] = QUOTE.exec(named.get("quote") ?? "") ?? [];
  const check = named.get("check");
  const segment = /^\d{1,9}$/.exec(named.get("segment") ?? "");
  return {
    documentId: /** @type {string} */ (found[1]).toLowerCase(),
    start: Number(start ?? 0),
    end: Number(end ?? 0),
    check: check === null ? null : /^[0-9a-f]{1,8}$/i.test(check) ? parseInt(check, 16) : NONE,
    segment: segment && Number(segment[0]),
  };
}

/** Read the token of a signed link, which opens its document without credentials. @param {string} hash */
export function tokenIn(hash) {
  return /^#\/links\/([\w.-]{20,200})$/.exec(hash)?.[1] ?? null;
}

/** Write the address of a quote. @param {Pick<Citation, "document_id" | "start" | "quote">} citation */
export function addressOfQuote({ document_id: id, start, quote }) {
  const end = start + [...quote].length;
  return `#/documents/${id}?quote=${start}-${end}&check=${checksum(quote).toString(16)}`;
}

/** Write the address of what is read: a document at a quote or a segment, or all of it. @param {Reading} reading */
export function addressOfReading({ documentId, citations, at }) {
  const citation = citations[at];
  return citation ? addressOfQuote({ ...citation, start: (citation.now ?? citation).start }) : `#/documents/${documentId}`;
}

/**
 * Give what an address names as a citation, for it is shown as one.
 * @param {Linked} linked
 * @param {Wire.RawText} raw
 * @returns {Citation | "changed" | null} Null where it names the document alone, "changed" where the quote is another.
 */
export function citationOf({ start, end, check, segment }, raw) {
  const named = raw.segments.find((each) => each.segment_index === segment);
  if (end <= start) return named ? cited(raw, named.start, named.end, named.text, named.segment_index, true) : null;
  const text = raw.segments.map((each) => each.text).join("");
  const unit = codePointIndex(text);
  const quote = text.slice(unit(start), unit(end));
  if (!quote || (check !== null && checksum(quote) !== check)) return "changed";
  const index = raw.segments.find((each) => start < each.end)?.segment_index ?? 0;
  return cited(raw, start, end, quote, index, false);
}

/**
 * @param {Wire.RawText} raw @param {number} start @param {number} end @param {string} quote
 * @param {number} index Of its segment.
 * @param {boolean} whole Whether it is a segment rather than a quote.
 * @returns {Citation}
 */
function cited({ document_id }, start, end, quote, index, whole) {
  return {
    segment_id: `${document_id}:${index}`,
    document_id,
    segment_index: index,
    page_idx: null,
    start,
    end,
    quote,
    origin: "cited",
    verdict: "unverified",
    source_index: 0,
    section_index: whole ? -1 : 0,
  };
}

/** Sum up a text, as the server does for its links: CRC-32 of its UTF-8. @param {string} text */
export function checksum(text) {
  let sum = 0xffffffff;
  for (const byte of new TextEncoder().encode(text)) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit += 1) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return (sum ^ 0xffffffff) >>> 0;
}
