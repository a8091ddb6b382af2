/**
 * A PDF file that is read by PDF.js as far as it is looked at: in ranges, in a worker, with nothing of it run.
 *
 * PDF.js draws and gives text. Of what else a file may hold nothing is used: neither its scripts nor its links, forms
 * or files within.
 */

import { getDocument, folder, PDFDataRangeTransport, PDFWorker } from "../vendor/pdf/pdf.js";

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
