/** Cards to learn documents by: a question, and behind it an answer with the quotes that prove it. */

import { Problem } from "../api/problem.js";
import { fill, h } from "../dom.js";
import { readable } from "../text/reading.js";
import { words } from "../words/index.js";
import { said } from "../words/problems.js";
import { answerOf } from "./comparison.js";
import { openDialog } from "./dialog.js";
import { icon, textButton } from "./icons.js";
import { keepOver } from "./notes_place.js";

/**
 * Make cards of documents, and show one after the other.
 * @param {App} app
 * @param {string[]} ids Of one to five documents.
 */
export async function flashcards(app, ids) {
  const texts = words.studies;
  const status = h("p", { class: "muted", role: "status" }, texts.working);
  const card = h("div", { class: "flashcard note", "aria-live": "polite" });
  const tools = h("div", { class: "choices" });
  const dialog = openDialog(texts.cards, { class: "notes" }, status, card, tools);
  const gone = keepOver(dialog);
  /** @type {Wire.Flashcard[]} */
  let cards = [];
  let dropped = 0;
  /** @type {Wire.Flashcards["by"]} */
  let by;
  try {
    const json = { document_ids: ids, model: app.selection.options.value.model };
    [{ by, cards, dropped }] = await Promise.all([app.client.json("api/flashcards", { method: "POST", json, list: "cards", signal: gone }), readable()]);
  } catch (error) {
    if (gone.aborted) return;
    fill(status, error instanceof Problem ? said(error) : "");
    if (error instanceof Problem) return;
    throw error;
  }
  if (!cards.length) return fill(status, dropped ? texts.dropped({ count: dropped }) : by === "model" ? texts.noneFound : texts.noCards);
  const close = /** @type {HTMLElement} */ (dialog.querySelector("button"));
  const before = textButton("", () => show(at - 1), icon("back"), texts.before);
  const next = textButton("", () => show(at + 1), texts.next, icon("next"));
  const answer = textButton("primary", turn, texts.show);
  let at = 0;
  fill(tools, before, answer, next);
  if (cards.length < 2) before.hidden = next.hidden = true;
  show(0);

  /** @param {number} wanted */
  function show(wanted) {
    at = wanted;
    fill(status, [texts.at({ at: at + 1, of: cards.length }), dropped && texts.dropped({ count: dropped })].filter(Boolean).join(" · "));
    fill(card, h("h3", { dir: "auto" }, cards[at]?.question));
    before.disabled = at === 0;
    next.disabled = at === cards.length - 1;
    answer.hidden = false;
    if (dialog.open) answer.focus();
  }

  function turn() {
    const shown = cards[at];
    if (shown) fill(card, h("h3", { dir: "auto" }, shown.question), ...answerOf(app, shown.answer));
    answer.hidden = true;
    (next.disabled ? cards.length > 1 ? before : close : next).focus();
  }
}
