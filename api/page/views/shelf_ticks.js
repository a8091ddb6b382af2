/** How many documents are ticked, what that means for the answer, and what can be done with them. */

import { change, h } from "../dom.js";
import { number } from "../words/format.js";
import { words } from "../words/index.js";
import { icon, textButton } from "./icons.js";
import { studyButtons } from "./studies.js";

/**
 * Make the line above the list.
 * @param {import("../state/app.js").App} app
 * @param {import("../state/shelf.js").Shelf} shelf
 * @param {import("./shelf.js").Actions} actions
 */
export function shelfTicks(app, shelf, actions) {
  const { selection } = app;
  const said = h("p", { class: "said", role: "status" });
  const clear = h(
    "button",
    { type: "button", class: "small", "aria-label": words.shelf.clearLabel, onclick: () => void actions.tick(selection.pages.value, false) },
    words.shelf.clear,
  );
  const remove = textButton(
    "small writes",
    () => void actions.delete(selection.pages.value.filter((page) => !page.gone)),
    icon("trash"),
    words.shelf.delete,
  );
  const all = textButton("small", () => void actions.tickAll(), words.shelf.tickAll);
  const note = h("p", { class: "note" });
  const lost = h("p", null);
  const forget = textButton(
    "small",
    () => void actions.tick(selection.pages.value.filter((page) => page.gone), false),
    words.shelf.forget,
  );
  const gone = h("div", { class: "gone note" }, lost, forget);
  const element = h(
    "div",
    { class: "ticks" },
    h("div", { class: "line" }, said, clear, remove, all),
    studyButtons(app),
    note,
    gone,
  );
  selection.pages.watch(show);
  shelf.summary.watch(show);
  shelf.extent.watch(show);

  function show() {
    const pages = selection.pages.value;
    const there = pages.filter((page) => !page.gone);
    const count = pages.length;
    const text = count ? words.shelf.ticked(count, number(count)) : words.shelf.none;
    if (said.textContent !== text) said.textContent = text;
    clear.hidden = !count;
    remove.hidden = !there.length;
    all.hidden = !shelf.extent.value.total;
    element.classList.toggle("some", count > 0);
    const limit = shelf.summary.value?.reads_whole;
    const tokens = there.reduce((sum, page) => sum + page.tokens, 0);
    const tooMany = limit && there.length > limit.documents;
    const told = tooMany ? words.shelf.searched(number(limit.documents)) : limit && tokens > limit.tokens ? words.shelf.inPart : "";
    if (note.textContent !== told) note.textContent = told;
    change(note, { hidden: !told });
    const missing = count - there.length;
    gone.hidden = !missing;
    lost.textContent = missing ? words.shelf.gone(missing) : "";
  }
  return element;
}
