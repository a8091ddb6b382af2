/** How many documents are ticked, what that means for the answer, and what can be done with them. */

import { fill, h } from "../dom.js";
import { words } from "../words/index.js";
import { iconButton, textButton } from "./icons.js";
import { later } from "./later.js";

const MOST_STUDIED = 5; // documents at once

/**
 * Make the line above the list.
 * @param {App} app
 * @param {Shelf} shelf
 * @param {import("./shelf.js").Actions} actions
 * @param {HTMLElement} put What puts them in a collection.
 */
export function shelfTicks(app, shelf, actions, put) {
  const { selection } = app;
  const said = h("p", { class: "said", role: "status" });
  const clear = h(
    "button",
    { class: "small", "aria-label": words.shelf.clearLabel, onclick: () => void app.attempt(() => selection.save([], [])) },
    words.shelf.clear,
  );
  const remove = iconButton("trash", words.shelf.delete, () => void actions.delete(selection.pages.value.filter((page) => !page.gone)), "quiet small writes");
  const all = textButton("small", () => void actions.tickAll(), words.shelf.tickAll);
  const note = h("p", { class: "note" });
  const lost = h("p", null);
  const forget = textButton(
    "small",
    () => void actions.tick(selection.pages.value.filter((page) => page.gone), false),
    words.shelf.forget,
  );
  const gone = h("div", { class: "gone note" }, lost, forget);
  const element = h("div", { class: "ticks" },
    h("div", { class: "line" }, said, clear, put, remove, all),
    studyButtons(app), note, gone,
  );
  selection.pages.watch(show);
  selection.collections.watch(show);
  shelf.summary.watch(show);
  shelf.extent.watch(show);

  function show() {
    const pages = selection.pages.value;
    const there = pages.filter((page) => !page.gone);
    const count = pages.length;
    const sets = selection.collections.value.length;
    const ticked = [sets ? words.collections.ticked({ count: sets }) : "", count ? words.shelf.ticked({ count }) : ""].filter(Boolean);
    fill(said, ticked.join(" · ") || words.shelf.none);
    clear.hidden = !ticked.length;
    remove.hidden = !there.length;
    all.hidden = !shelf.extent.value.total;
    element.classList.toggle("some", ticked.length > 0);
    const limit = shelf.summary.value?.reads_whole;
    const tokens = there.reduce((sum, page) => sum + page.tokens, 0);
    const tooMany = limit && there.length > limit.documents;
    const told = tooMany ? words.shelf.searched({ most: limit.documents }) : limit && tokens > limit.tokens ? words.shelf.inPart : "";
    fill(note, told);
    note.hidden = !told;
    const missing = count - there.length;
    gone.hidden = !missing;
    lost.textContent = missing ? words.shelf.gone({ count: missing }) : "";
  }
  return element;
}

/** Make the buttons of what can be made of documents, which are there while few enough are ticked. @param {App} app */
function studyButtons(app) {
  const there = () => app.selection.pages.value.filter((page) => !page.gone).map((page) => page.document_id);
  /** @param {"compare" | "flashcards"} what */
  const making = (what) => () => void later(app, () => import("./studies.js"), (studies) => studies[what](app, there()));
  const compare = textButton("small", making("compare"), words.studies.compare);
  const cards = textButton("small", making("flashcards"), words.studies.make);
  const element = h("div", { class: "line studies" }, compare, cards);
  app.selection.pages.watch(() => {
    const count = there().length;
    element.hidden = !count || count > MOST_STUDIED;
    compare.hidden = count < 2;
  });
  return element;
}
