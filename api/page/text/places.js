/** Where in its original a source or a quote stands, in the reader's words. Its number is a name, which is not grouped. */

import { words } from "../words/index.js";

/**
 * Say the slide of a presentation, the sheet and cell of a workbook, or else the page, where there is one.
 * @param {{page_idx: number | null, slide?: number, sheet?: string, cell?: string, page_label?: string}} entry
 */
export function placeOf({ page_idx: page, slide, sheet, cell, page_label: label }) {
  const { answer } = words;
  if (slide !== undefined) return answer.slide({ number: String(slide + 1) });
  if (sheet !== undefined) return answer.sheet({ name: [sheet, cell].filter((part) => part).join(", ") });
  return page === null ? "" : answer.page({ number: label || String(page + 1) });
}

/** Say which part of a document has the number of a page in its canonical text. @param {string} mediaType */
export function partOf(mediaType) {
  if (/presentation|powerpoint/.test(mediaType)) return "slide";
  return /spreadsheet|excel/.test(mediaType) ? "sheet" : "page";
}
