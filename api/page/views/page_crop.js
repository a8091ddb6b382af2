/** A part of a page of a PDF file as it is printed there, with a quote marked on it. */

import { h } from "../dom.js";
import { AnnotationMode } from "../vendor/pdf/pdf.js";
import { openPdf } from "./pdf_file.js";

const KEPT = 3; // files that stay open
const AROUND = 12; // points beside the column of a quote
const [LEAST, LARGEST] = [0.75, 1.5]; // pixels to a point: what is smaller can't be read
const FINE = 1.5; // pixels of the screen to one of the layout, with which half of that can be read too
const MARK = "#ffe98a"; // a page is white in both themes

const open = /** @type {Map<string, {file: Promise<PdfDocument | null>, use: AbortController}>} */ (new Map());

/**
 * Draw the part of a page where a quote stands over its text, if it can be read there.
 * @param {Client} client
 * @param {string} documentId
 * @param {Wire.PlaceBox[]} boxes At least one.
 * @param {HTMLElement} element
 */
export async function drawCrop(client, documentId, boxes, element) {
  const [first] = boxes;
  const file = await fileOf(client, documentId);
  if (!file || !first) return;
  const page = await file.getPage(first.page_idx + 1);
  const own = boxes.filter((box) => box.page_idx === first.page_idx);
  const [left, right] = [Math.min(...own.map((box) => box.left)) - AROUND, Math.max(...own.map((box) => box.right)) + AROUND];
  const [width, height, fine] = [element.clientWidth, element.clientHeight, devicePixelRatio];
  const fits = width / (right - left);
  if (fits < (fine < FINE ? LEAST : LEAST / 2)) return;
  const scale = Math.min(LARGEST, fits) * fine;
  const [x, y] = [left, Math.max(0, (first.top + first.bottom) / 2 - (height * fine) / scale / 2)];
  const size = { width: Math.ceil(width * fine), height: Math.ceil(height * fine) };
  const canvas = h("canvas", { class: "crop", ...size, "aria-hidden": "true" });
  const viewport = page.getViewport({ scale, offsetX: -x * scale, offsetY: -y * scale });
  await page.render({ canvas, viewport, annotationMode: AnnotationMode.ENABLE, background: "#ffffff" }).promise;
  const context = canvas.getContext("2d");
  if (!context) return;
  context.globalCompositeOperation = "multiply";
  context.fillStyle = MARK;
  context.setTransform(scale, 0, 0, scale, -x * scale, -y * scale);
  for (const box of own) context.fillRect(box.left, box.top, box.right - box.left, box.bottom - box.top);
  element.append(canvas);
}

/** @param {Client} client @param {string} id */
function fileOf(client, id) {
  const known = open.get(id) ?? opened(client, id);
  open.delete(id);
  open.set(id, known);
  for (const [old, { use }] of [...open].slice(0, -KEPT)) {
    use.abort();
    open.delete(old);
  }
  return known.file;
}

/** @param {Client} client @param {string} id */
function opened(client, id) {
  const use = new AbortController();
  const { signal } = use;
  const forget = () => open.delete(id);
  const file = client.document(id).then((document) => document.original && openPdf(client, document, signal, forget));
  file.catch(forget);
  return { file, use };
}
