/** What answers the next question: all documents, or those that are ticked; and the passage that was marked. */

import { change, fill, h } from "../dom.js";
import { number } from "../words/format.js";
import { words } from "../words/index.js";
import { icon, iconButton } from "./icons.js";

/** @typedef {import("../state/app.js").App} App */

const FIRST_CHARACTERS = 60; // of a marked passage

/** Make the button that says which documents answer, and leads to them. @param {App} app */
export function documentScope(app) {
  const text = h("span", { class: "name", dir: "auto" });
  const lost = h("span", { class: "lost" });
  const open = h(
    "button",
    { type: "button", class: "small scope", "aria-controls": "shelf", onclick: () => app.showLibrary() },
    icon("book"),
    text,
    lost,
  );
  const clear = iconButton("close", words.selection.clear, () => {
    open.focus();
    void app.attempt(() => app.selection.remove(...app.selection.pages.value.map((page) => page.document_id)));
  }, "quiet small clear");
  app.selection.pages.watch((pages) => {
    const there = pages.filter((page) => !page.gone);
    const [only] = there;
    const { all, allHint, some, someHint, gone, untitled } = words.selection;
    text.textContent = !there.length ? all : there.length === 1 && only ? only.title || untitled : some(number(there.length));
    open.title = there.length ? someHint : allHint;
    open.classList.toggle("some", there.length > 0);
    clear.hidden = !pages.length;
    const missing = pages.length - there.length;
    lost.textContent = missing ? gone(missing) : "";
    lost.hidden = !missing;
  });
  app.libraryOpen.watch((isOpen) => change(open, { "aria-expanded": String(isOpen) }));
  app.tabs.hear(({ kind }) => {
    if (kind === "library") void app.selection.check();
  });
  return h("div", { class: "scoping" }, open, clear);
}

/** Make the chip of the marked passage. @param {App} app @param {HTMLElement} next Takes the focus where it is put away. */
export function markedPassage(app, next) {
  const element = h("ul", { class: "chips", hidden: true });
  app.selection.passage.watch((passage) => {
    const focused = element.contains(document.activeElement);
    fill(element, passage && passageChip(app, passage));
    element.hidden = !passage;
    if (focused) next.focus();
  });
  return element;
}

/** @param {App} app @param {import("../state/selection.js").Passage} passage */
function passageChip(app, passage) {
  const text = [...passage.text.replace(/\s+/g, " ").trim()];
  const said = text.length > FIRST_CHARACTERS ? `${text.slice(0, FIRST_CHARACTERS).join("").trimEnd()}…` : text.join("");
  const put = () => app.selection.passage.set(null);
  return h(
    "li",
    { class: "chip" },
    icon("quote"),
    h(
      "span",
      { class: "name", dir: "auto", title: words.selection.passageOf(passage.title) },
      h("span", { class: "seen-by-readers-only" }, `${words.selection.passage}: `),
      said,
    ),
    iconButton("close", words.selection.removePassage, put, "quiet remove"),
  );
}
