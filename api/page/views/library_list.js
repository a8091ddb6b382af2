/** What the library has, or what of it was found, in groups: selected, by title, by what the texts say. */

import { fill, h } from "../dom.js";
import { words } from "../words/index.js";
import { advice, said } from "../words/problems.js";
import { documentRow } from "./library_row.js";

/** @typedef {import("../state/library.js").Library} Library */
/** @typedef {import("./library_row.js").Known} Known */
/** @typedef {import("./library_row.js").Row} Row */

/**
 * Make the list of what the library has.
 * @param {import("../state/app.js").App} app
 * @param {Library} library
 * @param {import("./library_row.js").Actions} actions
 */
export function libraryList(app, library, actions) {
  /**
   * Pages that were selected as the list was opened: they stand on top until it is opened anew, or none would find them.
   * @type {Known[]}
   */
  let pinned = [];
  const pins = group(words.library.selected);
  const titles = group(words.library.titles);
  const texts = group(words.library.texts);
  const more = h("button", { type: "button", class: "more", onclick: () => void library.more() }, words.library.more);
  const empty = h(
    "div",
    { class: "nothing" },
    h("p", { class: "big" }, words.library.empty),
    h("p", { class: "muted" }, words.library.invitation),
  );
  const status = h("p", { class: "seen-by-readers-only", role: "status" });
  const element = h(
    "div",
    { class: "documents", onkeydown },
    status,
    empty,
    pins.element,
    titles.element,
    more,
    texts.element,
  );
  app.selection.pages.watch(mark);
  library.documents.watch(show);
  library.texts.watch(show);

  function show() {
    const [byTitle, byText] = [library.documents.value, library.texts.value];
    const known = new Map(byTitle.items.map((document) => [document.document_id, document]));
    const top = library.query ? [] : pinned.map((page) => known.get(page.document_id) ?? page);
    const onTop = new Set(top.map((page) => page.document_id));
    const others = byTitle.items.filter((document) => !onTop.has(document.document_id));
    const nothing = !library.query && !byTitle.loading && !byTitle.problem && !byTitle.items.length && !top.length;
    pins.show(top.map((page) => ({ known: page, found: null })), actions, null);
    titles.show(
      others.map((document) => ({ known: document, found: null })),
      actions,
      stateOf(byTitle, words.library.none, words.library.failed, () => library.refresh()),
    );
    texts.show(
      (byText?.items ?? []).map((source) => ({ known: source, found: source })),
      actions,
      byText && stateOf(byText, words.library.noneInTexts, words.library.searchFailed, () => library.refresh()),
    );
    pins.element.hidden = !top.length;
    const told = byTitle.loading || byTitle.problem || (library.query && !byText?.items.length);
    titles.element.hidden = nothing || (!others.length && !told);
    texts.element.hidden = !byText;
    empty.hidden = !nothing;
    more.hidden = !byTitle.cursor;
    more.disabled = byTitle.loading;
    if (!library.query) tell("");
    else tell(byTitle.loading || byText?.loading ? words.library.searching : words.library.found(distinct()));
    mark();
  }

  /** @param {string} text */
  function tell(text) {
    if (status.textContent !== text) status.textContent = text;
  }

  function distinct() {
    const items = [...library.documents.value.items, ...(library.texts.value?.items ?? [])];
    return new Set(items.map((item) => item.document_id)).size;
  }

  function mark() {
    for (const row of [...pins.rows(), ...titles.rows(), ...texts.rows()]) row.mark(app.selection.has(row.documentId));
  }

  function boxes() {
    return [...element.querySelectorAll("input")].filter((box) => box.checkVisibility());
  }

  /** @param {KeyboardEvent} event */
  function onkeydown(event) {
    const found = boxes();
    const at = found.findIndex((box) => box.closest("li")?.contains(/** @type {Node} */ (event.target)));
    if (event.key === "Enter" && found[at] === event.target) found[at]?.click();
    else if (event.key === "ArrowDown") found[at + 1]?.focus();
    else if (event.key === "ArrowUp" && at > 0) found[at - 1]?.focus();
    else if (event.key === "ArrowUp") element.dispatchEvent(new CustomEvent("leave", { bubbles: true }));
    else return;
    event.preventDefault();
  }

  return {
    element,
    /** Put the pages that are selected now on top. */
    pin() {
      pinned = app.selection.pages.value.filter((page) => !page.gone);
      show();
    },
    /** Forget a page that was deleted. @param {string} documentId */
    drop(documentId) {
      pinned = pinned.filter((page) => page.document_id !== documentId);
      show();
    },
    mark,
    /** Tell at which place the focus is; -1 where it is elsewhere. */
    place() {
      return boxes().findIndex((box) => box.closest("li")?.contains(document.activeElement));
    },
    /**
     * Move the focus into the list: to a place, or to the last where there are less.
     * @returns {boolean} Whether there is any.
     */
    enter(place = 0) {
      const found = boxes();
      (found[place] ?? found.at(-1))?.focus();
      return found.length > 0;
    },
  };
}

/** What stands under a group's rows. @typedef {{text: string, again: (() => void) | null}} State */

/**
 * @param {import("../state/library.js").Part<unknown>} part
 * @param {string} none
 * @param {string} failed
 * @param {() => void} again
 * @returns {State | null}
 */
function stateOf({ items, loading, problem }, none, failed, again) {
  if (problem) return { text: [failed, said(problem), advice(problem)].filter(Boolean).join(" "), again };
  if (loading) return items.length ? null : { text: words.library.loading, again: null };
  return items.length ? null : { text: none, again: null };
}

/** @param {string} name */
function group(name) {
  /** @type {Map<string, Row>} */
  let rows = new Map();
  const list = h("ul", null);
  const text = h("span", null);
  const again = h("button", { type: "button", class: "small" }, words.page.retry);
  const state = h("p", { class: "state muted" }, text, again);
  const element = h("section", { "aria-label": name }, h("h3", null, name), list, state);
  return {
    element,
    rows: () => rows.values(),
    /**
     * @param {{known: Known, found: import("./library_row.js").Source | null}[]} items
     * @param {import("./library_row.js").Actions} actions
     * @param {State | null} told
     */
    show(items, actions, told) {
      rows = new Map(items.map(({ known }) => [
        known.document_id,
        rows.get(known.document_id) ?? documentRow(actions),
      ]));
      for (const { known, found } of items) rows.get(known.document_id)?.show(known, found);
      fill(list, [...rows.values()].map((row) => row.element));
      state.hidden = !told;
      text.textContent = told?.text ?? "";
      again.hidden = !told?.again;
      again.onclick = told?.again ?? null;
    },
  };
}
