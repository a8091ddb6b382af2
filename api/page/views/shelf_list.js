/** The rows of the shelf: those in sight are there, thousands are not. One tab stop, and arrows from row to row. */

import { change, fill, h } from "../dom.js";
import { words } from "../words/index.js";
import { advice, said } from "../words/problems.js";
import { pathOf } from "./answer_sources.js";
import { textButton } from "./icons.js";
import { shelfRow } from "./shelf_row.js";

const AROUND = 6; // rows that are made beyond those in sight
const ROW_REM = 3.5; // the height of each, as shelf.css has it

/** Make the list. @param {App} app @param {Shelf} shelf @param {ShelfActions} actions */
export function shelfList(app, shelf, actions) {
  const shown = /** @type {Map<number, ReturnType<typeof shelfRow>>} */ (new Map());
  /** The row that the focus is on, or goes to. */
  let active = 0;
  /** The row that was ticked last, where a stretch begins. */
  let anchor = 0;
  let drawing = 0;
  const later = () => (drawing ||= requestAnimationFrame(draw));
  const body = h("div", { class: "rows", role: "rowgroup" });
  const grid = h("div", { class: "grid", role: "grid", "aria-label": words.shelf.list, "aria-multiselectable": "true" }, body);
  const state = h("div", { class: "state" });
  const status = h("p", { class: "seen-by-readers-only", role: "status" });
  const element = h("div", { class: "shelf-list" }, status, state, grid);
  grid.addEventListener("scroll", later, { passive: true });
  grid.addEventListener("keydown", onkeydown);
  new ResizeObserver(later).observe(grid);
  shelf.view.watch(() => {
    active = anchor = grid.scrollTop = 0;
  });
  /** The document that the focus is on. */
  const focused = () => [...shown.values()].find((row) => row.element.contains(document.activeElement))?.id;
  shelf.extent.watch(() => {
    const held = focused();
    tell();
    draw();
    if (held && focused() !== held) find(held); // it stands in another place now
  });
  app.selection.pages.watch(draw);

  function draw() {
    cancelAnimationFrame(drawing);
    drawing = 0;
    const { rows } = shelf.extent.value;
    const height = rowHeight();
    body.style.height = `${rows * height}px`;
    change(grid, { "aria-rowcount": rows });
    active = Math.max(0, Math.min(active, rows - 1));
    const from = Math.max(0, Math.floor(grid.scrollTop / height) - AROUND);
    const to = Math.min(rows, Math.ceil((grid.scrollTop + grid.clientHeight) / height) + AROUND);
    shelf.want(from, to);
    for (const [at, row] of shown) {
      if (at >= from && at < to) continue;
      if (at < rows && row.element.contains(document.activeElement)) continue; // else the focus would be lost
      row.element.remove();
      shown.delete(at);
    }
    const wanted = Array.from({ length: to - from }, (_, place) => from + place);
    for (const at of new Set([...shown.keys(), ...wanted])) {
      if (!shown.get(at)?.shows(shelf.row(at))) put(at, height);
    }
    for (const [at, row] of shown) {
      row.tick((id) => app.selection.has(id));
      row.activate(at === active);
    }
  }

  /** Make a row, in the place of the one that was there, or where it stands among the others. @param {number} at @param {number} height */
  function put(at, height) {
    /** What is dragged along with a document. @param {string} id */
    const dragged = (id) => (app.selection.has(id) ? app.selection.pages.value.map((page) => page.document_id) : [id]);
    const row = shelfRow(actions, { ticked, onfocus, dragged }, at, shelf.row(at));
    const before = shown.get(at);
    const focused = before?.controls.findIndex((each) => each === document.activeElement) ?? -1;
    row.element.style.transform = `translateY(${at * height}px)`;
    shown.set(at, row);
    const next = Math.min(...[...shown.keys()].filter((each) => each > at));
    if (before) before.element.replaceWith(row.element);
    else body.insertBefore(row.element, shown.get(next)?.element ?? null);
    row.controls[focused]?.focus({ preventScroll: true });
  }

  /** Say what there is instead of rows, and how many were found. */
  function tell() {
    const { total, known, problem } = shelf.extent.value;
    const { query, type, folder, source, collection } = shelf.view.value;
    const narrowed = query || type || source || collection || folder !== null;
    const { loading, empty, invitation, nothing, failed } = words.shelf;
    grid.hidden = !total;
    state.hidden = known && total > 0 && !problem;
    if (problem) {
      const again = textButton("small", () => void shelf.refresh(), words.page.retry);
      fill(state, h("p", null, [failed, said(problem), advice(problem)].filter(Boolean).join(" ")), again);
    } else if (!known) fill(state, h("p", { class: "muted" }, loading));
    else if (narrowed) fill(state, h("p", { class: "muted" }, nothing));
    else fill(state, h("p", { class: "big" }, empty), h("p", { class: "muted" }, invitation));
    fill(status, narrowed && known && words.shelf.found({ count: total }));
  }

  /** Tick a row, or with Shift all from the one that was ticked before. @param {number} at @param {boolean} on @param {boolean} stretch */
  function ticked(at, on, stretch) {
    const [from, to] = stretch ? [Math.min(at, anchor), Math.max(at, anchor)] : [at, at];
    const those = [];
    for (let each = from; each <= to; each += 1) {
      const row = shelf.row(each);
      if (row && "document" in row) those.push(row.document);
    }
    anchor = at;
    void actions.tick(those, on).then(draw);
  }

  /** @param {number} at */
  function onfocus(at) {
    shown.get(active)?.activate(false);
    active = at;
    shown.get(at)?.activate(true);
  }

  /** Move the focus to a row, into sight. @param {number} at @returns {boolean} Whether there is any. */
  function go(at) {
    const { rows } = shelf.extent.value;
    if (!rows) return false;
    const height = rowHeight();
    const to = Math.max(0, Math.min(at, rows - 1));
    if (to * height < grid.scrollTop) grid.scrollTop = to * height;
    else if ((to + 1) * height > grid.scrollTop + grid.clientHeight) grid.scrollTop = (to + 1) * height - grid.clientHeight;
    shown.get(active)?.activate(false);
    active = to;
    draw();
    shown.get(to)?.element.focus({ preventScroll: true });
    return true;
  }

  /** @param {KeyboardEvent} event */
  function onkeydown(event) {
    const at = [...shown].find(([, row]) => row.element.contains(/** @type {Node} */ (event.target)))?.[0];
    if (at === undefined || event.altKey) return;
    const page = Math.max(1, Math.floor(grid.clientHeight / rowHeight()) - 1);
    const last = shelf.extent.value.rows - 1;
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: last }[event.key];
    const row = shown.get(at);
    if (event.key === "ArrowUp" && at === 0) element.dispatchEvent(new CustomEvent("leave", { bubbles: true }));
    else if (to !== undefined) go(to);
    else if (event.key.toLowerCase() === "a" && (event.ctrlKey || event.metaKey)) void actions.tickAll();
    else if (!row?.press(event)) return;
    event.preventDefault();
  }

  /** Move the focus to a document, where it stands among what was read. @param {string} id */
  function find(id) {
    for (let at = 0; at < shelf.extent.value.rows; at += 1) {
      const row = shelf.row(at);
      if (row && "document" in row && row.document.document_id === id) return void go(at);
    }
  }

  return { element, find, /** Move the focus into the list. */ enter: () => go(active) };
}

