/** What the texts of documents say about what is looked for, below those that are called so. */

import { fill, h } from "../dom.js";
import { words } from "../words/index.js";
import { pathOf } from "./answer_sources.js";

/**
 * Make the part of the shelf where passages stand.
 * @param {App} app
 * @param {import("../state/shelf.js").Shelf} shelf
 * @param {import("./shelf.js").Actions} actions
 */
export function shelfTexts(app, shelf, actions) {
  const list = h("ul", null);
  const element = h("section", { class: "shelf-texts", "aria-label": words.shelf.texts }, h("h3", null, words.shelf.texts), list);
  /** @type {Map<string, HTMLInputElement>} */
  let boxes = new Map();
  shelf.texts.watch((found) => {
    boxes = new Map();
    fill(list, found.map((source) => h("li", null, ...passage(source))));
    element.hidden = !found.length;
    mark();
  });
  app.selection.pages.watch(mark);

  function mark() {
    for (const [id, box] of boxes) box.checked = app.selection.has(id);
  }

  /** @param {Source} source */
  function passage(source) {
    const { document_id, title, excerpt } = source;
    const box = h("input", {
      type: "checkbox",
      "aria-label": title,
      onchange: () => void actions.tick([{ document_id, title }], box.checked).then(mark),
    });
    boxes.set(document_id, box);
    const heading = pathOf(source);
    const read = h("button", { class: "quiet", dir: "auto", onclick: () => actions.read(source, source) },
      h("span", { class: "seen-by-readers-only" }, words.shelf.readTitle({ title })),
      h("b", null, heading ? `${title} · ${heading}` : title),
      h("q", null, excerpt),
    );
    return [box, read];
  }
  return element;
}
