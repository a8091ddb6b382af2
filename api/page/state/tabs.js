/** What tabs of this page tell each other, so that none has to ask the server whether another has done something. */

/** @typedef {{kind: "asked" | "ended" | "sessions" | "library", sessionId?: string}} Told */

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
