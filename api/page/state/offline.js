/** Whether what is read is kept on this device for when there is no network. Nothing is, until somebody chooses it. */

import { Cell } from "./cell.js";

export const CHOSEN = "citewell.offline"; // whose reading is kept: see kept.js

/** Keeps what one person reads, by their choice, and lets it go when they do. */
export class Offline {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    /** Of when the oldest is that is shown from here; null while the server answers. */
    this.asOf = new Cell(/** @type {Date | null} */ (null));
    if (this.possible && this.chosen) void this.keep();
    // An app that was installed opens without network in any case.
    else if (this.possible && matchMedia("(display-mode: standalone)").matches) void this.keepShell();
    app.locked.watch((locked) => locked && void app.client.kept?.then((kept) => kept?.clear()));
    app.person.watch((person) => person && void app.client.kept?.then((kept) => kept?.meet(person)));
  }

  /** Whether this browser can keep anything: that takes a connection that nobody else can read. */
  get possible() {
    return isSecureContext && "serviceWorker" in navigator && "caches" in globalThis;
  }

  get chosen() {
    return localStorage.getItem(CHOSEN) !== null;
  }

  /** Keep what is read from now on, or let go of all that was kept. @param {boolean} on */
  async choose(on) {
    if (!on) return this.forget();
    const person = this.app.person.value;
    const kept = person && (await this.keep());
    if (!kept) return;
    await kept.begin(person);
    await Promise.all([this.app.begin(), this.app.takeUp()]); // what is on show was read before
  }

  /** Let go of all that was kept, and of the choice: with a login, with a key, or since it is wished. */
  async forget() {
    if (!this.possible || (!this.chosen && !this.app.client.kept)) return;
    localStorage.removeItem(CHOSEN);
    this.app.client.kept = null;
    this.asOf.set(null);
    await (await module())?.forgetAll();
  }

  keep() {
    void this.keepShell();
    const { client } = this.app;
    return (client.kept ??= module().then((loaded) => loaded && new loaded.Kept(client, this.asOf, () => this.forget())));
  }

  async keepShell() {
    await (await module())?.keepShell(this.app.client.home);
  }
}

/** Null where it could not be had; then nothing is kept, this time. */
function module() {
  return import("./kept.js").catch(() => null);
}
