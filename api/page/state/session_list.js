/** The sessions there are, the last used first. */

import { Cell } from "./cell.js";

/** @typedef {import("../api/types.js").Session} Session */

/** Lists, renames and deletes sessions. */
export class SessionList {
  /** @param {import("../api/client.js").Client} client */
  constructor(client) {
    this.client = client;
    /** Null until they were read. @type {Cell<Session[] | null>} */
    this.sessions = new Cell(/** @type {Session[] | null} */ (null));
    /** @type {Cell<string | null>} */
    this.cursor = new Cell(/** @type {string | null} */ (null));
  }

  /** Read the first page anew. */
  async read() {
    const page = await this.client.sessions();
    this.sessions.set(page.sessions);
    this.cursor.set(page.next_cursor);
  }

  /** Read the page that follows. */
  async readMore() {
    if (!this.cursor.value) return;
    const page = await this.client.sessions(this.cursor.value);
    const known = new Set((this.sessions.value ?? []).map((session) => session.session_id));
    this.sessions.update((sessions) => [...(sessions ?? []), ...page.sessions.filter((each) => !known.has(each.session_id))]);
    this.cursor.set(page.next_cursor);
  }

  /** Call a session by another name here, without asking the server. @param {string} sessionId @param {string} title */
  retitle(sessionId, title) {
    this.sessions.update((sessions) =>
      sessions && sessions.map((session) => (session.session_id === sessionId ? { ...session, title } : session)),
    );
  }

  /** @param {string} sessionId @param {string} title */
  async rename(sessionId, title) {
    const changed = await this.client.changeSession(sessionId, { title });
    this.retitle(sessionId, changed.title);
  }

  /** @param {string} sessionId */
  async delete(sessionId) {
    await this.client.deleteSession(sessionId);
    this.sessions.update((sessions) => sessions && sessions.filter((session) => session.session_id !== sessionId));
  }
}
