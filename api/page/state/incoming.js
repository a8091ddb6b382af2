/** Documents on their way into the library: sent in batches, read by jobs of the server, each told of until put away. */

import { orNull, Problem } from "../api/problem.js";
import { followJob } from "../api/upload.js";
import { Cell } from "./cell.js";
import { batchOf, blank, mayRetry, retryJob, sendBatch } from "./incoming_batches.js";
import { describedBy, isNotable, twinsOf } from "./incoming_notes.js";

/** @typedef {import("./incoming_batches.js").Item} Item */
/** @typedef {import("./incoming_batches.js").Parcel} Parcel */

/** `seconds` are those left, where that can be said. @typedef {{items: Item[], done: number, of: number, paused: boolean, seconds: number | null}} Progress */

const BATCHES = 2; // that are sent at a time
const FULL_SECONDS = 5; // to wait where the server takes no more
const SURE_AFTER = { files: 3, seconds: 2 };

/** Sends documents, and remembers each until it is put away. */
export class Incoming {
  /**
   * @param {Client} client
   * @param {() => void} changed Called when a document came in.
   * @param {() => string} into Tells the collection that what is added now goes into; empty for none.
   */
  constructor(client, changed, into = () => "") {
    this.client = client;
    this.changed = changed;
    this.into = into;
    /** @type {Map<number, Item>} */
    this.items = new Map();
    this.progress = new Cell(/** @type {Progress} */ ({ items: [], done: 0, of: 0, paused: false, seconds: null }));
    /** What stops each item that is on its way. @type {Map<number, AbortController>} */
    this.leaving = new Map();
    /** @type {Set<string>} */
    this.jobs = new Set();
    /** Those that were cancelled after their batch had left. @type {Set<number>} */
    this.unwanted = new Set();
    this.sending = 0;
    this.paused = false;
    this.held = false;
    this.telling = false;
    /** When this round began, in milliseconds, and how many had ended then. */
    this.round = { at: 0, done: 0 };
  }

  /** Bring files in. @param {Iterable<File>} files */
  addFiles(files) {
    for (const file of files) this.addFile(file, file.webkitRelativePath);
  }

  /** Bring a file in. @param {File} file @param {string} [path] In the folder that it came from. */
  addFile(file, path) {
    const name = path || file.name;
    this.add(name, { kind: "file", file, path: name, alone: /\.zip$/i.test(name) });
  }

  /** Bring a text in. @param {string} title May be empty: then its first words name it. @param {string} text */
  addText(title, text) {
    this.add(title || text.trim().slice(0, 60), { kind: "text", title, text });
  }

  /** Bring in the page at an address, or the site below it, which is then kept in step. @param {string} url @param {boolean} site */
  addAddress(url, site) {
    this.add(url, { kind: site ? "site" : "page", url });
  }

  /** @param {string} name @param {Parcel} parcel */
  add(name, parcel) {
    if (!this.going().length) this.round = { at: performance.now(), done: this.ended().length };
    this.put({ ...blank(name, parcel), collection: this.into() });
    queueMicrotask(() => this.sendNext());
  }

  /** Take up the jobs that are under way from before, or from elsewhere. */
  async adopt() {
    const found = await orNull(this.client.json("api/jobs?limit=20", { list: "jobs" }));
    for (const job of found?.jobs ?? []) { // whoever may see none has none
      if (["cancelled", "finished"].includes(job.state) || this.jobs.has(job.job_id)) continue;
      this.paused ||= job.state === "paused";
      void this.follow(job, []);
    }
  }

  /** Let nothing more begin, here and on the server. @param {boolean} paused */
  async pause(paused) {
    this.paused = paused;
    this.tell();
    await Promise.allSettled([...this.jobs].map((id) => this.act(id, paused ? "pause" : "resume")));
    this.sendNext();
  }

  /** @param {string} job @param {"pause" | "resume" | "cancel" | "retry"} action */
  async act(job, action) {
    return await this.client.json(`api/jobs/${job}/${action}`, { method: "POST" });
  }

  /** Stop one. @param {number} id */
  cancel(id) {
    const item = this.items.get(id);
    if (!item || item.state === "added" || item.state === "refused") return;
    this.items.delete(id);
    // A batch that is still leaving is called back, and the others of it go again.
    if (!item.jobId) this.leaving.get(id)?.abort();
    else if (this.going().some((other) => other.jobId === item.jobId)) this.unwanted.add(id);
    else void this.act(item.jobId, "cancel").catch(() => undefined);
    this.tell();
    this.sendNext();
  }

  /** Stop all that are not in yet. */
  cancelAll() {
    this.paused = false;
    for (const item of this.going()) this.cancel(item.id);
  }

  /** Send one that was refused again. @param {number} id */
  retry(id) {
    const item = this.items.get(id);
    if (!item || !mayRetry(item)) return;
    if (!item.parcel) return void retryJob(this, item.jobId);
    this.put({ ...item, state: "waiting", share: 0, problem: null, jobId: "" });
    this.sendNext();
  }

  /** Send all again that were refused. */
  retryAll() {
    for (const { id } of this.ended()) this.retry(id);
  }

  /** Put one away that has come to its end. @param {number} id */
  dismiss(id) {
    this.items.delete(id);
    this.tell();
  }

  /** Put all away that have come to their end; with `told` only those of which nothing is to be said. @param {boolean} [told] */
  dismissEnded(told = false) {
    for (const item of this.ended()) if (!told || !isNotable(item)) this.items.delete(item.id);
    this.tell();
  }

