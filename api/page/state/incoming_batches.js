/** What is sent into the library at a time, and how: small files together, all else by itself. */

import { bodyOf, orNull, Problem } from "../api/problem.js";
import { sendForm } from "../api/upload.js";

/** @typedef {import("./incoming_notes.js").Note} Note */
/** `reading`: it has left, and is being read. @typedef {"waiting" | "sending" | "reading" | "added" | "refused"} State */
/** What an item sends; nothing for one that another tab has sent. `made`: the site's source was not there before.
 * @typedef {{kind: "file", file: File, path: string, alone: boolean} | {kind: "text", title: string, text: string}
 *   | {kind: "page", url: string} | {kind: "site", url: string, made?: boolean}} Parcel */
/** @typedef {ReturnType<typeof blank>} Item */

const BATCH_FILES = 20;
const BATCH_BYTES = 4_000_000;
const CREATED = 201;
const LOOK_MILLISECONDS = 1000; // between two looks at a site that is read
const FOR_GOOD = new Set(["unreadable_document", "document_too_expensive", "invalid_request", "not_permitted", "request_too_large"]);
let last = 0;

/** Tell whether another try may help: the file itself is as it was. @param {Item} item */
export function mayRetry({ state, problem }) {
  return state === "refused" && (problem?.retryable || !FOR_GOOD.has(problem?.code ?? ""));
}

/** Make an item that waits. @param {string} name @param {Parcel | null} parcel */
export function blank(name, parcel) {
  last += 1;
  return {
    id: last,
    name,
    state: /** @type {State} */ ("waiting"),
    share: 0, // how much of it has left, in [0, 1]
    documentId: "", // where it is in the library
    notes: /** @type {Note[]} */ ([]), // what is to be said of it though it is in
    problem: /** @type {Problem | null} */ (null), // why it was refused
    parcel,
    jobId: "",
    collection: "", // that it goes into; empty for none
  };
}

/** Take the first that wait: files together as long as they are small, all else by itself. @param {Item[]} waiting */
export function batchOf(waiting) {
  /** @type {Item[]} */
  const batch = [];
  let bytes = 0;
  for (const item of waiting) {
    const small = item.parcel?.kind === "file" && !item.parcel.alone;
    if (batch.length && !small) break;
    bytes += item.parcel?.kind === "file" ? item.parcel.file.size : 0;
    if (batch.length && (bytes > BATCH_BYTES || batch.length >= BATCH_FILES)) break;
    batch.push(item);
    if (!small) break;
  }
  return batch;
}

/**
 * Send a batch, and give the job that it becomes; of a page or a site, which become none, wait for the end.
 * @param {import("./incoming.js").Incoming} incoming
 * @param {Item[]} batch
 * @param {AbortSignal} signal
 * @returns {Promise<Wire.Job | null>}
 * @throws {Problem}
 */
export async function sendBatch(incoming, batch, signal) {
  const [first] = /** @type {[Item]} */ (batch);
  const { parcel } = first;
  if (parcel?.kind === "page") {
    incoming.change(batch, { state: "reading" });
    const json = { url: parcel.url };
    incoming.end(first.id, await incoming.client.json("api/documents", { method: "POST", json, signal }));
    return null;
  }
  if (parcel?.kind === "site") return await readSite(incoming, first, parcel, signal);
  const form = new FormData();
  if (parcel?.kind === "text") {
    form.set("text", parcel.text);
    if (parcel.title) form.set("title", parcel.title);
  }
  for (const { parcel: each } of batch) if (each?.kind === "file") form.append("file", each.file, each.path);
  const alone = parcel?.kind === "text" || (parcel?.kind === "file" && parcel.alone);
  const onSent = (/** @type {number} */ share) => incoming.change(batch, share < 1 ? { share } : { share, state: "reading" });
  return await sendForm(incoming.client, alone ? "api/documents" : "api/jobs", form, { signal, onSent });
}

/**
 * Read a site, which is kept up to date from then on; one that is cancelled meanwhile goes, with what came of it.
 * @param {import("./incoming.js").Incoming} incoming
 * @param {Item} item
 * @param {Parcel & {kind: "site"}} parcel
 * @param {AbortSignal} signal
 */
async function readSite(incoming, item, parcel, signal) {
  const { client } = incoming;
  incoming.change([item], { state: "reading" });
  const json = { kind: "site", location: parcel.url, extent: "site" };
  // This is not called back: a source that nobody knows the id of could not be deleted.
  const reply = await client.send("api/sources", { method: "POST", json });
  parcel.made ||= reply.status === CREATED;
  const path = `api/sources/${(await bodyOf(reply)).source_id}`;
  /** @type {(value?: unknown) => void} */
  let lookNow = () => undefined;
  signal.addEventListener("abort", () => lookNow());
  try {
    signal.throwIfAborted();
    await client.send(`${path}/sync`, { method: "POST", signal });
    for (;;) {
      await new Promise((resolve) => {
        lookNow = resolve;
        setTimeout(resolve, LOOK_MILLISECONDS);
      });
      const { syncing, documents, report } = await client.json(path, { signal });
      if (syncing) continue;
      if (report?.problem) throw new Problem(report.problem.code, report.problem.message, report.problem);
      if (!documents) throw new Problem("site_empty", "");
      incoming.change([item], { state: "added", notes: [{ kind: "site", count: documents }] });
      incoming.changed();
      return null;
    }
  } finally {
    if (signal.aborted && parcel.made) {
      await orNull(client.send(`${path}?documents=delete`, { method: "DELETE" }));
      incoming.changed();
    }
  }
}

/** Let a job try again what it refused; its files become items anew. @param {import("./incoming.js").Incoming} incoming @param {string} id */
export async function retryJob(incoming, id) {
  if (incoming.jobs.has(id)) return;
  incoming.jobs.add(id); // it is asked once, for all files of it
  const ended = () => incoming.ended().filter(({ jobId }) => jobId === id);
  try {
    const job = await incoming.act(id, "retry");
    for (const item of ended()) incoming.items.delete(item.id);
    await incoming.follow(job, []);
  } catch (problem) {
    incoming.jobs.delete(id);
    if (!(problem instanceof Problem)) throw problem;
    incoming.change(ended().filter((item) => mayRetry(item)), { problem });
  }
}
