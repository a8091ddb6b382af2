/** What the next question is asked with: ticked documents and collections, a marked passage, and where to look. */

import { orNull } from "../api/problem.js";
import { Cell } from "./cell.js";

/** `gone` where it can't be read any more; the title is empty and the tokens are none until they are known.
 * @typedef {{document_id: string, title: string, tokens: number, gone: boolean}} SelectedPage */
/** @typedef {{collection_id: string, name: string, gone: boolean}} SelectedCollection */
/** @typedef {{text: string, title: string}} Passage */
/** @typedef {typeof USUAL} Options */

export const MOST_TICKED = 1000; // that a question may name
const LOOKED_UP = 100; // at a time
const USUAL = {
  web: false, // whether the web is asked where the library has nothing
  model: "", // its name, or nothing for the deployment's own
  thinking: false,
};
const KEPT = "citewell.options";
export const EXTRACTIVE = "extractive"; // how the service names what quotes without a model

/** Holds what is ticked, and saves it with its session. */
export class Selection {
  /** @param {Client} client */
  constructor(client) {
    this.client = client;
    this.pages = new Cell(/** @type {SelectedPage[]} */ ([]));
    this.collections = new Cell(/** @type {SelectedCollection[]} */ ([]));
    this.passage = new Cell(/** @type {Passage | null} */ (null));
    this.options = new Cell(/** @type {Options} */ ({ ...USUAL, ...JSON.parse(localStorage.getItem(KEPT) ?? "{}") }));
    this.options.watch((options) => localStorage.setItem(KEPT, JSON.stringify(options)));
    /** Whether a search outside of the library is set up, as far as it is known. */
    this.webOffered = new Cell(true);
    /** The models there are, the deployment's own first. @type {Wire.Model[]} */
    this.models = [];
    /** The session whose pages these are; null for one that is yet to begin. @type {string | null} */
    this.sessionId = null;
    /** What the session is known to be saved with. */
    this.saved = { pages: this.pages.value, collections: this.collections.value };
    /** @type {Promise<unknown>} */
    this.saving = Promise.resolve();
    this.saves = 0;
    /** The ids of the pages, which are looked up for every row that is drawn. @type {Set<string>} */
    this.ticked = new Set();
    this.pages.watch((pages) => (this.ticked = new Set(pages.map((page) => page.document_id))));
  }

  /**
   * Select what a session was saved with. One that has just begun with these very pages takes them over as they are.
   * @param {Session | null} session
   */
  async restore(session) {
    const sessionId = session?.session_id ?? null;
    if (sessionId === this.sessionId && sessionId) return;
    const begun = this.sessionId === null;
    this.sessionId = sessionId;
    const ids = session?.page_ids ?? [];
    const collections = session?.collection_ids ?? [];
    const now = this.ids();
    const same = begun && String(ids) === String(now.page_ids) && String(collections) === String(now.collection_ids);
    if (!same) {
      this.pages.set(ids.map((document_id) => ({ document_id, title: "", tokens: 0, gone: false })));
      this.collections.set(collections.map((collection_id) => ({ collection_id, name: "", gone: false })));
    }
    this.saved = { pages: this.pages.value, collections: this.collections.value };
    if (!same) await this.check();
  }

  /** Look again what is ticked is called, and what of it is gone. */
  async check() {
    await Promise.all([this.checkPages(), this.checkCollections()]);
  }

  async checkCollections() {
    if (!this.collections.value.length) return;
    const found = await orNull(this.client.json("api/collections", { list: "collections" }));
    if (!found) return; // they are as they were
    const names = new Map(found.collections.map(({ collection_id, name }) => [collection_id, name]));
    this.collections.update((chosen) => chosen.map((each) => {
      const name = names.get(each.collection_id);
      return { ...each, name: name ?? each.name, gone: name === undefined };
    }));
  }

  async checkPages() {
    const ids = this.pages.value.map((page) => page.document_id);
    /** @type {Map<string, Wire.Document | null>} */
    const known = new Map();
    for (let at = 0; at < ids.length; at += LOOKED_UP) {
      const document_id = ids.slice(at, at + LOOKED_UP);
      const found = await orNull(this.client.documents({ document_id, limit: LOOKED_UP }));
      if (!found) continue; // they are as they were
      for (const id of document_id) known.set(id, null);
      for (const document of found.documents) known.set(document.document_id, document);
    }
    this.pages.update((pages) => {
      const looked = pages.map((page) => toldBy(known.get(page.document_id), page));
      return looked.some((page, at) => page !== pages[at]) ? looked : pages;
    });
  }

  /** Tell whether a document is ticked. @param {string} documentId */
  has(documentId) {
    return this.ticked.has(documentId);
  }

  /** Give what a session is saved with. */
  ids(pages = this.pages.value, collections = this.collections.value) {
    return {
      page_ids: pages.map((page) => page.document_id),
      collection_ids: collections.map((each) => each.collection_id),
    };
  }

