/** The library as a list of any length: the rows that are wanted are read, in the order and of the kinds chosen. */

import { query } from "../api/client.js";
import { orNull, Problem } from "../api/problem.js";
import { Cell } from "./cell.js";
import { MOST_TICKED } from "./selection.js";

/** @typedef {"changed" | "title" | "name" | "type"} Sort */
/** What is looked for, narrowed to, and how it is ordered; an empty text narrows nothing, a null folder neither.
 * @typedef {{query: string, sort: Sort, type: string, folder: string | null, source: string, collection: string, grouped: boolean}} View */
/** A row: the head of a folder, a document, or one that is still being read.
 * @typedef {{folder: string, documents: number} | {document: Wire.Document} | null} Row */
/** How many rows there are; `known` once they were counted. `turn` grows with whatever makes them others.
 * @typedef {{rows: number, total: number, known: boolean, problem: Problem | null, turn: number}} Extent */
/** @typedef {{folder: string, documents: number, row: number}} Group */

const PAGE = 100; // documents that are asked for at a time
const MOST_AT_A_TIME = 100; // more would hold up the page while they are taken in
export const MOST_GROUPS = 1000; // folders that are told apart
const TEXTS = { top_k: 10, min_score: 0.3 };
/** @type {View} */
const ALL = { query: "", sort: "changed", type: "", folder: null, source: "", collection: "", grouped: false };

/** Lists, searches, deletes and brings back documents. */
export class Shelf {
  /** @param {Client} client @param {() => void} changed Called when a document came or went by what was done here. */
  constructor(client, changed) {
    this.client = client;
    this.changed = changed;
    this.view = new Cell(ALL);
    this.extent = new Cell(/** @type {Extent} */ ({ rows: 0, total: 0, known: false, problem: null, turn: 0 }));
    /** The whole library's types, folders and sources, to choose from. */
    this.summary = new Cell(/** @type {Wire.LibrarySummary | null} */ (null));
    /** What the texts say where something is looked for. */
    this.texts = new Cell(/** @type {Source[]} */ ([]));
    /** @type {Map<number, Wire.Document[]>} The pages that were read, by their number. */
    this.pages = new Map();
    /** @type {Set<number>} */
    this.asked = new Set();
    /** @type {Group[]} */
    this.groups = [];
    this.turn = 0;
  }

  /** Look for, narrow or order otherwise. @param {Partial<View>} change */
  async look(change) {
    this.view.update((view) => ({ ...view, ...change }));
    await this.read(false);
  }

  /** Read anew what is on show, which stays until then. */
  async refresh() {
    await Promise.all([this.read(true), this.summarise()]);
  }

  async summarise() {
    const summary = await orNull(this.client.summary({ lasting: true })); // the list tells what is wrong
    if (summary) this.summary.set(summary);
  }

  /** What the list is asked for with. */
  get asked_for() {
    const { query, type, folder, source, collection } = this.view.value;
    const narrowed = { q: query || null, media_type: type || null, source: source || null, collection: collection || null };
    return { lasting: true, folder, ...narrowed };
  }

  /** In which order. @returns {{sort: string, order: "asc" | "desc"}} */
  get order() {
    const { sort, grouped } = this.view.value;
    return grouped ? { sort: "folder", order: "asc" } : { sort, order: sort === "changed" ? "desc" : "asc" };
  }

  /** Begin again: the first page, how many there are, and where folders begin. @param {boolean} same Whether of the same view. */
  async read(same) {
    const turn = (this.turn += 1);
    const { query, grouped } = this.view.value;
    this.asked = new Set([0]);
    if (!same) this.texts.set([]);
    const searching = query ? this.readTexts(turn) : null;
    try {
      const [first, found] = await Promise.all([
        this.client.documents({ ...this.asked_for, ...this.order, limit: PAGE, count: true }),
        grouped ? this.client.summary(this.asked_for) : null,
      ]);
      if (turn !== this.turn) return;
      const total = first.total ?? first.documents.length;
      // What is read again page by page is shown as it was until then, so that nothing flickers.
      if (!same) this.pages.clear();
      this.pages.set(0, first.documents);
      this.groups = found && found.folder_count <= MOST_GROUPS ? placed(found.folders) : [];
      this.extent.set({ rows: total + this.groups.length, total, known: true, problem: null, turn });
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (turn === this.turn) this.extent.update((extent) => ({ ...extent, problem: error, turn }));
    }
    await searching;
  }

