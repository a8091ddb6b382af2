/** What stands above the list of documents: what it is found, sorted, narrowed and grouped by, and what can be done with those that are ticked. */

import { change, fill, h } from "../dom.js";
import { MOST_GROUPS } from "../state/shelf.js";
import { words } from "../words/index.js";
import { icon, iconButton, textButton } from "./icons.js";
import { later } from "./later.js";
import { formatOf } from "./shelf_row.js";

const TYPING_MS = 200; // that a search waits for the next letter
const MOST_STUDIED = 5; // documents at once

/** Make the field and the choices.
 * @param {Shelf} shelf @param {{element: HTMLElement, enter: () => boolean}} list What the arrow down leads into. */
export function shelfTools(shelf, list) {
  let typing = 0;
  const { search: label } = words.shelf;
  const search = h("input", { type: "search", "aria-label": label, placeholder: label, oninput, onkeydown });
  const sorts = /** @type {[import("../state/shelf.js").Sort, string][]} */ (Object.entries(words.shelf.sorts));
  const sort = choice(words.shelf.sort, (value) => ({ sort: /** @type {import("../state/shelf.js").Sort} */ (value) }));
  fill(sort.select, sorts.map(([value, text]) => h("option", { value }, text)));
  const type = choice(words.shelf.type, (value) => ({ type: value }));
  // An empty folder is one too: files that are in none.
  const folder = choice(words.shelf.folder, (value) => ({ folder: value ? value.slice(1) : null }));
  const source = choice(words.shelf.source, (value) => ({ source: value }));
  const group = h("input", { type: "checkbox", onchange: () => void shelf.look({ grouped: group.checked }) });
  const grouping = h("label", { class: "check" }, group, words.shelf.group);
  const filters = h("details", { class: "filters" },
    h("summary", null, icon("only"), words.shelf.filters),
    h("div", { class: "choosing" }, sort.element, type.element, folder.element, source.element, grouping),
  );
  const element = h("div", { class: "shelf-tools" }, h("div", { class: "field" }, icon("search"), search), filters);
  list.element.addEventListener("leave", () => search.focus());

  shelf.summary.watch((summary) => {
    if (!summary) return;
    const { types = [], folders = [], folder_count = 0, sources = [] } = summary;
    type.offer(words.shelf.types, types.map(({ media_type, documents }) => [media_type, formatOf(media_type) || media_type, documents]));
    folder.offer(words.shelf.folders, folders.map((each) => [`/${each.folder}`, each.folder || words.shelf.noFolder, each.documents]));
    source.offer(words.shelf.sources, sources.map((each) => [each.source_id, nameOf(each), each.documents]));
    grouping.hidden = folder_count < 2;
    group.disabled = folder_count > MOST_GROUPS;
    change(grouping, { title: group.disabled ? words.shelf.tooManyFolders : null });
  });
  shelf.view.watch((view) => {
    sort.select.disabled = view.grouped;
    filters.classList.toggle("narrowed", Boolean(view.type || view.source || view.grouped || view.folder !== null));
  });

  /** @param {string} label @param {(value: string) => Partial<import("../state/shelf.js").View>} chosen */
  function choice(label, chosen) {
    const select = h("select", { "aria-label": label, onchange: () => void shelf.look(chosen(select.value)) });
    const whole = h("label", null, h("span", null, label), select);
    return {
      element: whole,
      select,
      /** Offer all, and those there are. @param {string} all @param {[string, string, number][]} options */
      offer(all, options) {
        const chosenBefore = select.value;
        whole.hidden = options.length < 2 && !chosenBefore;
        const offered = options.map(([value, text, count]) => h("option", { value, dir: "auto" }, `${text} (${count})`));
        fill(select, h("option", { value: "" }, all), offered);
        select.value = options.some(([value]) => value === chosenBefore) ? chosenBefore : "";
        if (select.value !== chosenBefore) void shelf.look(chosen(""));
      },
    };
  }

  function oninput() {
    clearTimeout(typing);
    typing = setTimeout(() => void shelf.look({ query: search.value.trim() }), TYPING_MS);
  }

  /** @param {KeyboardEvent} event */
  function onkeydown(event) {
    if (event.key === "Escape" && search.value) return event.stopPropagation(); // it clears the field
    if (event.key !== "ArrowDown" || !list.enter()) return;
    event.preventDefault();
  }

  return { element, focus: () => search.focus() };
}

/** @param {{kind: string, location: string}} source */
function nameOf({ kind, location }) {
  const kinds = /** @type {Record<string, string>} */ (words.shelf.kinds);
  const place = location.replace(/^\w+:\/\//, "").replace(/\/+$/, "");
  return `${kinds[kind] ?? kind}: ${kind === "folder" ? place.slice(place.lastIndexOf("/") + 1) : place}`;
}

/**
 * Make the line above the list.
 * @param {App} app
 * @param {Shelf} shelf
 * @param {ShelfActions} actions
 * @param {HTMLElement} put What puts them in a collection.
 */
export function shelfTicks(app, shelf, actions, put) {
  const { selection } = app;
  const said = h("p", { class: "said", role: "status" });
  const clear = textButton("small", () => void app.attempt(() => selection.save([], [])), words.shelf.clear);
  clear.ariaLabel = words.shelf.clearLabel;
  const remove = iconButton("trash", words.shelf.delete, () => void actions.delete(selection.pages.value.filter((page) => !page.gone)), "quiet small writes");
  const all = textButton("small", () => void actions.tickAll(), words.shelf.tickAll);
  const note = h("p", { class: "note" });
  const lost = h("p", null);
  const forgetGone = () => void actions.tick(selection.pages.value.filter((page) => page.gone), false);
  const forget = textButton("small", forgetGone, words.shelf.forget);
  const gone = h("div", { class: "gone note" }, lost, forget);
  const element = h("div", { class: "ticks" },
    h("div", { class: "line" }, said, clear, put, remove, all),
    studyButtons(app), note, gone,
  );
  for (const cell of [selection.pages, selection.collections, shelf.summary, shelf.extent]) /** @type {Cell<unknown>} */ (cell).watch(show);

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
