/** Above the question: the selected pages as chips, and where to look for the answer. */

import { h } from "../dom.js";

/** @param {import("../state/app.js").App} app */
export function selectionBar(app) {
  const bar = h("div", { class: "selection" });
  app.selection.pages.watch((pages) => bar.replaceChildren(...pages.map((page) => h("span", { class: "chip" }, page.title))));
  return bar;
}
