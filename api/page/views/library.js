/** The library: its documents, to be selected, brought in and deleted. */

import { h } from "../dom.js";
import { words } from "../words/index.js";

/** @param {import("../state/app.js").App} app */
export function library(app) {
  const element = h("dialog", { class: "library", "aria-label": words.library.label, onclose: () => app.libraryOpen.set(false) });
  app.libraryOpen.watch((open) => (open ? element.isConnected && !element.open && element.showModal() : element.close()));
  return element;
}
