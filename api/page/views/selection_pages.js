/** The selected pages and the marked passage as chips, each with a button that removes it. */

import { fill, h } from "../dom.js";
import { MOST_PAGES } from "../state/selection.js";
import { words } from "../words/index.js";
import { icon, iconButton } from "./icons.js";

/** @typedef {import("../state/app.js").App} App */
/** @typedef {import("../state/selection.js").SelectedPage} SelectedPage */

const FIRST_CHARACTERS = 60; // of a marked passage

/**
 * Select a page, or say why it can't be.
 * @param {App} app
 * @param {{document_id: string, title: string}} page
 */
export async function select(app, page) {
  if (app.selection.full && !app.selection.has(page.document_id)) {
    app.notice.set({ kind: "failed", text: words.selection.full(MOST_PAGES) });
  } else await app.attempt(() => app.selection.add(page));
}

/** Take a page out of the selection. @param {App} app @param {string} documentId */
export async function deselect(app, documentId) {
  await app.attempt(() => app.selection.remove(documentId));
}

/**
 * Make the list of chips.
 * @param {App} app
 * @param {HTMLElement} next Takes the focus where no chip is left that could.
 */
export function selectedPages(app, next) {
  const list = h("ul", { class: "chips" });
  /** @type {Map<SelectedPage, HTMLLIElement>} */
  let chips = new Map();
  /** @type {HTMLLIElement | null} */
  let marked = null;

  app.selection.pages.watch((pages) => {
    const refocus = focusKeeper(list, next);
    chips = new Map(pages.map((page) => [page, chips.get(page) ?? pageChip(app, page)]));
    fill(list, marked, [...chips.values()]);
    list.hidden = !list.childElementCount;
    refocus();
  });
  app.tabs.hear(({ kind }) => {
    if (kind === "library") void app.selection.check();
  });
  app.selection.passage.watch((passage) => {
    const refocus = focusKeeper(list, next);
    marked = passage && passageChip(app, passage);
    fill(list, marked, [...chips.values()]);
    list.hidden = !list.childElementCount;
    refocus();
  });
  return list;
}

/** @param {App} app @param {SelectedPage} page */
function pageChip(app, page) {
  const title = page.gone ? page.title || words.selection.gone : page.title || words.selection.unnamed;
  return chip({
    kind: page.gone ? (page.title ? "gone named" : "gone") : "",
    drawing: page.gone ? "cross" : "page",
    before: page.gone && page.title ? words.selection.gone : null,
    text: title,
    hint: page.gone ? words.selection.goneHint : title,
    removal: words.selection.removeTitle(title),
    remove: () => void deselect(app, page.document_id),
  });
}

/** @param {App} app @param {import("../state/selection.js").Passage} passage */
function passageChip(app, passage) {
  const text = [...passage.text.replace(/\s+/g, " ").trim()];
  return chip({
    kind: "marked",
    drawing: "quote",
    before: words.selection.passage,
    text: text.length > FIRST_CHARACTERS ? `${text.slice(0, FIRST_CHARACTERS).join("").trimEnd()}…` : text.join(""),
    hint: words.selection.passageOf(passage.title),
    removal: words.selection.removePassage,
    remove: () => app.selection.passage.set(null),
  });
}

/**
 * @param {{kind: string, drawing: import("./icons.js").IconName, before: string | null, text: string, hint: string,
 *   removal: string, remove: () => void}} what
 */
function chip({ kind, drawing, before, text, hint, removal, remove }) {
  const cross = iconButton("close", removal, remove, "quiet remove");
  const said = before && h("span", { class: "seen-by-readers-only" }, `${before}: `);
  return h(
    "li",
    { class: `chip ${kind}`.trim() },
    icon(drawing),
    h("span", { class: "name", title: hint }, said, text),
    cross,
  );
}

/**
 * Remember which chip has the focus; what is given back moves it to the one in its place, should it be gone.
 * @param {HTMLElement} list
 * @param {HTMLElement} next
 */
function focusKeeper(list, next) {
  const at = [...list.children].findIndex((chip) => chip.contains(document.activeElement));
  return () => {
    if (at < 0 || list.contains(document.activeElement)) return;
    const chips = [...list.querySelectorAll("button")];
    (chips[at] ?? chips.at(-1) ?? next).focus();
  };
}
