/** What the page knows and does, for its views: each part is a value to watch with the actions that change it. */

import { Client, Problem } from "../api/client.js";
import { Cell } from "./cell.js";
import { Conversation } from "./conversation.js";
import { Selection } from "./selection.js";
import { SessionList } from "./session_list.js";
import { Tabs } from "./tabs.js";

/**
 * A passage that the reader shows, with the other quotes of the same answer in that document.
 * @typedef {object} Reading
 * @property {string} documentId
 * @property {string} title
 * @property {import("../api/types.js").Citation[]} citations
 * @property {number} at Which of them is looked at; -1 for the document as a whole.
 */

/** A word to the user that goes away by itself, or when it was read.
 * @typedef {{kind: "done" | "failed", text: string, suggestion?: string, again?: () => void}} Notice */

const KEY = "citewell.key";

/** The page's state, made once. */
export class App {
  /** @param {URL} home Where the API's paths begin. */
  constructor(home) {
    /** The API key, where the deployment asks for one; kept as long as the tab. */
    this.key = new Cell(sessionStorage.getItem(KEY) ?? "");
    this.key.watch((key) => (key ? sessionStorage.setItem(KEY, key) : sessionStorage.removeItem(KEY)));
    /** Whether a key has to be entered before anything else. */
    this.locked = new Cell(false);
    this.client = new Client(home, () => this.key.value);
    this.tabs = new Tabs();
    this.sessions = new SessionList(this.client);
    this.selection = new Selection(this.client);
    /** @type {Cell<Reading | null>} */
    this.reading = new Cell(/** @type {Reading | null} */ (null));
    /** @type {Cell<Notice | null>} */
    this.notice = new Cell(/** @type {Notice | null} */ (null));
    /** Whether the library is open. */
    this.libraryOpen = new Cell(false);
    /** Whether the list of sessions is open, where the window is narrow. */
    this.sessionsOpen = new Cell(false);
    /** @type {Cell<import("../api/types.js").Model[]>} */
    this.models = new Cell(/** @type {import("../api/types.js").Model[]} */ ([]));
    this.conversation = new Conversation(this.client, {
      asked: (sessionId) => this.tabs.tell({ kind: "asked", sessionId }),
      ended: (sessionId) => {
        this.tabs.tell({ kind: "ended", sessionId });
        void this.attempt(() => this.sessions.read());
      },
      titled: (sessionId, title) => this.sessions.retitle(sessionId, title),
    });
  }

  /**
   * Do something that may fail, and tell the failure in a notice.
   * @param {() => Promise<unknown>} action
   * @returns {Promise<boolean>} Whether it was done.
   */
  async attempt(action) {
    try {
      await action();
      return true;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (error.status === 401) this.locked.set(true);
      else {
        const again = error.retryable ? { again: () => void this.attempt(action) } : {};
        this.notice.set({ kind: "failed", text: error.message || error.code, suggestion: error.suggestion, ...again });
      }
      return false;
    }
  }

  /** Open what the address names: a session, or the beginning of a new one. */
  async openAddressed() {
    const sessionId = addressed();
    if (sessionId === (this.conversation.session.value?.session_id ?? null)) return;
    this.reading.set(null);
    this.selection.passage.set(null);
    if (!sessionId) {
      this.conversation.leave();
      return this.selection.restore(null);
    }
    const opened = await this.attempt(() => this.conversation.open(sessionId));
    if (opened) await this.selection.restore(this.conversation.session.value);
    else if (!this.locked.value) location.hash = "";
  }

  /**
   * Ask what was typed, with what is selected.
   * @param {string} question
   */
  async ask(question) {
    const ask = { question, ...this.selection.fields() };
    this.selection.passage.set(null);
    const pages = this.selection.pages.value.map((page) => page.document_id);
    await this.conversation.ask(ask, pages);
  }

  /** Read the document of a citation, at its quote. @param {Reading} reading */
  read(reading) {
    this.reading.set(reading);
  }
}

/** Give the session that the address names. */
export function addressed() {
  return /^#\/sessions\/([0-9a-f-]{36})$/.exec(location.hash)?.[1] ?? null;
}

/** Write a session's address. @param {string} sessionId */
export function addressOf(sessionId) {
  return `#/sessions/${sessionId}`;
}
