/** The collections that one sees: sets of documents with a name, to be asked alone. */

import { orNull } from "../api/problem.js";
import { Cell } from "./cell.js";

/** @typedef {import("../api/types.js").Collection} Collection */
/** @typedef {{name?: string, shared?: boolean, add?: string[], remove?: string[]}} Change */

const MOST = 1000; // documents of one, and of a request
const AT_A_TIME = 200;

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
  }

  /** Read them anew; where they can't be had they are as they were. */
  async refresh() {
    const found = await orNull(this.app.client.json("api/collections", { list: "collections" }));
    if (found) this.list.set(found.collections);
  }

  /** @param {string} name @param {boolean} shared @param {string[]} document_ids @returns {Promise<Collection>} @throws {Problem} */
  async make(name, shared, document_ids) {
    return await this.done(this.app.client.json("api/collections", { method: "POST", json: { name, shared, document_ids } }));
  }

  /** @param {string} id @param {Change} json @returns {Promise<Collection>} @throws {Problem} */
  async change(id, json) {
    return await this.done(this.app.client.json(`api/collections/${id}`, { method: "PATCH", json }));
  }

  /** Delete one, and give what brings it back. @param {Collection} collection @throws {Problem} */
  async delete({ collection_id, name, shared }) {
    const { client } = this.app;
    /** @type {string[]} */
    const ids = [];
    for (let more = AT_A_TIME; more === AT_A_TIME && ids.length < MOST; ) {
      const { documents } = await client.documents({ collection: collection_id, limit: AT_A_TIME, offset: ids.length });
      ids.push(...documents.map((each) => each.document_id));
      more = documents.length;
    }
    await this.done(client.send(`api/collections/${collection_id}`, { method: "DELETE" }));
    return () => this.make(name, shared, ids);
  }

  /** @template T @param {Promise<T>} doing @returns {Promise<T>} */
  async done(doing) {
    const made = await doing;
    await Promise.all([this.refresh(), this.app.selection.checkCollections()]);
    this.app.libraryChanged();
    return made;
  }
}
