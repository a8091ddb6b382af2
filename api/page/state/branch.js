/** The stored turns of a session, along the branch that is on show. */

import { readable } from "../text/reading.js";
import { Cell } from "./cell.js";
import { joined, readAnew, turnsOf } from "./turns.js";

/** Reads the turns of one session at a time. */
export class Branch {
  /** @param {Client} client @param {(turn: Turn) => Turn} remember Adds to a turn what the page knows of it besides. */
  constructor(client, remember) {
    this.client = client;
    this.remember = remember;
    /** @type {Turn[]} */
    this.turns = [];
    /** The cursor of earlier messages. */
    this.earlier = new Cell(/** @type {string | null} */ (null));
    /** Whether a branch is on show that a new question would not go on with. */
    this.aside = new Cell(false);
    /** A message that it goes through; left out, the branch gone on with last. @type {string | undefined} */
    this.through = undefined;
    /** The last turn of the branch gone on with last. */
    this.newest = "";
    this.reads = 0;
  }

  clear() {
    this.reads += 1;
    this.turns = [];
    this.through = undefined;
    this.earlier.set(null);
    this.aside.set(false);
  }

  /** @param {string} key */
  has(key) {
    return this.turns.some((turn) => turn.key === key);
  }

  /**
   * Read the branch anew. Of readings that overlap the one that was begun last counts.
   * @param {string} sessionId
   * @param {string | undefined} through
   * @returns {Promise<Session | null>} Null where another reading has overtaken this one.
   */
  async read(sessionId, through) {
    const mine = (this.reads += 1);
    const [detail] = await Promise.all([this.client.session(sessionId, { branch: through }), readable()]);
    if (mine !== this.reads) return null;
    this.through = through;
    const { turns, known } = readAnew(turnsOf(detail.messages).map(this.remember), this.turns);
    this.turns = turns;
    const last = turns.at(-1)?.key ?? "";
    if (through === undefined) this.newest = last;
    if (!known) this.earlier.set(detail.next_cursor);
    this.aside.set(last !== this.newest);
    return detail.session;
  }

  /** Add to a turn what the page knows of it by now. @param {string} key */
  retell(key) {
    this.turns = this.turns.map((turn) => (turn.key === key ? this.remember(turn) : turn));
  }

  /** Read the page of messages before those that are there. @param {string} sessionId */
  async readEarlier(sessionId) {
    const cursor = this.earlier.value;
    if (!cursor) return;
    const detail = await this.client.session(sessionId, { cursor, branch: this.through });
    if (cursor !== this.earlier.value) return;
    this.turns = joined(turnsOf(detail.messages).map(this.remember), this.turns);
    this.earlier.set(detail.next_cursor);
  }
}
