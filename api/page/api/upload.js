/** Sending a file, with its progress: `fetch` does not tell how much of a body has left, XMLHttpRequest does. */

import { Problem, bodyOf, problemOf } from "./client.js";

/**
 * Send a document as a form.
 * @param {import("./client.js").Client} client
 * @param {FormData} form
 * @param {{signal: AbortSignal, onSent: (share: number) => void}} options `onSent` is told what share of it has left.
 * @returns {Promise<import("./types.js").Ingested | import("./types.js").IngestedArchive>}
 * @throws {Problem}
 */
export async function sendDocument(client, form, { signal, onSent }) {
  const request = new XMLHttpRequest();
  request.open("POST", client.url("api/documents"));
  for (const [name, value] of Object.entries(client.credentials())) request.setRequestHeader(name, value);
  request.upload.addEventListener("progress", ({ lengthComputable, loaded, total }) => {
    if (lengthComputable && total) onSent(loaded / total);
  });
  request.upload.addEventListener("load", () => onSent(1));
  signal.addEventListener("abort", () => request.abort());
  await new Promise((resolve) => {
    request.addEventListener("loadend", resolve);
    request.send(form);
  });
  signal.throwIfAborted();
  if (!request.status) throw new Problem("unreachable", "", { retryable: true });
  const response = new Response(request.responseText, { status: request.status, statusText: request.statusText });
  if (response.status === 401) client.onRefused?.();
  if (!response.ok) throw await problemOf(response);
  const reply = await bodyOf(response);
  return response.status === 202 ? stored(client, reply.job_id, signal) : reply;
}

const LOOK_MILLISECONDS = 1000;

/**
 * Wait for the end of a job of one file, which a document becomes that takes long. Who stops waiting cancels it.
 * @param {import("./client.js").Client} client
 * @param {string} job
 * @param {AbortSignal} signal
 * @returns {Promise<import("./types.js").Ingested>}
 */
async function stored(client, job, signal) {
  signal.addEventListener("abort", () => client.send(`api/jobs/${job}/cancel`, { method: "POST" }).catch(() => {}));
  for (;;) {
    const [file] = (await client.json(`api/jobs/${job}`, { signal })).files;
    if (file.ingested) return file.ingested;
    if (file.problem && file.state === "refused") {
      throw new Problem(file.problem.code, file.problem.message, { suggestion: file.problem.suggestion });
    }
    if (file.state === "cancelled") throw new Problem("cancelled", "Its job was cancelled.");
    await new Promise((resolve) => setTimeout(resolve, LOOK_MILLISECONDS));
    signal.throwIfAborted();
  }
}
