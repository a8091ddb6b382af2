/** The document beside the answer: its text by segments, scrolled to the quote. */

import { h } from "../dom.js";
import { words } from "../words/index.js";

/** @param {import("../state/app.js").App} app */
export function reader(app) {
  const element = h("aside", { class: "reader", "aria-label": words.reader.label, hidden: true });
  app.reading.watch((reading) => (element.hidden = !reading));
  return element;
}