  going = () => [...this.items.values()].filter(({ state }) => state !== "added" && state !== "refused");
  ended = () => [...this.items.values()].filter(({ state }) => state === "added" || state === "refused");

  sendNext() {
    while (!this.paused && !this.held && this.sending < BATCHES) {
      const batch = batchOf([...this.items.values()].filter(({ state }) => state === "waiting"));
      if (!batch.length) return;
      void this.send(batch);
    }
  }

  /** @param {Item[]} batch */
  async send(batch) {
    const leaving = new AbortController();
    for (const item of batch) {
      this.leaving.set(item.id, leaving);
      this.put({ ...item, state: "sending" });
    }
    this.sending += 1;
    /** @type {Wire.Job | null} */
    let job = null;
    try {
      job = await sendBatch(this, batch, leaving.signal);
    } catch (error) {
      if (leaving.signal.aborted) this.change(batch, { state: "waiting", share: 0 });
      else if (error instanceof Problem) this.fail(batch, error);
      else throw error;
    } finally {
      this.sending -= 1;
      this.sendNext(); // while the server reads
    }
    if (job) await this.follow(job, batch.map(({ id }) => id));
  }

  /** @param {Item[]} batch @param {Problem} problem */
  fail(batch, problem) {
    if (problem.status === 413 && batch.length > 1) {
      for (const { parcel } of batch) if (parcel?.kind === "file") parcel.alone = true;
    } else if (problem.status !== 429) return this.change(batch, { state: "refused", problem });
    else this.hold(problem.after || FULL_SECONDS);
    this.change(batch, { state: "waiting", share: 0 });
  }

  /** Send nothing for a while. @param {number} seconds */
  hold(seconds) {
    this.held = true;
    setTimeout(() => {
      this.held = false;
      this.sendNext();
    }, seconds * 1000);
  }

  /**
   * Follow a job; the files of an archive, and those that were sent elsewhere, become items of their own.
   * @param {Wire.Job} job
   * @param {number[]} ids The items that its files are, in their order.
   */
  async follow(job, ids) {
    const { job_id: jobId } = job;
    this.jobs.add(jobId);
    this.change(ids.flatMap((id) => this.items.get(id) ?? []), { jobId, state: "reading" });
    const own = ids.length === job.files ? ids : [];
    const collection = this.items.get(ids[0] ?? 0)?.collection ?? "";
    try {
      if (this.paused) await this.act(jobId, "pause");
      for await (const { files } of followJob(this.client, jobId, new AbortController().signal)) {
        for (const [at, file] of files.entries()) {
          own[at] ??= this.put({ ...blank(file.name, null), jobId, collection, state: "reading" });
          this.take(own[at] ?? 0, file);
        }
        if (own !== ids) for (const id of ids) this.items.delete(id);
        this.tell();
      }
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      this.change(ids.flatMap((id) => this.items.get(id) ?? []), { state: "refused", problem: error });
    } finally {
      this.jobs.delete(jobId);
    }
    await this.compare(own);
  }

  /** Take note of what has become of a file. @param {number} id @param {Wire.JobFile} file */
  take(id, file) {
    const item = this.items.get(id);
    if (file.ingested) return this.end(id, file.ingested);
    if (item?.state !== "reading") return;
    if (file.state === "cancelled") this.items.delete(id);
    if (file.state !== "refused" || !file.problem) return;
    const { code, message, suggestion } = file.problem;
    this.put({ ...item, state: "refused", problem: new Problem(code, message, { suggestion }) });
  }

  /** @param {number} id @param {Wire.Ingested} ingested */
  end(id, ingested) {
    const item = this.items.get(id);
    if (this.unwanted.delete(id)) {
      // It was cancelled when it could not be called back any more; what was there before stays.
      if (ingested.status === "created") void this.client.deleteDocuments([ingested.document_id]).catch(() => undefined);
    } else if (item && item.state !== "added") {
      this.put({ ...item, state: "added", documentId: ingested.document_id, notes: describedBy(ingested) });
      const json = { add: [ingested.document_id] };
      if (!item.collection) return this.changed();
      void orNull(this.client.json(`api/collections/${item.collection}`, { method: "PATCH", json })).then(this.changed);
    }
  }

  /** Say of which there are others of the same name. @param {number[]} ids */
  async compare(ids) {
    const added = ids.flatMap((id) => this.items.get(id) ?? []).filter(({ state, notes }) => state === "added" && !notes.length);
    for (const [id, twin] of await twinsOf(this.client, added)) {
      const item = this.items.get(id);
      if (item) this.put({ ...item, notes: [...item.notes, twin] });
    }
  }

  /** @param {Item} item */
  put(item) {
    this.items.set(item.id, item);
    this.tell();
    return item.id;
  }

  /** Change those that were not put away meanwhile. @param {Item[]} items @param {Partial<Item>} fields */
  change(items, fields) {
    for (const { id } of items) {
      const item = this.items.get(id);
      if (item) this.put({ ...item, ...fields });
    }
  }

  /** Tell how far all are, once for all that has changed at the same time. */
  tell() {
    if (this.telling) return;
    this.telling = true;
    queueMicrotask(() => {
      this.telling = false;
      const items = [...this.items.values()];
      const done = this.ended().length;
      this.progress.set({ items, done, of: items.length, paused: this.paused, seconds: this.left(done, items.length) });
    });
  }

  /** @param {number} done @param {number} of */
  left(done, of) {
    const since = done - this.round.done;
    const seconds = (performance.now() - this.round.at) / 1000;
    if (this.paused || done === of || since < SURE_AFTER.files || seconds < SURE_AFTER.seconds) return null;
    return ((of - done) * seconds) / since;
  }
}
