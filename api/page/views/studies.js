/** What can be made of ticked documents: a comparison of them, and cards to learn them by. */

import { h } from "../dom.js";
import { words } from "../words/index.js";
import { textButton } from "./icons.js";
import { wanted } from "./later.js";

const MOST = 5; // documents at once

/** Make the buttons, which are there while few enough documents are ticked. @param {App} app */
export function studyButtons(app) {
  const there = () => app.selection.pages.value.filter((page) => !page.gone).map((page) => page.document_id);
  const compare = textButton("small", () => void comparing(), words.studies.compare);
  const cards = textButton("small", () => void making(), words.studies.make);
  const element = h("div", { class: "line studies" }, compare, cards);
  app.selection.pages.watch(() => {
    const count = there().length;
    element.hidden = !count || count > MOST;
    compare.hidden = count < 2;
  });

  async function comparing() {
    const loaded = await wanted(app, () => import("./comparison.js"), () => void comparing());
    loaded?.compare(app, there());
  }

  async function making() {
    const loaded = await wanted(app, () => import("./flashcards.js"), () => void making());
    await loaded?.flashcards(app, there());
  }
  return element;
}
