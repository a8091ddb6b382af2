/** What the next question is asked with: the selected pages, a marked passage, and where to look. */

import { Problem } from "../api/client.js";
import { Cell } from "./cell.js";

/** @typedef {import("../api/types.js").Session} Session */
/** `gone` where it can't be read any more; the title is empty until it is known.
 * @typedef {{document_id: string, title: string, gone: boolean}} SelectedPage */
/** @typedef {{text: string, title: string}} Passage */
/**
 * @typedef {object} Options
 * @property {boolean} library Whether the library is searched.
 * @property {boolean} web Whether the web is asked where the library has nothing.
 * @property {boolean} only Whether the selected pages alone may answer.
 * @property {string} model Its name, or nothing for the deployment's own.
 * @property {boolean} thinking
 */

export const MOST_PAGES = 100; // that a question may name
/** @type {Options} */
const USUAL = { library: true, web: false, only: false, model: "", thinking: false };
const KEPT = "citewell.options";

/** Holds what is selected, and saves the pages with their session. */
export class Selection {
  /** @param {import("../api/client.js").Client} client */
  constructor(client) {
    this.client = client;
    /** @type {Cell<SelectedPage[]>} */
    this.pages = new Cell(/** @type {SelectedPage[]} */ ([]));
    /** @type {Cell<Passage | null>} */
    this.passage = new Cell(/** @type {Passage | null} */ (null));
    /** @type {Cell<Options>} */
    this.options = new Cell(kept());
    this.options.watch((options) => localStorage.setItem(KEPT, JSON.stringify(options)));
    /** Whether a search outside of the library is set up, as far as it is known. */
    this.webOffered = new Cell(true);
    /** The models there are, the deployment's own first. @type {import("../api/types.js").Model[]} */
    this.models = [];
    /** The session whose pages these are; null for one that is yet to begin. @type {string | null} */
    this.sessionId = null;
    /** What the session is known to be saved with. @type {SelectedPage[]} */
    this.saved = [];
    /** @type {Promise<unknown>} */
    this.saving = Promise.resolve();
    this.saves = 0;
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
    const same = begun && String(ids) === String(this.pages.value.map((page) => page.document_id));
    if (!same) this.pages.set(ids.map((document_id) => ({ document_id, title: "", gone: false })));
    this.saved = this.pages.value;
    if (!same) await this.check();
  }

  /** Look again what the selected pages are called, and which of them are gone. */
  async check() {
    const ids = this.pages.value.map((page) => page.document_id);
    const found = await Promise.allSettled(ids.map((id) => this.client.document(id)));
    const known = new Map(ids.map((id, at) => [id, found[at]]));
    this.pages.update((pages) => {
      const looked = pages.map((page) => toldBy(known.get(page.document_id), page));
      return looked.some((page, at) => page !== pages[at]) ? looked : pages;
    });
  }

  /** Tell whether a page is selected. @param {string} documentId */
  has(documentId) {
    return this.pages.value.some((page) => page.document_id === documentId);
  }

  /** Tell whether no further page can be selected. */
  get full() {
    return this.pages.value.length >= MOST_PAGES;
  }

  /** @param {{document_id: string, title: string}} page */
  async add({ document_id, title }) {
    if (this.has(document_id) || this.full) return;
    await this.save([...this.pages.value, { document_id, title, gone: false }]);
  }

  /** @param {string} documentId */
  async remove(documentId) {
    if (this.has(documentId)) await this.save(this.pages.value.filter((page) => page.document_id !== documentId));
  }

  /**
   * Select these pages, and save them with the session. Where they can't be saved, those that were come back.
   * @param {SelectedPage[]} pages
   * @throws {Problem}
   */
  async save(pages) {
    const turn = (this.saves += 1);
    this.pages.set(pages);
    const { sessionId } = this;
    if (!sessionId) return;
    // One after the other: a change that overtook an earlier one would be undone by it.
    const write = this.saving.then(() => this.write(sessionId, pages, turn));
    this.saving = write.catch(() => undefined);
    await write;
  }

  /** @param {string} sessionId @param {SelectedPage[]} pages @param {number} turn */
  async write(sessionId, pages, turn) {
    try {
      await this.client.changeSession(sessionId, { page_ids: pages.map((page) => page.document_id) });
      if (sessionId === this.sessionId) this.saved = pages;
    } catch (error) {
      // A later change, which has all of this one, may yet be saved.
      if (sessionId === this.sessionId && turn === this.saves) this.pages.set(this.saved);
      throw error;
    }
  }

  /** Change some options. @param {Partial<Options>} options */
  choose(options) {
    this.options.update((before) => ({ ...before, ...options }));
  }

  /** Take note of the models there are; a choice of one that is no more is dropped. @param {import("../api/types.js").Model[]} models */
  offer(models) {
    this.models = models;
    const { model } = this.options.value;
    if (models.length && model && !models.some((each) => each.id === model)) this.choose({ model: "" });
  }

  /** Tell whether the model that answers can think. */
  get thinks() {
    const { model } = this.options.value;
    const answering = model ? this.models.find((each) => each.id === model) : this.models[0];
    return answering?.thinking ?? false;
  }

  /** Tell whether there is anything that alone may answer. */
  get limitable() {
    return this.passage.value !== null || this.pages.value.some((page) => !page.gone);
  }

  /** Tell whether the selection alone may answer: neither the rest of the library nor the web is asked then. */
  get limited() {
    return this.options.value.only && this.limitable;
  }

  /**
   * Give the fields that a question is asked with.
   * @returns {import("../api/types.js").Ask}
   */
  fields() {
    const { library, web, model, thinking } = this.options.value;
    const { limited } = this;
    const page_ids = this.pages.value.filter((page) => !page.gone).map((page) => page.document_id);
    return {
      page_ids,
      only_selected_pages: limited,
      search: limited || library ? "auto" : "off",
      // "fallback" asks the web only where the pages and the library had nothing.
      web: limited || !web || !this.webOffered.value ? "off" : library ? "fallback" : "also",
      ...(this.passage.value ? { selected_text: this.passage.value.text } : {}),
      ...(model ? { model } : {}),
      ...(thinking && this.thinks ? { thinking } : {}),
    };
  }
}

/**
 * @param {PromiseSettledResult<import("../api/types.js").Document> | undefined} result
 * @param {SelectedPage} page
 * @returns {SelectedPage}
 */
function toldBy(result, page) {
  if (!result) return page;
  if (result.status === "fulfilled") {
    const { title } = result.value;
    return page.title === title && !page.gone ? page : { ...page, title, gone: false };
  }
  const gone = result.reason instanceof Problem && result.reason.status === 404;
  return gone && !page.gone ? { ...page, gone } : page;
}

/** Read the options that were kept; what is not one of ours, or not of its kind, counts as never kept. @returns {Options} */
function kept() {
  /** @type {Record<string, unknown>} */
  let found = {};
  try {
    found = Object(JSON.parse(localStorage.getItem(KEPT) ?? "{}"));
  } catch {
    // As if nothing had been kept.
  }
  const ours = Object.entries(USUAL).filter(([name, usual]) => typeof found[name] === typeof usual);
  return { ...USUAL, ...Object.fromEntries(ours.map(([name]) => [name, found[name]])) };
}
