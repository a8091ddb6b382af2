/** Places of views that are fetched when they are first wanted, so that the page is there sooner. */

import { h } from "../dom.js";
import { words } from "../words/index.js";

/** @typedef {import("../state/app.js").App} App */

/** Make the place of the reader. @param {App} app */
export function readerPlace(app) {
  const place = h("div", { class: "place" });
  const fetch = once(app, async () => (await import("./reader.js")).reader(app, place));
  app.reading.watch((reading) => reading && fetch());
  return place;
}

/** Make the place of the library. @param {App} app */
export function libraryPlace(app) {
  const place = h("div", { class: "place" });
  const fetch = once(app, async () => (await import("./library.js")).library(app, place));
  app.libraryOpen.watch((open) => open && fetch());
  for (const name of /** @type {const} */ (["dragenter", "dragover", "drop"])) {
    addEventListener(name, (event) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault(); // a file that came before its target would be opened in the page's place
      fetch();
    });
  }
  return place;
}

/**
 * Make a function that loads but once; where the server can't be reached it says so, and loads when it is called again.
 * @param {App} app
 * @param {() => Promise<void>} load
 */
function once(app, load) {
  /** @type {Promise<void> | null} */
  let loading = null;
  return function fetch() {
    loading ??= load().catch((error) => {
      if (!(error instanceof TypeError)) throw error;
      loading = null;
      app.notice.set({ kind: "failed", text: words.notices.unreachable, again: fetch });
    });
  };
}
