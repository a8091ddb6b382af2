/** What is fetched when it is first wanted, so that the page is there sooner. */

import { h } from "../dom.js";
import { words } from "../words/index.js";
import { goToQuestion } from "./question_field.js";

const REST_MS = 2000; // after all else has come

/**
 * Fetch a module now that it is wanted; where it can't be had, say so, with a way to try again.
 * @template Module
 * @param {App} app
 * @param {() => Promise<Module>} load
 * @param {() => void} again
 * @returns {Promise<Module | null>} Null where it could not be had.
 */
export async function wanted(app, load, again) {
  try {
    return await load();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error; // the browser's word for a module that did not come
    app.notice.set({ kind: "failed", text: words.notices.unreachable, again });
    return null;
  }
}

/** Make the place of the reader. @param {App} app */
export function readerPlace(app) {
  const place = h("div", { class: "place" });
  const put = once(app, () => import("./reader.js"), ({ reader }) => reader(hostOf(app), place));
  app.reading.watch((reading) => reading && put());
  return place;
}

/** Let a reader stand in the page. @param {App} app @returns {import("./reader.js").Host} */
function hostOf(app) {
  return {
    client: app.client,
    reading: app.reading,
    read: (reading) => app.read(reading),
    refused: () => app.locked.set(true),
    ask(text, title) {
      app.selection.passage.set({ text, title });
      goToQuestion();
    },
    page: app,
  };
}

/** Make the place of what asks for a login or a key. @param {App} app */
export function lockPlace(app) {
  const place = h("div", { class: "place" });
  const put = once(app, () => import("./lock.js"), ({ lock }) => lock(app, place));
  app.locked.watch((locked) => locked && put());
  return place;
}

/** Make the place of who is logged in; whoever brought a key, or is alone on this machine, knows. @param {App} app */
export function accountPlace(app) {
  const place = h("div", { class: "place" });
  const put = once(app, () => import("./account.js"), ({ account }) => account(app, place));
  app.person.watch((person) => (person?.by === "login" || person?.by === "proxy") && put());
  return place;
}

/** Make the place of the documents. @param {App} app */
export function libraryPlace(app) {
  const place = h("div", { class: "place", id: "shelf" });
  const put = once(app, () => import("./shelf.js"), ({ shelf }) => shelf(app, place));
  // What is open from the start comes when the rest is there, or when somebody does something.
  let waits = app.libraryOpen.value;
  const come = () => app.libraryOpen.value && void put();
  app.libraryOpen.watch(() => (waits ? (waits = false) : come()));
  app.begun.watch((begun) => begun && setTimeout(come, REST_MS));
  for (const name of ["pointerdown", "keydown"]) addEventListener(name, come, { capture: true, once: true });
  app.brought.watch((brought) => brought && put());
  for (const name of /** @type {const} */ (["dragenter", "dragover", "drop"])) {
    addEventListener(name, (event) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault(); // a file that came before its target would be opened in the page's place
      put();
    });
  }
  return place;
}

/**
 * Make a function that fetches a module and uses it, but once; what could not be had is fetched at the next call.
 * @template Module
 * @param {App} app
 * @param {() => Promise<Module>} load
 * @param {(module: Module) => void} use
 */
function once(app, load, use) {
  let begun = false;
  return async function put() {
    if (begun) return;
    begun = true;
    const module = await wanted(app, load, () => void put());
    if (module) use(module);
    else begun = false;
  };
}
