/** The sessions there are, the last used first. */

import { Problem } from "../api/problem.js";
import { Cell } from "./cell.js";

/**
 * @typedef {object} Found
 * @property {string} wanted
 * @property {Session[] | null} sessions Null until they were read.
 * @property {Map<string, SessionHit>} hits Where in them it was found, by session.
 * @property {string | null} cursor Of those behind them, if there are more.
 */

const ANSWERING_MS = 4_000; // between looks whether the sessions that are answering still are

/** Lists, finds, renames and deletes sessions. */
export class SessionList {
  /** @param {Client} client */
  constructor(client) {
    this.client = client;
    /** Null until they were read. */
    this.sessions = new Cell(/** @type {Session[] | null} */ (null));
    /** Of the sessions behind them, if there are more. */
    this.cursor = new Cell(/** @type {string | null} */ (null));
    /** Why they could not be read. */
    this.failure = new Cell(/** @type {Problem | null} */ (null));
    /** What was looked for and found; null where nothing is looked for. */
    this.found = new Cell(/** @type {Found | null} */ (null));
    /** Those that are answering, by id. */
    this.answering = new Cell(/** @type {ReadonlySet<string>} */ (new Set()));
    /** Those that are chosen, to do something with all of them; null where none are being chosen. */
    this.chosen = new Cell(/** @type {ReadonlySet<string> | null} */ (null));
    /** Those that are out of sight and can still be had back. */
    this.leaving = new Cell(/** @type {ReadonlySet<string>} */ (new Set()));
    this.reads = 0;
    this.timer = 0;
  }

  /** Read the newest anew; those behind them stay as they were read before. */
  async read() {
    const mine = (this.reads += 1);
    await this.telling(async () => {
      const [page, answering] = await Promise.all([this.client.sessions(), this.client.answeringSessions()]);
      if (mine !== this.reads) return;
      const last = page.sessions.at(-1);
      const behind = page.next_cursor && last ? (this.sessions.value ?? []).filter((each) => isBehind(each, last)) : [];
      this.sessions.set([...page.sessions, ...behind]);
      if (!behind.length) this.cursor.set(page.next_cursor);
      if (!isSame(answering, this.answering.value)) this.answering.set(answering);
    }, this.sessions.value !== null);
    clearTimeout(this.timer);
    if (this.answering.value.size) this.timer = setTimeout(() => void (document.hidden || this.read()), ANSWERING_MS);
  }

  /** Read the page that follows. */
  async readMore() {
    const cursor = this.cursor.value;
    if (!cursor) return;
    await this.telling(async () => {
      const page = await this.client.sessions({ cursor });
      const known = new Set((this.sessions.value ?? []).map((session) => session.session_id));
      this.sessions.update((sessions) => [
        ...(sessions ?? []),
        ...page.sessions.filter((each) => !known.has(each.session_id)),
      ]);
      this.cursor.set(page.next_cursor);
    });
  }

  /** Look for sessions by what was said in them; for nothing, stop looking. @param {string} wanted */
  async find(wanted) {
    if (!wanted) return this.found.set(null);
    const mine = { wanted, sessions: null, hits: new Map(), cursor: null };
    this.found.set(mine);
    await this.findMore(mine);
  }

  /** Read the page of findings that follows. @param {Found | null} [from] */
  async findMore(from = this.found.value) {
    if (!from) return;
    await this.telling(async () => {
      const page = await this.client.sessions({ query: from.wanted, cursor: from.cursor });
      if (this.found.value !== from) return; // something else is looked for by now
      this.found.set({
        wanted: from.wanted,
        sessions: [...(from.sessions ?? []), ...page.sessions],
        hits: new Map([...from.hits, ...page.hits.map((hit) => /** @type {const} */ ([hit.session_id, hit]))]),
        cursor: page.next_cursor,
      });
    });
  }

  /** Put a session before the others, or back among them. @param {string} sessionId @param {boolean} pinned */
  async pin(sessionId, pinned) {
    const changed = await this.client.changeSession(sessionId, { pinned });
    this.forget(sessionId);
    this.note(changed);
    await this.read();
  }

  /** Put a session in its place in the list, as far as that has been read. @param {Session} session */
  note(session) {
    this.sessions.update((sessions) => {
      if (!sessions) return sessions;
      const at = sessions.findIndex((each) => each.session_id === session.session_id);
      if (at >= 0) return sessions.map((each, index) => (index === at ? session : each));
      const place = sessions.findIndex((each) => isBehind(each, session));
      if (place < 0) return this.cursor.value ? sessions : [...sessions, session];
      return [...sessions.slice(0, place), session, ...sessions.slice(place)];
    });
  }

  /** Call a session by another name here, without asking the server. @param {string} sessionId @param {string} title */
  retitle(sessionId, title) {
    this.change((sessions) => sessions.map((each) => (each.session_id === sessionId ? { ...each, title } : each)));
  }

  /** Leave a session out here, without asking the server. @param {string} sessionId */
  forget(sessionId) {
    this.change((sessions) => sessions.filter((each) => each.session_id !== sessionId));
  }

  /** @param {(sessions: Session[]) => Session[]} change */
  change(change) {
    this.sessions.update((sessions) => sessions && change(sessions));
    this.found.update((found) => found && { ...found, sessions: found.sessions && change(found.sessions) });
  }

  /** Choose a session, or leave it out again. @param {string} sessionId */
  tick(sessionId) {
    const chosen = new Set(this.chosen.value);
    if (!chosen.delete(sessionId)) chosen.add(sessionId);
    this.chosen.set(chosen);
  }

  /**
   * Take sessions out of sight, to be deleted when `ended` is called or the page is left, if none of it is `undone` before.
   * @param {string[]} ids
   * @param {(sessionId: string) => Promise<unknown>} remove
   */
  takeAway(ids, remove) {
    this.leaving.set(new Set([...this.leaving.value, ...ids]));
    const back = (/** @type {string[]} */ those) => this.leaving.set(new Set([...this.leaving.value].filter((each) => !those.includes(each))));
    const ended = () => {
      removeEventListener("pagehide", ended);
      for (const id of ids) if (this.leaving.value.has(id)) void remove(id).then(() => back([id]));
    };
    addEventListener("pagehide", ended);
    return { ended, undone: () => back(ids) };
  }

  /** @param {string} sessionId @param {string} title */
  async rename(sessionId, title) {
    const changed = await this.client.changeSession(sessionId, { title });
    this.retitle(sessionId, changed.title);
  }

  /** @param {string} sessionId */
  async delete(sessionId) {
    await this.client.delete(`api/sessions/${sessionId}`);
    this.forget(sessionId);
  }

  /**
   * @param {() => Promise<void>} reading
   * @param {boolean} [again] Whether it only looks for what is new, so that the next time will do.
   */
  async telling(reading, again = false) {
    try {
      await reading();
      this.failure.set(null);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (!again) this.failure.set(error);
    }
  }
}

/** Tell whether a session stands behind another in the list. @param {Session} session @param {Session} other */
function isBehind(session, other) {
  if ((session.pinned ?? false) !== (other.pinned ?? false)) return !session.pinned;
  const [mine, its] = [Date.parse(session.updated_at), Date.parse(other.updated_at)];
  return mine < its || (mine === its && session.session_id > other.session_id);
}

/** @param {ReadonlySet<string>} one @param {ReadonlySet<string>} other */
function isSame(one, other) {
  return one.size === other.size && [...one].every((each) => other.has(each));
}