const rowHeight = () => ROW_REM * parseFloat(getComputedStyle(document.documentElement).fontSize);

/** Make the part of the shelf where passages stand.
 * @param {App} app @param {Shelf} shelf @param {ShelfActions} actions */
export function shelfTexts(app, shelf, actions) {
  const list = h("ul", null);
  const element = h("section", { class: "shelf-texts", "aria-label": words.shelf.texts }, h("h3", null, words.shelf.texts), list);
  let boxes = /** @type {Map<string, HTMLInputElement>} */ (new Map());
  const mark = () => boxes.forEach((box, id) => (box.checked = app.selection.has(id)));
  shelf.texts.watch((found) => {
    boxes = new Map();
    fill(list, found.map((source) => h("li", null, ...passage(source))));
    element.hidden = !found.length;
    mark();
  });
  app.selection.pages.watch(mark);

  /** @param {Source} source */
  function passage(source) {
    const { document_id, title, excerpt } = source;
    const onchange = () => void actions.tick([{ document_id, title }], box.checked).then(mark);
    const box = h("input", { type: "checkbox", "aria-label": title, onchange });
    boxes.set(document_id, box);
    const heading = pathOf(source);
    const read = h("button", { class: "quiet", dir: "auto", onclick: () => actions.read(source, source) },
      h("span", { class: "seen-by-readers-only" }, words.shelf.readTitle({ title })),
      h("b", null, heading ? `${title} · ${heading}` : title),
      h("q", null, excerpt),
    );
    return [box, read];
  }
  return element;
}
