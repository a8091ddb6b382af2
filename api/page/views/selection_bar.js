/** Above the question: what the answer draws on. The selected pages as chips, and where else to look. */

import { h } from "../dom.js";
import { words } from "../words/index.js";
import { icon } from "./icons.js";
import { selectionOptions } from "./selection_options.js";
import { selectedPages } from "./selection_pages.js";

/** Make the bar above the question. @param {import("../state/app.js").App} app */
export function selectionBar(app) {
  const add = h(
    "button",
    { type: "button", class: "small add-pages", "aria-haspopup": "dialog", onclick: () => app.libraryOpen.set(true) },
    icon("add"),
    words.selection.add,
  );
  return h(
    "div",
    { class: "selection", role: "group", "aria-label": words.selection.label },
    selectedPages(app, add),
    h("div", { class: "options" }, add, selectionOptions(app)),
  );
}
