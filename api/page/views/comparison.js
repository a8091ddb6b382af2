/** Documents side by side: a row a point, a column a document, every cell with the quotes that prove it. */

import { Problem } from "../api/problem.js";
import { fill, h } from "../dom.js";
import { readable } from "../text/reading.js";
import { words } from "../words/index.js";
import { said } from "../words/problems.js";
import { openDialog } from "./dialog.js";
import { quotesOf, written } from "./notes_entry.js";
import { keepOver } from "./notes_place.js";

/**
 * Ask by what documents are to be compared, and show them side by side.
 * @param {App} app
 * @param {string[]} ids Of two to five documents.
 */
export function compare(app, ids) {
  const texts = words.studies;
  const { writes } = app.selection;
  const question = h("input", { type: "text", id: "compared-by", maxlength: 10_000, dir: "auto", required: !writes });
  const make = h("button", { type: "submit", class: "primary" }, texts.compare);
  const form = h("form", { onsubmit: asked }, h("label", { for: "compared-by" }, writes ? texts.byModel : texts.by), h("p", { class: "pair" }, question, make));
  const status = h("p", { class: "muted", role: "status" });
  const table = h("div", { class: "compared", tabindex: 0, role: "region", "aria-label": texts.compareTitle, hidden: true });
  const gone = keepOver(openDialog(texts.compareTitle, { class: "notes wide" }, form, status, table));
  question.focus();

  /** @param {SubmitEvent} event */
  async function asked(event) {
    event.preventDefault();
    make.disabled = true;
    fill(status, texts.working);
    try {
      const json = { document_ids: ids, question: question.value.trim(), model: app.selection.options.value.model };
      const [compared] = await Promise.all([app.client.json("api/comparisons", { method: "POST", json, list: "rows", signal: gone }), readable()]);
      show(compared);
    } catch (error) {
      if (gone.aborted) return;
      fill(status, error instanceof Problem ? said(error) : "");
      if (!(error instanceof Problem)) throw error;
    } finally {
      make.disabled = false;
    }
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

/**
 * Show what a document says: the claims, unless they are its very words, and the quotes that prove them.
 * @param {App} app
 * @param {Wire.StudyAnswer} answer
 */
export function answerOf(app, { state, claims, sources }) {
  if (state !== "said") return [h("p", { class: "muted" }, words.studies[state])];
  const own = claims.filter(({ text, citations }) => !citations.some(({ quote }) => quote === text || quote.includes(text)));
  return [...own.map(({ text }) => written(text)), ...quotesOf(app, claims, sources)];
}
