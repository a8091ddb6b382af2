/** What of PDF.js the viewer uses, as one file; its worker and the data that it reads stand beside it. */

export { AnnotationMode, getDocument, OPS, PDFDataRangeTransport, PDFWorker, TextLayer } from "pdfjs-dist/legacy/build/pdf.mjs";

/** The address of the folder that this file is served from. */
export const folder = new URL(".", import.meta.url).href;
