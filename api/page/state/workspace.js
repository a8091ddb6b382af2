/** The workspace on show, of those that the server has for this reader; the choice is remembered. */

import { orNull } from "../api/problem.js";
import { Cell } from "./cell.js";

const CHOSEN = "citewell.workspace";

/** @typedef {{names: string[], current: string}} Known The workspaces there are, and the one on show. */

/** Knows and chooses workspaces. A tab keeps its own choice; a new tab begins with the last one of any. */
export class Workspaces {
  /** @param {Client} client */
  constructor(client) {
    this.client = client;
    this.known = new Cell(/** @type {Known} */ ({ names: [], current: "" }));
    client.workspace = sessionStorage.getItem(CHOSEN) ?? localStorage.getItem(CHOSEN) ?? "";
  }

  /** Read which there are. If the remembered one is not there any more, or not for this reader, begin without it. */
  async read() {
    const found = await orNull(this.client.workspaces());
    if (!found) return; // whatever else is asked of the server tells what is wrong
    const names = found.workspaces.map(({ name }) => name);
    if (this.client.workspace && !names.includes(this.client.workspace)) {
      this.remember("");
      return location.reload(); // parts of the page have asked in vain already
    }
    this.known.set({ names, current: this.client.workspace || found.current });
  }

  /** Show another workspace; the page is loaded anew in it. @param {string} name */
  choose(name) {
    this.remember(name);
    // The session that the address names is in the workspace that is left.
    location.replace(location.pathname + location.search);
  }

  /** @param {string} name */
  remember(name) {
    this.client.workspace = name;
    for (const storage of [sessionStorage, localStorage]) {
      if (name) storage.setItem(CHOSEN, name);
      else storage.removeItem(CHOSEN);
    }
  }
}
