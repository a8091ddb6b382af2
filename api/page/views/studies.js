/** What is made of ticked documents: a comparison of them, and cards to learn them by; each with the quotes that prove it. */

import { Problem } from "../api/problem.js";
import { fill, h } from "../dom.js";
import { readable } from "../text/reading.js";
import { words } from "../words/index.js";
import { said } from "../words/problems.js";
import { openDialog } from "./dialog.js";
import { icon, textButton } from "./icons.js";
import { quotesOf, written } from "./notes_entry.js";
import { keepOver } from "./notes_place.js";

/** Ask by what documents are to be compared, and show them side by side: a row a point, a column a document.
 * @param {App} app @param {string[]} ids Of two to five documents. */
export function compare(app, ids) {
  const texts = words.studies;
  const { writes } = app.selection;
  const question = h("input", { type: "text", id: "compared-by", maxlength: 10_000, dir: "auto", required: !writes });
  const button = h("button", { type: "submit", class: "primary" }, texts.compare);
  const form = h("form", { onsubmit: asked }, h("label", { for: "compared-by" }, writes ? texts.byModel : texts.by), h("p", { class: "pair" }, question, button));
  const status = h("p", { class: "muted", role: "status" });
  const table = h("div", { class: "compared", tabindex: 0, role: "region", "aria-label": texts.compareTitle, hidden: true });
  const gone = keepOver(openDialog(texts.compareTitle, { class: "notes wide" }, form, status, table));
  question.focus();

  async function asked() {
    button.disabled = true;
    const json = { document_ids: ids, question: question.value.trim() };
    await make(app, "api/comparisons", json, "rows", status, gone, show).finally(() => (button.disabled = false));
  }

  /** @param {Wire.Comparison} compared */
  function show({ by, documents, rows }) {
    fill(status, !rows.length ? texts.none : by === "model" ? texts.checked : texts.quoted);
    table.hidden = !rows.length;
    // Roles are said, since on a narrow window rows are drawn as blocks.
    fill(table, h("table", { role: "table" },
      h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, [texts.point, ...documents.map(({ title }) => title)].map((title) =>
        h("th", { scope: "col", role: "columnheader", dir: "auto" }, title)))),
      h("tbody", { role: "rowgroup" }, rows.map(({ point, cells }) => h("tr", { role: "row" },
        h("th", { scope: "row", role: "rowheader", dir: "auto" }, point),
        cells.map((cell, at) => h("td", { role: "cell", "data-of": documents[at]?.title }, answerOf(app, cell))),
      ))),
    ));
  }
}

/** Make cards of documents, and show one after the other: a question, and behind it its answer.
 * @param {App} app @param {string[]} ids Of one to five documents. */
export async function flashcards(app, ids) {
  const texts = words.studies;
  const status = h("p", { class: "muted", role: "status" });
  const card = h("div", { class: "flashcard note", "aria-live": "polite" });
  const tools = h("div", { class: "choices" });
  const dialog = openDialog(texts.cards, { class: "notes" }, status, card, tools);
  const close = /** @type {HTMLElement} */ (dialog.querySelector("button"));
  const before = textButton("", () => show(at - 1), icon("back"), texts.before);
  const next = textButton("", () => show(at + 1), texts.next, icon("next"));
  const answer = textButton("primary", turn, texts.show);
  let cards = /** @type {Wire.Flashcard[]} */ ([]);
  let [dropped, at] = [0, 0];
  await make(app, "api/flashcards", { document_ids: ids }, "cards", status, keepOver(dialog), deal);

  /** @param {Wire.Flashcards} reply */
  function deal(reply) {
    ({ cards, dropped } = reply);
    const none = reply.by === "model" ? texts.noneFound : texts.noCards;
    if (!cards.length) return fill(status, dropped ? texts.dropped({ count: dropped }) : none);
    fill(tools, before, answer, next);
    if (cards.length < 2) before.hidden = next.hidden = true;
    show(0);
  }

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

/**
 * Have something made of documents, show it, and say how that goes.
 * @param {App} app
 * @param {string} path
 * @param {object} asked
 * @param {string} list What the reply has to hold.
 * @param {HTMLElement} status
 * @param {AbortSignal} signal Tells when nobody waits for it any more.
 * @param {(reply: any) => void} show
 */
async function make(app, path, asked, list, status, signal, show) {
  fill(status, words.studies.working);
  try {
    const json = { ...asked, model: app.selection.options.value.model };
    const [reply] = await Promise.all([app.client.json(path, { method: "POST", json, list, signal }), readable()]);
    show(reply);
  } catch (error) {
    if (signal.aborted) return;
    fill(status, error instanceof Problem && said(error));
    if (!(error instanceof Problem)) throw error;
  }
}

/** Show what a document says: the claims, unless they are its very words, and the quotes that prove them. @param {App} app @param {Wire.StudyAnswer} answer */
function answerOf(app, { state, claims, sources }) {
  if (state !== "said") return [h("p", { class: "muted" }, words.studies[state])];
  const own = claims.filter(({ text, citations }) => !citations.some(({ quote }) => quote === text || quote.includes(text)));
  return [...own.map(({ text }) => written(text)), ...quotesOf(app, claims, sources)];
}
