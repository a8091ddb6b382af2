/** Where in its original a source or a quote stands, in the reader's words. */

/**
 * @typedef {object} PlaceWords
 * @property {(number: number | string) => string} page Writes a page's number, counted from 1, or the file's name for it.
 * @property {(number: number) => string} slide Writes a slide's number, counted from 1.
 * @property {(name: string) => string} sheet Writes the name of a sheet, with the cell where it is known.
 */

/**
 * Say the slide of a presentation, the sheet and cell of a workbook, or else the page, where there is one.
 * @param {{page_idx: number | null, slide?: number, sheet?: string, cell?: string, page_label?: string}} entry
 * @param {PlaceWords} words
 */
export function placeOf({ page_idx: page, slide, sheet, cell, page_label: label }, words) {
  if (slide !== undefined) return words.slide(slide + 1);
  if (sheet !== undefined) return words.sheet([sheet, cell].filter((part) => part).join(", "));
  return page === null ? "" : words.page(label || page + 1);
}

/**
 * Say which part of a document has the number of a page in its canonical text.
 * @param {string} mediaType
 * @returns {"slide" | "sheet" | "page"}
 */
export function partOf(mediaType) {
  if (/presentation|powerpoint/.test(mediaType)) return "slide";
  return /spreadsheet|excel/.test(mediaType) ? "sheet" : "page";
}
