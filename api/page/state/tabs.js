/** What tabs of this page tell each other, so that none has to ask the server whether another has done something. */

/**
 * A question was asked or has been answered, a session was renamed or deleted, or the library has changed. `from` is the
 * key of the turn that the run takes the place of.
 * @typedef {object} Told
 * @property {"asked" | "ended" | "renamed" | "deleted" | "library"} kind
 * @property {string} [sessionId]
 * @property {string} [runId]
 * @property {string | null} [from]
 * @property {string} [title]
 */

/** Speaks to the other tabs of this browser. */
export class Tabs {
  constructor() {
    this.channel = "BroadcastChannel" in window ? new BroadcastChannel("citewell") : null;
  }

  /** @param {Told} told */
  tell(told) {
    this.channel?.postMessage(told);
  }

  /** @param {(told: Told) => void} listener */
  hear(listener) {
    this.channel?.addEventListener("message", (event) => listener(event.data));
  }
}
