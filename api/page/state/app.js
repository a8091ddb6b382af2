/** What the page knows and does, for its views: each part is a value to watch with the actions that change it. */

import { Client } from "../api/client.js";
import { Problem } from "../api/problem.js";
import { words } from "../words/index.js";
import { advice, said } from "../words/problems.js";
import { readable } from "../text/reading.js";
import { Cell } from "./cell.js";
import { Conversation } from "./conversation.js";
import { Offline } from "./offline.js";
import { Selection } from "./selection.js";
import { SessionList } from "./session_list.js";
import { readingHere, stepTo } from "./steps.js";
import { Tabs } from "./tabs.js";
import { Workspaces } from "./workspace.js";

/**
 * A passage that the reader shows, with the other quotes of the same answer in that document.
 * @typedef {object} Reading
 * @property {string} documentId
 * @property {string} title
 * @property {Citation[]} citations
 * @property {number} at Which of them is looked at; -1 for the document as a whole.
 * @property {import("../text/deep_links.js").Linked} [linked] What an address names of it, which counts as the only citation.
 * @property {boolean} [isReturned] Whether it was read before, and is to be as it was left.
 */

/** A word to the user that goes away by itself where it was "done", and else when it was read; `ended` is called when it goes.
 * @typedef {{kind: "done" | "failed", text: string, suggestion?: string, again?: () => void, undo?: () => void, ended?: () => void}} Notice */

/** @typedef {{files: File[]} | {title: string, text: string} | {url: string, site: boolean}} Brought */

const KEY = "citewell.key";
const SHELF = "citewell.shelf";
/** Where there is room for the documents beside the conversation. */
export const ROOMY = matchMedia("(min-width: 75rem)");

