/** The library as it is looked through: documents by their title, and what their texts say. */

import { Problem } from "../api/client.js";
import { Cell } from "./cell.js";

/** @typedef {import("../api/types.js").Document} Document */
/** @typedef {import("../api/types.js").Source} Source */
/**
 * A part of what was asked for: what has come of it, what more there is, and what went wrong.
 * @template Item
 * @typedef {{items: Item[], cursor: string | null, loading: boolean, problem: Problem | null}} Part
 */

/** Lists, searches and deletes documents. */
export class Library {
  /**
   * @param {import("../api/client.js").Client} client
   * @param {() => void} changed Called when a document came or went by what was done here.
   */
  constructor(client, changed) {
    this.client = client;
    this.changed = changed;
    /** What is looked for; everything is listed where it is empty. */
    this.query = "";
    /** @type {Cell<Part<Document>>} */
    this.documents = new Cell(/** @type {Part<Document>} */ (nothing()));
    /** What the texts say, the best of each document; null where nothing is looked for. @type {Cell<Part<Source> | null>} */
    this.texts = new Cell(/** @type {Part<Source> | null} */ (null));
    this.turn = 0;
  }

  /** Look for words in titles and texts, or list everything. @param {string} query */
  async look(query) {
    const turn = (this.turn += 1);
    const other = query !== this.query;
    this.query = query;
    this.documents.update((part) => ({ ...(other ? nothing() : part), loading: true, problem: null }));
    this.texts.set(query ? { ...((!other && this.texts.value) || nothing()), loading: true, problem: null } : null);
    await Promise.all([this.readTitles(turn), query ? this.readTexts(turn) : null]);
  }

  /** Read anew what is on show. */
  async refresh() {
    await this.look(this.query);
  }

  /** Read the documents that follow those on show. */
  async more() {
    const { cursor, loading } = this.documents.value;
    if (!cursor || loading) return;
    this.documents.update((part) => ({ ...part, loading: true, problem: null }));
    await this.readTitles(this.turn, cursor);
  }

  /** @param {string} documentId @throws {Problem} */
  async delete(documentId) {
    try {
      await this.client.deleteDocument(documentId);
    } catch (error) {
      // Somebody else was faster.
      if (!(error instanceof Problem && error.status === 404)) throw error;
    }
    this.documents.update((part) => ({ ...part, items: part.items.filter((each) => each.document_id !== documentId) }));
    this.texts.update((part) => part && { ...part, items: part.items.filter((each) => each.document_id !== documentId) });
    this.changed();
  }

  /** @param {number} turn @param {string} [cursor] */
  async readTitles(turn, cursor) {
    await this.fill(this.documents, turn, async () => {
      const page = await this.client.documents({ title: this.query || undefined, cursor });
      const before = cursor ? this.documents.value.items : [];
      const known = new Set(before.map((document) => document.document_id));
      const items = [...before, ...page.documents.filter((document) => !known.has(document.document_id))];
      return { items, cursor: page.next_cursor };
    });
  }

  /** @param {number} turn */
  async readTexts(turn) {
    await this.fill(this.texts, turn, async () => {
      const { results } = await this.client.search(this.query);
      const first = new Map(results.toReversed().map((source) => [source.document_id, source]));
      return { items: [...first.values()].toReversed(), cursor: null };
    });
  }

  /**
   * Put into a cell what is read, unless something else was asked for meanwhile.
   * @template Item
   * @param {Cell<Part<Item>> | Cell<Part<Item> | null>} cell
   * @param {number} turn
   * @param {() => Promise<{items: Item[], cursor: string | null}>} read
   */
  async fill(cell, turn, read) {
    /** @type {Part<Item>} */
    let part;
    try {
      part = { ...(await read()), loading: false, problem: null };
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      part = { ...(cell.value ?? nothing()), loading: false, problem: error };
    }
    if (turn === this.turn) cell.set(part);
  }
}

/** @returns {Part<never>} */
function nothing() {
  return { items: [], cursor: null, loading: false, problem: null };
}
