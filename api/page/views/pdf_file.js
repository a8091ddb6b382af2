/**
 * A PDF file that is read by PDF.js as far as it is looked at: in ranges, in a worker, with nothing of it run.
 *
 * PDF.js draws and gives text. Of what else a file may hold nothing is used: neither its scripts nor its links, forms
 * or files within.
 */

import { h } from "../dom.js";
import { AnnotationMode, folder, getDocument, PDFDataRangeTransport, PDFWorker } from "../vendor/pdf/pdf.js";

const CHUNK = 2 ** 18; // bytes of a request; as the server stores them
const MOST_PIXELS = 2 ** 26; // of a picture within a file
const WORKER = new URL("worker.js", folder).href;

/** One policy of Trusted Types, which knows one address: a worker can't be started by a string otherwise. */
const policy = /** @type {{trustedTypes?: {createPolicy: (name: string, rules: object) => {createScriptURL: (url: string) => string}}}} */ (
  /** @type {unknown} */ (globalThis)
).trustedTypes?.createPolicy("pdf-worker", {
  createScriptURL(/** @type {string} */ url) {
    if (url !== WORKER) throw new TypeError("Only the worker of PDF.js may be started.");
    return url;
  },
});

let worker = /** @type {PDFWorker | null} */ (null);
const KEPT = 3; // files that stay open
const AROUND = 12; // points beside the column of a quote
const [LEAST, LARGEST] = [0.75, 1.5]; // pixels to a point: what is smaller can't be read
const FINE = 1.5; // pixels of the screen to one of the layout, with which half of that can be read too
const MARK = "#ffe98a"; // a page is white in both themes
const open = /** @type {Map<string, {file: Promise<PdfDocument | null>, use: AbortController}>} */ (new Map());

/** Give the worker that all files share. */
function shared() {
  worker ??= new PDFWorker({ port: new Worker(policy?.createScriptURL(WORKER) ?? WORKER, { type: "module" }), verbosity: 0 });
  return worker;
}

/** Starts the worker before the first file is there, for that takes its time. */
export function prepare() {
  shared();
}

/**
 * Open the original of a document.
 * @param {Client} client
 * @param {Wire.Document} document
 * @param {AbortSignal} signal Ends its use.
 * @param {(error: unknown) => void} onFailed Called where bytes could not be had, however late.
 * @returns {Promise<PdfDocument>}
 */
export async function openPdf(client, { document_id: id, original }, signal, onFailed) {
  const size = original?.size ?? 0;
  const range = new PDFDataRangeTransport(size, null);
  /** @param {number} begin @param {number} end Exclusive. */
  async function read(begin, end) {
    const headers = { Range: `bytes=${begin}-${Math.min(end, size) - 1}` };
    const reply = await client.send(`api/documents/${id}/original`, { headers, signal });
    const bytes = new Uint8Array(await reply.arrayBuffer());
    if (!signal.aborted) range.onDataRange(begin, bytes);
  }
  range.requestDataRange = (begin, end) => void read(begin, end).catch((error) => signal.aborted || onFailed(error));
  const loading = getDocument({
    range,
    worker: shared(),
    rangeChunkSize: CHUNK,
    disableAutoFetch: true,
    disableStream: true,
    maxImageSize: MOST_PIXELS,
    useWasm: false, // which the policy does not allow
    cMapUrl: new URL("cmaps/", folder).href,
    standardFontDataUrl: new URL("standard_fonts/", folder).href,
    wasmUrl: new URL("wasm/", folder).href,
    enableXfa: false,
    verbosity: 0,
  });
  signal.addEventListener("abort", () => void loading.destroy());
  return await loading.promise;
}

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
