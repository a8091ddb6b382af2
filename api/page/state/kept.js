/**
 * What one person has read, kept in this browser's cache: sessions, documents' texts, and the lists of both.
 *
 * The page keeps it, and not the service worker, which never sees a reply of the API. It is one person's: it is shown
 * where the credentials are those that it was read with, and goes when another person comes, when this one leaves, and
 * when the server asks for a key or a login anew.
 */

import { Problem } from "../api/problem.js";
import { CHOSEN } from "./offline.js";

/** @typedef {{person: string, key: string}} Owner Digests, so that neither a name nor a key is stored. */

const STORE = "citewell-read";
const SHELL = "citewell-shell";
const AT = "X-Kept-At";
const MOST = 300; // replies
const LONGEST = 2_000_000; // characters of one
const DAYS = 14;
const ID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";
// Of the documents the list that is on show at first: what was looked for otherwise is not kept.
const LISTED = "library\\?lasting=true|documents\\?lasting=true&sort=changed&order=desc&limit=\\d+&(?:count=true|offset=\\d+)";
const READ = new RegExp(
  `^(?:api/(?:me|workspaces|graph|${LISTED}|sessions\\?limit=\\d+|sessions/${ID}\\?limit=\\d+|documents\\?limit=\\d+|documents/${ID}(?:/[a-z-]+)?)|v1/models)$`,
);
const RUNS = new RegExp(`^api/(?:sessions/${ID}/)?runs\\?`);
const GONE = new Set([403, 404, 410]);

/** Makes the one address that the policy lets be a script by its name: our worker's. */
const scripts = /** @type {{trustedTypes?: any}} */ (globalThis).trustedTypes?.createPolicy("citewell-worker", {
  createScriptURL: () => new URL("page/current/service_worker.js", document.baseURI).href,
});

/** Have the page's own files kept, so that it opens without network. @param {URL} home Where the page is. */
export async function keepShell(home) {
  const script = scripts?.createScriptURL("") ?? new URL("page/current/service_worker.js", home).href;
  try {
    const { active } = await navigator.serviceWorker.register(script, { scope: home.pathname });
    // One that was to go, and stays after all, has its files no more.
    if (!(await caches.keys()).some((name) => name.startsWith(SHELL))) active?.postMessage("install");
  } catch {
    return; // a browser may be told to allow none
  }
}

/** Leave nothing behind. */
export async function forgetAll() {
  await caches.delete(STORE);
  for (const each of await navigator.serviceWorker.getRegistrations()) await each.unregister();
  for (const name of await caches.keys()) if (name.startsWith(SHELL)) await caches.delete(name);
}

/** Keeps the replies of a client, and gives them where the server can't be reached. */
export class Kept {
  /**
   * @param {Client} client
   * @param {Cell<Date | null>} asOf
   * @param {() => Promise<void>} onOther Called where whoever is here is not the one who chose to keep.
   */
  constructor(client, asOf, onOther) {
    this.client = client;
    this.asOf = asOf;
    this.onOther = onOther;
    /** Tells whether whoever is here is the owner. @type {(same: boolean) => void} */
    this.tell = () => undefined;
    this.known = this.learning();
  }

  /** Nothing is kept before it is known who is here. @returns {Promise<boolean>} */
  learning() {
    return new Promise((resolve) => (this.tell = resolve));
  }

  /** Keep what this person reads from now on. @param {Account} person */
  async begin(person) {
    localStorage.setItem(CHOSEN, JSON.stringify(await this.ownerOf(person)));
    await this.meet(person);
  }

  /** Learn who is here. @param {Account} person */
  async meet(person) {
    const { person: expected, key } = owner();
    const found = await this.ownerOf(person);
    const same = found.person === expected && found.key === key;
    this.tell(same);
    if (!same) await this.onOther();
  }

  /** Keep a reply, if it is one to be read again. @param {string} path @param {unknown} body */
  async keep(path, body) {
    this.asOf.set(null);
    if (!READ.test(path)) return;
    const text = JSON.stringify(body);
    const address = this.addressOf(path);
    if (text.length > LONGEST || !(await this.known) || (await this.client.kept) !== this) return;
    await this.change(async (store) => {
      await store.delete(address); // so that it is the youngest
      await store.put(address, new Response(text, { headers: { [AT]: new Date().toISOString() } })).catch(() => undefined);
      const all = await store.keys();
      for (const old of all.slice(0, Math.max(0, all.length - MOST))) await store.delete(old);
    });
  }

  /**
   * Give what was kept in the place of a reply that could not be had.
   * @param {string} path
   * @param {unknown} error Why not.
   * @returns {Promise<any>}
   * @throws {unknown} The error, where nothing was kept or the server has said no.
   */
  async instead(path, error) {
    if (!(error instanceof Problem)) throw error;
    if (GONE.has(error.status)) await this.drop(path);
    if (error.code !== "unreachable" || owner().key !== (await digest(this.client.key()))) throw error;
    if (RUNS.test(path)) return { runs: [] }; // what goes on can't be known
    const found = await (await caches.open(STORE)).match(this.addressOf(path));
    const at = new Date(found?.headers.get(AT) ?? 0);
    if (!found || Date.now() - at.getTime() > DAYS * 86_400_000) throw error;
    this.asOf.update((before) => (before && before < at ? before : at));
    return found.json();
  }

  /** Let go of what was deleted, and of what hangs on it. @param {string[]} paths */
  async drop(...paths) {
    const gone = paths.map((path) => this.addressOf(path.split("?")[0] ?? path));
    await this.change(async (store) => {
      for (const each of await store.keys()) if (gone.some((address) => each.url.startsWith(address))) await store.delete(each);
    });
  }

  /** @param {(store: Cache) => Promise<void>} change */
  async change(change) {
    await change(await caches.open(STORE));
    if ((await this.client.kept) !== this) await caches.delete(STORE); // all was let go meanwhile
  }

  /** Let go of everything: the server does not know whoever is here. */
  async clear() {
    this.known = this.learning();
    await caches.delete(STORE);
  }

  /** @param {string} path */
  addressOf(path) {
    return new URL(`kept/${encodeURIComponent(this.client.workspace || "-")}/${path}`, this.client.home).href;
  }

  /** @param {Account} person @returns {Promise<Owner>} */
  async ownerOf({ user, by }) {
    const key = this.client.key();
    return { person: await digest(`${by}\n${user}`), key: await digest(key) };
  }
}

/** @returns {Partial<Owner>} Who has chosen to keep. */
function owner() {
  return JSON.parse(localStorage.getItem(CHOSEN) ?? "{}");
}

/** @param {string} text */
async function digest(text) {
  const bytes = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(`citewell ${text}`)));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
