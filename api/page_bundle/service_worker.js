/**
 * Opens the page where there is no network: it keeps the page's own files, and nothing that the API has said.
 *
 * It is registered where somebody has chosen that, or has installed the page. The server fills in the version, which is
 * a digest of all files, and their names. A new release is a new worker with a cache of its own, and takes over once no
 * page of the old one is open.
 */

/** @typedef {Event & {request: Request, respondWith: (response: Promise<Response>) => void}} FetchEvent */
/** @typedef {Event & {waitUntil: (done: Promise<unknown>) => void}} LifeEvent */

const VERSION = "{version}";
const FILES = "{files}".split(" ");
const PREFIX = "citewell-shell-";
const HOME = new URL("../../", location.href);
const FOLDER = new URL(`page/${VERSION}/`, HOME);

addEventListener("install", (event) => /** @type {LifeEvent} */ (event).waitUntil(install()));
addEventListener("message", (event) => /** @type {any} */ (event).waitUntil(install()));
addEventListener("activate", (event) => /** @type {LifeEvent} */ (event).waitUntil(forgetOthers()));
addEventListener("fetch", (event) => {
  const fetching = /** @type {FetchEvent} */ (event);
  const { request } = fetching;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== "GET" || origin !== HOME.origin) return;
  if (request.mode === "navigate" && pathname === HOME.pathname) fetching.respondWith(newest(request));
  else if (pathname.startsWith(FOLDER.pathname)) fetching.respondWith(kept(request));
});

async function install() {
  const cache = await caches.open(PREFIX + VERSION);
  const index = await fetch(new Request(HOME, { cache: "reload" }));
  // During an upgrade it may be another's, whose files this one does not keep.
  if (!index.ok || !(await index.clone().text()).includes(FOLDER.pathname.slice(HOME.pathname.length))) throw new Error("not yet");
  await cache.put(HOME, index);
  await cache.addAll(FILES.map((name) => new URL(name, FOLDER)).map(String));
}

async function forgetOthers() {
  const names = (await caches.keys()).filter((name) => name.startsWith(PREFIX) && name !== PREFIX + VERSION);
  await Promise.all(names.map((name) => caches.delete(name)));
}

/** The page as the server has it now, and as it was where there is no server. @param {Request} request */
async function newest(request) {
  try {
    return await fetch(request);
  } catch (error) {
    const found = await caches.match(HOME, { cacheName: PREFIX + VERSION });
    if (!found) throw error;
    return found;
  }
}

/** A file that never changes under its address. @param {Request} request */
async function kept(request) {
  return (await caches.match(request, { cacheName: PREFIX + VERSION, ignoreVary: true })) ?? fetch(request);
}
