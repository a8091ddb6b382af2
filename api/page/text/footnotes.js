/** An answer as Markdown, each claim with footnotes that quote what proves it. */

import { words } from "../words/index.js";
import { landing, safeAddress } from "./addresses.js";
import { addressOfQuote } from "./deep_links.js";
import { gradeOf, markOf } from "./grades.js";
import { highlighted } from "./highlighted.js";
import { codePointIndex } from "./offsets.js";
import { placeOf } from "./places.js";
import { continues } from "./runs.js";

/**
 * Write an answer as Markdown with footnotes.
 * @param {{sections: {text: string, claims: Claim[] | null, grounded?: boolean}[], sources: Source[]}} answer
 * @param {string} home The address below which this server's documents are.
 */
export function footnoted({ sections, sources }, home) {
  /** @type {Map<string, number>} */
  const numbers = new Map();
  /** @type {string[]} */
  const notes = [];

  /** @param {Citation} citation */
  function numberOf(citation) {
    const key = `${citation.document_id} ${citation.start} ${citation.end}`;
    const known = numbers.get(key);
    if (known) return known;
    numbers.set(key, numbers.size + 1);
    notes.push(`[^${numbers.size}]: ${note(citation, sources, home)}`);
    return numbers.size;
  }

  /** @param {Claim} claim */
  function marksOf(claim) {
    const marked = markOf(claim) === "shown" ? claim.citations : [];
    const cited = [...new Set(marked.map(numberOf))].map((number) => `[^${number}]`).join("");
    return claim.verdict === "supported" ? cited : `${cited} (${words.run.told.verdicts[gradeOf(claim)]})`;
  }

  const paragraphs = sections.filter(({ text }) => text).flatMap(({ text, claims, grounded }, index, shown) => {
    const begins = grounded === false && shown[index - 1]?.grounded !== false;
    return [...(begins ? [`*${words.answer.ungrounded}*`] : []), marked(text, claims ?? [], marksOf)];
  });
  return [...paragraphs, ...(notes.length ? [notes.join("\n")] : [])].join("\n\n") + "\n";
}

const FENCE = /^([ \t]*)(?:`{3,}|~{3,})$/;

/**
 * Put marks behind the end of each claim, of several that share a quote behind the last, and below quoted code.
 * @param {string} text
 * @param {Claim[]} claims
 * @param {(claim: Claim) => string} marksOf
 */
function marked(text, claims, marksOf) {
  const index = codePointIndex(text);
  let written = "";
  let at = 0;
  const ordered = [...claims].sort((one, other) => one.end - other.end);
  ordered.forEach((claim, place) => {
    if (continues(claim, ordered[place + 1])) return;
    const end = Math.max(at, index(claim.end));
    const fence = FENCE.exec(text.slice(text.lastIndexOf("\n", end - 1) + 1, end));
    const marks = marksOf(claim);
    const below = /^\n[^\n]/.test(text.slice(end, end + 2)) ? "\n" : "";
    written += prose(text.slice(at, end)) + (fence && marks ? `\n${fence[1]}${marks}${below}` : marks);
    at = end;
  });
  return written + prose(text.slice(at));
}

/**
 * Keep what was written as Markdown, but for what would be a footnote or an element of HTML; code stays as it is.
 * @param {string} text
 */
function prose(text) {
  const parts = text.split(/(```[\s\S]*?```|`[^`\n]*`)/);
  const escaped = (/** @type {string} */ part) =>
    part.replace(/(\\*)(\[\^|<(?=[a-z/!?]))/gi, (whole, before, sign) => (before.length % 2 ? whole : `${before}\\${sign}`));
  return parts.map((part, at) => (at % 2 ? part : escaped(part))).join("");
}

/** @param {Citation} citation @param {Source[]} sources @param {string} home */
function note(citation, sources, home) {
  const source =
    sources.find((each) => each.segment_id === citation.segment_id) ??
    sources.find((each) => each.index === citation.source_index);
  const heading = citation.heading_path ?? (source?.heading ?? "").split(" > ");
  const path = [source?.title ?? "", ...(heading[0] === source?.title ? heading.slice(1) : heading)].filter((part) => part.trim()).map(plain).join(" › ");
  const address = addressOf(source?.url, citation, home);
  const place = [path, plain(placeOf(placeNow(citation))), `<${address}>`];
  return `"${plain(highlighted(citation).best)}" — ${place.filter((part) => part).join(", ")}`;
}

/** Give where a quote stands now: which cell a moved one is in is not known. @param {Citation} citation */
function placeNow({ page_idx, slide, sheet, cell, page_label, now }) {
  if (!now) return { page_idx, slide, sheet, cell, page_label };
  return { page_idx: now.page_idx, slide: slide === undefined ? slide : (now.page_idx ?? slide), sheet };
}

/** Write a text on one line, so that nothing in it means anything in Markdown. @param {string} text */
function plain(text) {
  return text.replace(/\s+/gu, " ").trim().replace(/[\\`*_[\]<>|~&$]/g, "\\$&");
}

/** @param {string | null | undefined} url @param {Citation} citation @param {string} home */
function addressOf(url, citation, home) {
  const original = landing(safeAddress(url ?? ""), citation.anchor).replace(/[<>\s]/g, encodeURIComponent);
  return original || new URL(addressOfQuote({ ...citation, start: (citation.now ?? citation).start }), home).href;
}