  /** Tick a collection, or take its tick away. @param {{collection_id: string, name: string}} collection @param {boolean} ticked */
  async tickCollection({ collection_id, name }, ticked) {
    const others = this.collections.value.filter((each) => each.collection_id !== collection_id);
    await this.save(this.pages.value, ticked ? [...others, { collection_id, name, gone: false }] : others);
  }

  /** Tick a document. @param {{document_id: string, title: string, tokens?: number}} document */
  async add(document) {
    await this.addAll([document]);
  }

  /**
   * Tick documents, as many as a question may name.
   * @param {{document_id: string, title: string, tokens?: number}[]} documents
   * @returns {Promise<boolean>} Whether there was room for all.
   */
  async addAll(documents) {
    const others = documents.filter((each) => !this.has(each.document_id));
    const room = others.slice(0, Math.max(0, MOST_TICKED - this.pages.value.length));
    const more = room.map(({ document_id, title, tokens = 0 }) => ({ document_id, title, tokens, gone: false }));
    if (more.length) await this.save([...this.pages.value, ...more]);
    return room.length === others.length;
  }

  /** Take the ticks of documents away. @param {...string} documentIds */
  async remove(...documentIds) {
    const those = new Set(documentIds);
    const left = this.pages.value.filter((page) => !those.has(page.document_id));
    if (left.length < this.pages.value.length) await this.save(left);
  }

  /**
   * Select these, and save them with the session. Where they can't be saved, those that were come back.
   * @param {SelectedPage[]} pages
   * @param {SelectedCollection[]} [collections]
   * @throws {Problem}
   */
  async save(pages, collections = this.collections.value) {
    const turn = (this.saves += 1);
    this.pages.set(pages);
    this.collections.set(collections);
    const { sessionId } = this;
    if (!sessionId) return;
    // One after the other: a change that overtook an earlier one would be undone by it.
    const write = this.saving.then(() => this.write(sessionId, { pages, collections }, turn));
    this.saving = write.catch(() => undefined);
    await write;
  }

  /** @param {string} sessionId @param {{pages: SelectedPage[], collections: SelectedCollection[]}} chosen @param {number} turn */
  async write(sessionId, chosen, turn) {
    if (sessionId === this.sessionId && turn !== this.saves) return; // the next one has all of this one
    try {
      await this.client.changeSession(sessionId, this.ids(chosen.pages, chosen.collections));
      if (sessionId === this.sessionId) this.saved = chosen;
    } catch (error) {
      // A later change, which has all of this one, may yet be saved.
      if (sessionId === this.sessionId && turn === this.saves) {
        this.pages.set(this.saved.pages);
        this.collections.set(this.saved.collections);
      }
      throw error;
    }
  }

  /** Change some options. @param {Partial<Options>} options */
  choose(options) {
    this.options.update((before) => ({ ...before, ...options }));
  }

  /** Take note of the models there are; a choice of one that is no more is dropped. @param {Wire.Model[]} models */
  offer(models) {
    this.models = models;
    const { model } = this.options.value;
    if (models.length && model && !models.some((each) => each.id === model)) this.choose({ model: "" });
  }

  /** Give the model that answers, as far as it is known. */
  get answering() {
    const { model } = this.options.value;
    return model ? this.models.find((each) => each.id === model) : this.models[0];
  }

  /** Tell whether the model that answers can think. */
  get thinks() {
    return this.answering?.thinking ?? false;
  }

  /** Tell whether a model answers, or documents are only quoted. */
  get writes() {
    return (this.answering?.id ?? EXTRACTIVE) !== EXTRACTIVE;
  }

  /** Tell whether what is ticked alone answers: neither the rest of the library nor the web is asked then. */
  get limited() {
    return this.pages.value.length + this.collections.value.length > 0;
  }

  /** Tell whether all that is ticked is gone: nothing answers then, until the ticks are taken away. */
  get lost() {
    return this.limited && [...this.pages.value, ...this.collections.value].every((each) => each.gone);
  }

  /** Give the fields that a question is asked with. @returns {NewRun} */
  fields() {
    const { web, model, thinking } = this.options.value;
    const { limited } = this;
    const there = (/** @type {{gone: boolean}} */ each) => !each.gone;
    return {
      ...this.ids(this.pages.value.filter(there), this.collections.value.filter(there)),
      only_selected_pages: limited,
      search: "auto",
      // "fallback" asks the web only where the library had nothing.
      web: limited || !web || !this.webOffered.value ? "off" : "fallback",
      ...(this.passage.value ? { selected_text: this.passage.value.text } : {}),
      ...(model ? { model } : {}),
      ...(thinking && this.thinks ? { thinking } : {}),
    };
  }
}

/**
 * @param {Wire.Document | null | undefined} found Nothing where it could not be looked up.
 * @param {SelectedPage} page
 */
function toldBy(found, page) {
  if (found === undefined) return page;
  if (found === null) return page.gone ? page : { ...page, gone: true };
  const { title, tokens } = found;
  return page.title === title && page.tokens === tokens && !page.gone ? page : { ...page, title, tokens, gone: false };
}
