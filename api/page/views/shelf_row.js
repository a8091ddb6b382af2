/** A row of the shelf: a document, the head of a folder, or one that is still being read. */

import { change, fill, h } from "../dom.js";
import { moment } from "../words/format.js";
import { words } from "../words/index.js";
import { icon, iconButton } from "./icons.js";
import { DRAGGED } from "./shelf_collections.js";

/** @typedef {import("../state/shelf.js").Row} Row */

/**
 * Make a row, to be shown as any and as another later.
 * @param {import("./shelf.js").Actions} actions
 * @param {{ticked: (at: number, on: boolean, stretch: boolean) => void, onfocus: (at: number) => void,
 *   dragged: (id: string) => string[]}} told
 */
export function shelfRow(actions, told) {
  let at = -1;
  /** @type {Row} */
  let row = null;
  /** Whether it was shown at all, since a row that is being read is nothing. */
  let filled = false;
  const box = h("input", { type: "checkbox", tabindex: -1, onclick });
  const title = h("button", { class: "name", dir: "auto", tabindex: -1, onclick: read });
  const facts = h("span", { class: "facts muted" });
  const remove = iconButton("trash", words.shelf.delete, erase, "quiet small writes");
  const about = iconButton("more", "", card, "quiet small");
  for (const each of [about, remove]) change(each, { tabindex: -1 });
  const all = h("button", { class: "small", tabindex: -1, onclick: tickAll }, words.shelf.tickAll);
  const element = h(
    "div",
    { class: "row", role: "row", tabindex: -1, draggable: "true", onfocusin: () => told.onfocus(at), ondragstart },
    h("span", { role: "gridcell" }, box),
    h("span", { role: "gridcell", class: "what" }, title, facts),
    h("span", { role: "gridcell", class: "doing" }, about, remove, all),
  );

  /** @param {MouseEvent} event */
  function onclick(event) {
    told.ticked(at, box.checked, event.shiftKey);
  }

  function tickAll() {
    if (row && "folder" in row) void actions.tickAll(row.folder);
  }

  function read() {
    if (row && "document" in row) actions.read(row.document);
  }

  function card() {
    if (row && "document" in row) actions.about(row.document);
  }

  /** Take it along, or all that are ticked where it is one of them. @param {DragEvent} event */
  function ondragstart(event) {
    if (!row || !("document" in row) || !event.dataTransfer) return event.preventDefault();
    event.dataTransfer.setData(DRAGGED, told.dragged(row.document.document_id).join(" "));
    event.dataTransfer.effectAllowed = "copy";
  }

  function erase() {
    if (row && "document" in row) void actions.delete([row.document]);
  }

  /** @param {Row} now */
  function become(now) {
    row = now;
    filled = true;
    element.classList.toggle("head", Boolean(row && "folder" in row));
    change(element, { "aria-busy": row ? null : "true" });
    title.disabled = !(row && "document" in row);
    remove.hidden = about.hidden = title.disabled;
    box.hidden = title.disabled;
    all.hidden = !(row && "folder" in row);
    if (row && "document" in row) {
      const { document } = row;
      title.textContent = document.title;
      change(title, { "aria-label": words.shelf.readTitle({ title: document.title }), title: document.title });
      change(box, { "aria-label": document.title });
      change(remove, { "aria-label": words.shelf.deleteTitle({ title: document.title }) });
      change(about, { "aria-label": words.collections.menu({ name: document.title }), title: words.collections.menu({ name: document.title }) });
      fill(facts, factsOf(document));
    } else if (row) {
      const name = row.folder || words.shelf.noFolder;
      title.textContent = name;
      change(title, { "aria-label": null, title: name });
      change(all, { "aria-label": words.shelf.tickFolder({ folder: name }) });
      fill(facts, words.shelf.count({ count: row.documents }));
    } else {
      title.textContent = "";
      change(title, { "aria-label": words.shelf.loading, title: null });
      fill(facts);
    }
  }

  return {
    element,
    /**
     * @param {number} place Its number.
     * @param {Row} now
     * @param {number} height In pixels.
     * @param {boolean} isActive Whether the focus goes to it.
     * @param {(id: string) => boolean} isTicked
     */
    show(place, now, height, isActive, isTicked) {
      if (place !== at) {
        at = place;
        element.style.transform = `translateY(${at * height}px)`;
        change(element, { "aria-rowindex": at + 1 });
      }
      if (!filled || !same(now, row)) become(now);
      const on = Boolean(row && "document" in row && isTicked(row.document.document_id));
      if (box.checked !== on) box.checked = on;
      change(element, { "aria-selected": row && "document" in row ? String(on) : null });
      this.activate(isActive);
    },
    /** @param {boolean} isActive */
    activate(isActive) {
      if (element.tabIndex !== (isActive ? 0 : -1)) element.tabIndex = isActive ? 0 : -1;
    },
    /** Do what a key means on it. @param {KeyboardEvent} event @returns {boolean} Whether it means anything. */
    press(event) {
      const own = event.target === element;
      const controls = /** @type {HTMLElement[]} */ ([element, box, title, about, remove, all].filter((each) => each.checkVisibility() && !each.matches(":disabled")));
      const stands = controls.indexOf(/** @type {HTMLElement} */ (event.target));
      const onward = getComputedStyle(element).direction === "rtl" ? -1 : 1;
      const step = { ArrowRight: onward, ArrowLeft: -onward }[event.key];
      if (step) controls[Math.max(0, Math.min(stands + step, controls.length - 1))]?.focus();
      else if (own && event.key === " " && !all.hidden) tickAll();
      else if (own && event.key === " ") box.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true, shiftKey: event.shiftKey }));
      else if (own && event.key === "Enter") read();
      else if (own && event.key === "Delete") erase();
      else return false;
      return true;
    },
  };
}

/** @param {Row} one @param {Row} other */
function same(one, other) {
  if (one === null || other === null) return one === other;
  if ("document" in one) return "document" in other && one.document === other.document;
  return "folder" in other && one.folder === other.folder && one.documents === other.documents;
}

/** Name the kind of a file; nothing where it is none that people know by name. @param {string} mediaType */
export function formatOf(mediaType) {
  return Object.entries(words.shelf.formats).find(([name]) => mediaType.includes(name))?.[1] ?? "";
}

/** @param {Wire.Document} document @returns {Node[]} */
function factsOf({ title, file_name, folder, media_type, owner, places, updated_at, url }) {
  const { mine, outdated, outdatedHint, changed } = words.shelf;
  const trouble = places.find((place) => place.trouble)?.trouble;
  const told = file_name.replace(/\.\w+$/, "").toLowerCase() === title.toLowerCase() ? "" : file_name;
  const site = places.some(({ kind }) => kind === "site") || media_type.includes("html");
  const from = folder || (site && url ? hostOf(url) : "");
  const when = moment(updated_at);
  // The dot between two belongs to the row's direction, not to that of either.
  const fact = (/** @type {string} */ text, /** @type {string} */ kind, /** @type {string} */ hint = text) =>
    text ? h("span", { class: `fact ${kind}`, title: hint }, h("bdi", null, text)) : null;
  return [
    trouble ? h("span", { class: "badge", title: outdatedHint({ why: trouble }) }, icon("unsure"), outdated) : null,
    owner ? h("span", { class: "badge" }, mine) : null,
    fact(told, "file"),
    fact(formatOf(media_type), "type"),
    fact(from, "folder"),
    fact(when, "time", changed({ when })),
  ].filter((each) => each !== null);
}

/** @param {string} url */
function hostOf(url) {
  return URL.canParse(url) ? new URL(url).host : "";
}