/** The page's state, made once. */
export class App {
  /** @param {URL} home Where the API's paths begin. */
  constructor(home) {
    /** The API key, where the deployment asks for one; kept as long as the tab. */
    this.key = new Cell(sessionStorage.getItem(KEY) ?? "");
    this.key.watch((key) => (key ? sessionStorage.setItem(KEY, key) : sessionStorage.removeItem(KEY)));
    /** Whether a key has to be entered, or somebody has to log in, before anything else. */
    this.locked = new Cell(false);
    this.client = new Client(home, () => this.key.value, () => this.locked.set(true));
    /** Whom the server takes this browser for. */
    this.person = new Cell(/** @type {Account | null} */ (null));
    this.offline = new Offline(this);
    this.workspaces = new Workspaces(this.client);
    this.tabs = new Tabs();
    this.sessions = new SessionList(this.client);
    this.selection = new Selection(this.client);
    this.reading = new Cell(/** @type {Reading | null} */ (null));
    this.notice = new Cell(/** @type {Notice | null} */ (null));
    /** Whether the documents are on show beside the conversation or, where it is narrow, above it. */
    this.libraryOpen = new Cell(ROOMY.matches && localStorage.getItem(SHELF) !== "closed");
    ROOMY.addEventListener("change", () => this.libraryOpen.set(ROOMY.matches && localStorage.getItem(SHELF) !== "closed"));
    /** Whether all that the page begins with has been read. */
    this.begun = new Cell(false);
    /** How often this tab has changed the library. */
    this.libraryChanges = new Cell(0);
    /** What is to be brought into the library from outside of it. */
    this.brought = new Cell(/** @type {Brought | null} */ (null));
    /** Whether the list of sessions is open, where the window is narrow. */
    this.sessionsOpen = new Cell(false);
    this.models = new Cell(/** @type {Wire.Model[]} */ ([]));
    this.conversation = new Conversation(this.client, {
      asked: (sessionId, runId, from) => {
        this.tabs.tell({ kind: "asked", sessionId, runId, from });
        void this.sessions.read();
      },
      ended: (sessionId) => {
        this.tabs.tell({ kind: "ended", sessionId });
        void this.sessions.read();
        return this.takeUp();
      },
      gone: (sessionId) => this.gone(sessionId),
      refused: (error) => this.fail(error),
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
      this.fail(error, () => void this.attempt(action));
      return false;
    }
  }

  /** Show the documents, in the place of one that is read. */
  showLibrary() {
    this.reading.set(null);
    if (ROOMY.matches) localStorage.setItem(SHELF, "open");
    this.libraryOpen.set(true);
  }

  /** Show the documents, or put them away. */
  toggleLibrary() {
    if (!this.libraryOpen.value || this.reading.value) this.showLibrary();
    else this.hideLibrary();
  }

  /** Put the documents away, for good where there is room for them. */
  hideLibrary() {
    if (ROOMY.matches) localStorage.setItem(SHELF, "closed");
    this.libraryOpen.set(false);
  }

  /** Tell the views of this tab and the others that the library is another. */
  libraryChanged() {
    this.libraryChanges.update((count) => count + 1);
    this.tabs.tell({ kind: "library" });
  }

  /** Tell in a notice what failed, if not for want of a key. @param {unknown} error @param {() => void} [again] */
  fail(error, again) {
    if (!(error instanceof Problem)) throw error;
    if (error.status === 401) return;
    const retry = again && error.retryable ? { again } : {};
    this.notice.set({ kind: "failed", text: said(error), suggestion: advice(error), ...retry });
  }

  /** Read what there is: the session that the address names, the others, and the models. */
  async begin() {
    this.reading.set(readingHere()); // before anything is drawn, so that nothing has to make room for it
    const known = this.workspaces.read();
    if (this.client.workspace) await known; // it may be gone, and the session is in it
    await Promise.all([
      known,
      this.attempt(async () => this.meet(await this.client.json("api/me"))),
      this.openAddressed(),
      this.sessions.read(),
      this.attempt(async () => this.models.set((await this.client.json("v1/models", { list: "data" })).data)),
    ]);
    this.begun.set(true);
  }

  /** Take note of whom the server takes this browser for, and of what it can do for them. @param {Account} person */
  meet(person) {
    this.person.set(person);
    this.selection.webOffered.set(person.web !== false);
  }

  /** Take up what another tab has done. @param {import("./tabs.js").Told} told */
  hear({ kind, sessionId, runId, from, title }) {
    if (this.locked.value || !sessionId) return;
    const here = sessionId === this.conversation.session.value?.session_id;
    if (kind === "asked" && runId) this.conversation.forks.note(runId, from ?? null);
    if (here && (kind === "asked" || kind === "ended")) void this.takeUp();
    if (kind === "asked" || kind === "ended") void this.sessions.read();
    if (kind === "deleted") this.gone(sessionId);
    if (kind !== "renamed" || title === undefined) return;
    this.sessions.retitle(sessionId, title);
    this.conversation.retitle(sessionId, title);
  }

  /** Take up what happened while nobody looked. */
  async refresh() {
    if (this.locked.value) return;
    await Promise.all([this.takeUp(), this.sessions.read()]);
  }

  /** Take up what happened in the session on show; where it can't be read, the next time will do. Tell whether it was. */
  async takeUp() {
    const sessionId = this.conversation.session.value?.session_id;
    try {
      await this.conversation.refresh();
      return true;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (error.status === 404 && sessionId) this.gone(sessionId);
      return false;
    }
  }

  /** Go on with a key, if it is a good one. @param {string} key @returns {Promise<Problem | null>} Why not. */
  async enter(key) {
    this.key.set(key);
    try {
      await this.client.workspaces();
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      this.key.set("");
      return error;
    }
    this.locked.set(false);
    await Promise.all([this.begin(), this.takeUp()]);
    return null;
  }

  /** Forget the key, and with it all that it has opened. */
  async forgetKey() {
    await this.offline.forget();
    this.key.set("");
    location.reload();
  }

  /** Open what the address names: a session, or the beginning of a new one. */
  async openAddressed() {
    const sessionId = addressed();
    if (!sessionId && readingHere()) return; // a document by itself, beside whatever is on show
    if (sessionId === (this.conversation.session.value?.session_id ?? null) && !this.conversation.loading.value) return;
    this.selection.passage.set(null);
    if (sessionId) return void (await this.attempt(async () => sessionId === addressed() && this.open(sessionId)));
    this.conversation.leave();
    await this.selection.restore(null);
  }

  /** @param {string} sessionId @throws {Problem} */
  async open(sessionId) {
    try {
      await this.conversation.open(sessionId);
    } catch (error) {
      if (!(error instanceof Problem && error.status === 404)) throw error;
      if (sessionId === addressed()) this.gone(sessionId);
    }
  }

  /** Begin a new session, since the one on show is not there any more. @param {string} sessionId */
  gone(sessionId) {
    this.sessions.forget(sessionId);
    if (sessionId !== addressed()) return;
    this.notice.set({ kind: "failed", text: words.sessions.gone });
    const rest = location.hash.split("/documents/")[1]; // what is read of a document stays
    history.replaceState(history.state, "", rest ? `#/documents/${rest}` : addressOf(null));
    this.conversation.leave();
    void this.selection.restore(null);
  }

  /** Delete sessions, and tell the other tabs; until its notice goes they can be had back. @param {string[]} ids */
  deleteSessions(ids) {
    const opened = ids.find((each) => each === addressed());
    const { ended, undone } = this.sessions.takeAway(ids, (sessionId) =>
      this.attempt(async () => {
        await this.sessions.delete(sessionId);
        this.tabs.tell({ kind: "deleted", sessionId });
      }),
    );
    if (opened) location.hash = "";
    const undo = () => {
      undone();
      if (opened && !addressed()) location.hash = addressOf(opened);
    };
    // One that is answering is refused, and that is said at once.
    if (ids.some((each) => this.sessions.answering.value.has(each))) ended();
    else this.notice.set({ kind: "done", text: words.sessions.deleted({ count: ids.length }), undo, ended });
  }

  /** @param {string} sessionId @param {string} title */
  async renameSession(sessionId, title) {
    return this.attempt(async () => {
      await this.sessions.rename(sessionId, title);
      this.conversation.retitle(sessionId, title);
      this.tabs.tell({ kind: "renamed", sessionId, title });
    });
  }

  /** Tell whether there is anything to ask, and say so where all that was ticked is gone. */
  mayAsk() {
    const { lost } = this.selection;
    if (lost) this.notice.set({ kind: "failed", text: words.selection.lost, suggestion: words.selection.lostHint });
    return !lost;
  }

  /** Ask what was typed, with what is selected. @param {string} question */
  async ask(question) {
    if (!this.mayAsk()) return;
    void readable();
    const ask = { question, ...this.selection.fields() };
    this.selection.passage.set(null);
    await this.conversation.ask(ask, this.selection.ids());
  }

  /** Read the document of a citation, at its quote: a step of the browser's history, as a page of its own is. @param {Reading} reading */
  read(reading) {
    stepTo(reading, this.reading.value !== null);
    this.reading.set(reading);
  }
}

/** Give the session that the address names. */
export function addressed() {
  return /^#\/sessions\/([0-9a-f-]{36})(?:\/documents\/.*)?$/.exec(location.hash)?.[1] ?? null;
}

/** Write a session's address; without one, that of the beginning. @param {string | null} sessionId */
export function addressOf(sessionId) {
  return sessionId ? `#/sessions/${sessionId}` : location.pathname + location.search;
}