  /** @param {number} turn */
  async readTexts(turn) {
    const found = await orNull(this.client.json(`api/search?${query({ q: this.view.value.query, ...TEXTS })}`, { list: "results" })); // names are found without it
    if (!found || turn !== this.turn) return;
    const best = new Map(found.results.toReversed().map((source) => [source.document_id, source]));
    this.texts.set([...best.values()].toReversed());
  }

  /** Give a row. @param {number} at @returns {Row} */
  row(at) {
    const group = this.groupOf(at);
    if (group && group.row === at) return group;
    const place = group ? at - 1 - this.groups.indexOf(group) : at;
    const document = this.pages.get(Math.floor(place / PAGE))?.[place % PAGE];
    return document ? { document } : null;
  }

  /** Find the folder that a row is in. @param {number} at */
  groupOf(at) {
    return this.groups.findLast(({ row }) => row <= at) ?? null;
  }

  /** Read the rows of a stretch that are not there yet. @param {number} from @param {number} to Exclusive. */
  want(from, to) {
    const last = Math.floor(Math.max(0, to - 1) / PAGE);
    for (let page = this.pageOf(from); page <= last; page += 1) {
      if (page * PAGE >= this.extent.value.total || this.asked.has(page)) continue;
      this.asked.add(page);
      void this.readPage(page, this.turn);
    }
  }

  /** @param {number} row */
  pageOf(row) {
    const group = this.groupOf(row);
    return Math.floor(Math.max(0, row - (group ? this.groups.indexOf(group) + 1 : 0)) / PAGE);
  }

  /** @param {number} page @param {number} turn */
  async readPage(page, turn) {
    const asked = { ...this.asked_for, ...this.order, limit: PAGE, offset: page * PAGE };
    try {
      const { documents } = await this.client.documents(asked);
      if (turn !== this.turn) return;
      this.pages.set(page, documents);
      this.extent.update((extent) => ({ ...extent, problem: null }));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (turn !== this.turn) return;
      this.asked.delete(page);
      this.extent.update((extent) => ({ ...extent, problem: error }));
    }
  }

  /**
   * Give all documents that the view shows, or those of one of its folders; as many as can be ticked.
   * @param {string} [folder]
   * @throws {Problem}
   */
  async all(folder) {
    const asked = { ...this.asked_for, ...this.order, ...(folder === undefined ? {} : { folder }), limit: MOST_AT_A_TIME };
    /** @type {Wire.Document[]} */
    const found = [];
    while (found.length <= MOST_TICKED) {
      const { documents } = await this.client.documents({ ...asked, offset: found.length });
      found.push(...documents);
      if (documents.length < MOST_AT_A_TIME) break;
      await new Promise(requestAnimationFrame); // the page is drawn between two of them
    }
    return found;
  }

  /** Delete documents. @param {string[]} ids @returns {Promise<string[]>} Those that were. @throws {Problem} */
  async delete(ids) {
    const gone = await this.client.deleteDocuments(ids);
    this.changed();
    await this.refresh();
    return gone;
  }

  /** Bring deleted documents back. @param {string[]} ids @returns {Promise<string[]>} Those that are. @throws {Problem} */
  async restore(ids) {
    const asked = { method: "POST", json: { document_ids: ids } };
    const { restored } = await this.client.json("api/deletions/undo", { ...asked, list: "restored" });
    this.changed();
    await this.refresh();
    return restored;
  }
}

/** Tell in which row each folder begins. @param {{folder: string, documents: number}[]} folders @returns {Group[]} */
function placed(folders) {
  let row = 0;
  return folders.map(({ folder, documents }) => {
    const group = { folder, documents, row };
    row += 1 + documents;
    return group;
  });
}
