/** Whether all runs that are followed are heard, or some are being reconnected. */

import { Cell } from "./cell.js";

/** @typedef {import("../api/following.js").Outage} Outage */

/** Gathers the outages of everything that is followed at the same time. */
export class Outages {
  constructor() {
    /** The one that is over first; null where all is well. */
    this.next = new Cell(/** @type {Outage | null} */ (null));
    /** How often a lost connection came back. */
    this.regained = new Cell(0);
    /** @type {Map<object, Outage>} */
    this.open = new Map();
  }

  /**
   * Note what becomes of a follower's connection.
   * @param {object} follower
   * @param {Outage | null} outage
   * @param {boolean} [back] Whether it is over since the connection is back.
   */
  note(follower, outage, back = false) {
    const was = this.open.delete(follower);
    if (outage) this.open.set(follower, outage);
    const [next] = [...this.open.values()].sort((one, other) => one.until - other.until);
    this.next.set(next ? { until: next.until, now: () => this.now() } : null);
    if (was && back) this.regained.update((count) => count + 1);
  }

  /** Reconnect everything at once. */
  now() {
    for (const outage of [...this.open.values()]) outage.now();
  }
}
