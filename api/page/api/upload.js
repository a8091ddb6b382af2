/** Sending files, with their progress, and following the jobs that they become. */

import { Problem, bodyOf, problemOf } from "./problem.js";
import { framesOf } from "./frames.js";
import { openStream } from "./streams.js";

/** A job with its files. @typedef {Required<Wire.JobDetail>} JobDetail */

const FILES_AT_A_TIME = 1000;
const AGAIN_MILLISECONDS = 1000; // after a connection to a job was lost

/**
 * Send a form that becomes a job. `fetch` does not tell how much of a body has left, XMLHttpRequest does.
 * @param {Client} client
 * @param {string} path
 * @param {FormData} form
 * @param {{signal: AbortSignal, onSent: (share: number) => void}} options `onSent` is told what share of it has left.
 * @returns {Promise<Wire.Job>}
 * @throws {Problem}
 */
export async function sendForm(client, path, form, { signal, onSent }) {
  const request = new XMLHttpRequest();
  request.open("POST", client.url(path));
  const headers = { ...client.credentials(), Prefer: "respond-async" };
  for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
  request.upload.addEventListener("progress", ({ lengthComputable, loaded, total }) => {
    if (lengthComputable && total) onSent(loaded / total);
  });
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
  return await bodyOf(response);
}

/**
 * Read a job with all of its files.
 * @param {Client} client
 * @param {string} id
 * @param {import("./streams.js").Opened["silence"]} silence Each reply puts it off.
 * @returns {Promise<JobDetail>}
 */
async function readJob(client, id, { signal, postpone }) {
  /** @type {JobDetail["files"]} */
  const files = [];
  for (let after = -1; ; ) {
    const page = await client.json(`api/jobs/${id}?limit=${FILES_AT_A_TIME}&after=${after}`, { list: "files", signal });
    postpone();
    files.push(...page.files);
    if (typeof page.next_after !== "number") return { ...page, files };
    after = page.next_after;
  }
}

/**
 * Follow a job up to its end: give it, with its files, whenever it has changed.
 * @param {Client} client
 * @param {string} id
 * @param {AbortSignal} signal
 * @returns {AsyncGenerator<JobDetail, void, void>}
 * @throws {Problem} Where it is not there, or can't be read for good.
 */
export async function* followJob(client, id, signal) {
  for (;;) {
    /** @type {import("./streams.js").Opened | null} */
    let opened = null;
    try {
      opened = await openStream(client, `api/jobs/${id}/events`, {}, signal);
      const { response: { body }, silence } = opened;
      for await (const frame of body ? framesOf(body, silence.postpone) : []) {
        if (frame.event !== "progress" && frame.event !== "end") continue;
        yield await readJob(client, id, silence);
        if (frame.event === "end") return;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof Problem && !error.retryable) throw error;
    } finally {
      opened?.silence.stop();
    }
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MILLISECONDS));
    if (signal.aborted) return;
  }
}
