/** Documents that are being brought in: two at a time, each with what has become of it. */

import { Problem } from "../api/client.js";
import { sendDocument } from "../api/upload.js";
import { Cell } from "./cell.js";

/**
 * @typedef {object} Upload
 * @property {number} id
 * @property {string} name
 * @property {"waiting" | "sending" | "reading" | "added" | "refused"} state `reading`: it has left, and is being read.
 * @property {number} share How much of it has left, in [0, 1].
 * @property {import("../api/types.js").Ingested | null} added
 * @property {import("../api/types.js").IngestedArchive | null} unpacked What has become of an archive's files.
 * @property {Problem | null} problem Why it was refused.
 */
/** What an upload sends. @typedef {{form: FormData, leaving: AbortController}} Parcel */

const AT_ONCE = 2;
let last = 0;

/** Sends documents, and remembers each until it is dismissed. */
export class Uploads {
  /**
   * @param {import("../api/client.js").Client} client
   * @param {() => void} changed Called when a document came in.
   */
  constructor(client, changed) {
    this.client = client;
    this.changed = changed;
    /** @type {Cell<Upload[]>} */
    this.list = new Cell(/** @type {Upload[]} */ ([]));
    /** @type {Map<number, Parcel>} */
    this.parcels = new Map();
  }

  /**
   * Bring files in.
   * @param {Iterable<File>} files
   */
  addFiles(files) {
    for (const file of files) {
      const form = new FormData();
      form.set("file", file);
      this.add(file.name, form);
    }
  }

  /**
   * Bring a text in.
   * @param {string} title May be empty: then the text's first words name it.
   * @param {string} text
   */
  addText(title, text) {
    const form = new FormData();
    form.set("text", text);
    if (title) form.set("title", title);
    this.add(title || text.trim().slice(0, 60), form);
  }

  /** @param {string} name @param {FormData} form */
  add(name, form) {
    const id = (last += 1);
    this.parcels.set(id, { form, leaving: new AbortController() });
    this.list.update((list) => [...list, { id, name, state: "waiting", share: 0, added: null, unpacked: null, problem: null }]);
    this.sendNext();
  }

  /** Tell of something that can't be sent at all. @param {string} name @param {Problem} problem */
  refuse(name, problem) {
    const id = (last += 1);
    this.list.update((list) => [...list, { id, name, state: "refused", share: 0, added: null, unpacked: null, problem }]);
  }

  /** Send one that was refused again. @param {number} id */
  retry(id) {
    this.change(id, { state: "waiting", share: 0, problem: null });
    this.sendNext();
  }

  /** Forget one, and stop it where it is under way. @param {number} id */
  dismiss(id) {
    this.parcels.get(id)?.leaving.abort();
    this.parcels.delete(id);
    this.list.update((list) => list.filter((each) => each.id !== id));
    this.sendNext();
  }

  /** Forget those that are in. */
  dismissAdded() {
    for (const { id, state } of this.list.value) if (state === "added") this.dismiss(id);
  }

  /** Forget those that have come to an end. */
  dismissEnded() {
    for (const { id, state } of this.list.value) if (state === "added" || state === "refused") this.dismiss(id);
  }

  sendNext() {
    const going = this.list.value.filter(({ state }) => state === "sending" || state === "reading").length;
    const waiting = this.list.value.filter(({ state }) => state === "waiting").slice(0, Math.max(0, AT_ONCE - going));
    for (const { id } of waiting) void this.send(id);
  }

  /** @param {number} id */
  async send(id) {
    const parcel = /** @type {Parcel} */ (this.parcels.get(id));
    const { signal } = parcel.leaving;
    this.change(id, { state: "sending" });
    const onSent = (/** @type {number} */ share) => this.change(id, { share, state: share < 1 ? "sending" : "reading" });
    try {
      const reply = await sendDocument(this.client, parcel.form, { signal, onSent });
      const [added, unpacked] = "documents" in reply ? [null, reply] : [reply, null];
      this.change(id, { state: "added", share: 1, added, unpacked });
      this.parcels.delete(id);
      this.changed();
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof Problem)) throw error;
      this.change(id, { state: "refused", problem: error });
    } finally {
      this.sendNext();
    }
  }

  /** @param {number} id @param {Partial<Upload>} fields */
  change(id, fields) {
    this.list.update((list) => list.map((each) => (each.id === id ? { ...each, ...fields } : each)));
  }
}
