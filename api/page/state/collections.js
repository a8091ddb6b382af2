/** The collections that one sees: sets of documents with a name, to be asked alone. */

import { orNull } from "../api/problem.js";
import { Cell } from "./cell.js";

/** @typedef {Wire.Collection} Collection */
/** @typedef {{name?: string, shared?: boolean, add?: string[], remove?: string[]}} Change */

/** @type {WeakMap<App, Collections>} */
const known = new WeakMap();

/** Give those of the page. @param {App} app */
export function collectionsOf(app) {
  const found = known.get(app) ?? new Collections(app);
  known.set(app, found);
  return found;
}

/** Lists, makes, changes and deletes collections. */
export class Collections {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.list = new Cell(/** @type {Collection[]} */ ([]));
    /** Those that are out of sight, and can yet be had back. @type {Set<string>} */
    this.leaving = new Set();
  }

  /** Read them anew; where they can't be had they are as they were. */
  async refresh() {
    const found = await orNull(this.app.client.json("api/collections", { list: "collections" }));
    if (found) this.list.set(found.collections.filter((each) => !this.leaving.has(each.collection_id)));
  }

  /** @param {string} name @param {boolean} shared @param {string[]} document_ids @returns {Promise<Collection>} @throws {Problem} */
  async make(name, shared, document_ids) {
    return await this.done(this.app.client.json("api/collections", { method: "POST", json: { name, shared, document_ids } }));
  }

  /** @param {string} id @param {Change} json @returns {Promise<Collection>} @throws {Problem} */
  async change(id, json) {
    return await this.done(this.app.client.json(`api/collections/${id}`, { method: "PATCH", json }));
  }

  /** Take one out of sight, to be deleted when `ended` is called or the page is left, if it is not `undone` before. @param {string} id */
  takeAway(id) {
    const back = async () => {
      if (this.leaving.delete(id)) await this.refresh();
    };
    const deleted = () => this.done(this.app.client.delete(`api/collections/${id}`));
    const ended = () => {
      removeEventListener("pagehide", ended);
      if (this.leaving.has(id)) void this.app.attempt(deleted).then(back);
    };
    this.leaving.add(id);
    this.list.update((all) => all.filter((each) => each.collection_id !== id));
    addEventListener("pagehide", ended);
    return { ended, undone: back };
  }

  /** @template T @param {Promise<T>} doing */
  async done(doing) {
    const made = await doing;
    await Promise.all([this.refresh(), this.app.selection.checkCollections()]);
    this.app.libraryChanged();
    return made;
  }
}
