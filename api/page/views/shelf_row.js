/** A row of the shelf: a document, the head of a folder, or one that is still being read. */

import { change, h } from "../dom.js";
import { moment } from "../words/format.js";
import { words } from "../words/index.js";
import { icon, iconButton } from "./icons.js";
import { DRAGGED } from "./shelf_collections.js";

/** @typedef {import("../state/shelf.js").Row} Row */

/**
 * Make a row; another stands in its place where what it shows is another.
 * @param {ShelfActions} actions
 * @param {{ticked: (at: number, on: boolean, stretch: boolean) => void, onfocus: (at: number) => void,
 *   dragged: (id: string) => string[]}} told
 * @param {number} at Its number.
 * @param {Row} row
 */
export function shelfRow(actions, told, at, row) {
  const document = row && "document" in row ? row.document : null;
  const folder = row && "folder" in row ? row : null;
  const { noFolder, loading, readTitle, deleteTitle, tickFolder } = words.shelf;
  const name = document ? document.title : folder ? folder.folder || noFolder : "";
  const read = () => document && actions.read(document);
  const erase = () => document && actions.delete([document]);
  const tickAll = () => folder && actions.tickAll(folder.folder);
  const title = h("button", {
    class: "name", dir: "auto", disabled: !document, title: row && name, onclick: read,
    "aria-label": document ? readTitle({ title: name }) : row ? null : loading,
  }, name);
  const facts = document ? factsOf(document) : folder && words.shelf.count({ count: folder.documents });
  const onclick = (/** @type {MouseEvent} */ { shiftKey }) => told.ticked(at, box.checked, shiftKey);
  const box = h("input", { type: "checkbox", "aria-label": name, hidden: !document, onclick });
  const about = iconButton("more", words.collections.menu({ name }), () => document && actions.about(document), "quiet small");
  const remove = iconButton("trash", words.shelf.delete, erase, "quiet small writes");
  const all = h("button", { class: "small", hidden: !folder, "aria-label": tickFolder({ folder: name }), onclick: tickAll }, words.shelf.tickAll);
  change(remove, { "aria-label": deleteTitle({ title: name }) });
  about.hidden = remove.hidden = !document;
  const attributes = { class: folder ? "row head" : "row", role: "row", "aria-rowindex": at + 1, "aria-busy": row ? null : "true" };
  const element = h("div", { ...attributes, draggable: "true", onfocusin: () => told.onfocus(at), ondragstart },
    h("span", { role: "gridcell" }, box),
    h("span", { role: "gridcell", class: "what" }, title, h("span", { class: "facts muted" }, facts)),
    h("span", { role: "gridcell", class: "doing" }, about, remove, all),
  );
  const controls = [element, box, title, about, remove, all];
  for (const each of controls) each.tabIndex = -1;

  /** Take it along, or all that are ticked where it is one of them. @param {DragEvent} event */
  function ondragstart(event) {
    if (!document || !event.dataTransfer) return event.preventDefault();
    event.dataTransfer.setData(DRAGGED, told.dragged(document.document_id).join(" "));
    event.dataTransfer.effectAllowed = "copy";
  }

  return {
    element,
    /** The document that it shows. */
    id: document?.document_id,
    /** What in it the focus can be on. */
    controls,
    /** Tell whether it shows this. @param {Row} now */
    shows(now) {
      return row === now || JSON.stringify(row) === JSON.stringify(now);
    },
    /** @param {(id: string) => boolean} isTicked */
    tick(isTicked) {
      box.checked = document !== null && isTicked(document.document_id);
      change(element, { "aria-selected": document && String(box.checked) });
    },
    /** Let the focus come to it, or to none of it. @param {boolean} isActive */
    activate(isActive) {
      element.tabIndex = isActive ? 0 : -1;
    },
    /** Do what a key means on it. @param {KeyboardEvent} event @returns {boolean} Whether it means anything. */
    press(event) {
      const own = event.target === element;
      const there = controls.filter((each) => each.checkVisibility() && !each.matches(":disabled"));
      const stands = there.findIndex((each) => each === event.target);
      const onward = getComputedStyle(element).direction === "rtl" ? -1 : 1;
      const step = { ArrowRight: onward, ArrowLeft: -onward }[event.key];
      if (step) there[Math.max(0, Math.min(stands + step, there.length - 1))]?.focus();
      else if (own && event.key === " " && folder) tickAll();
      else if (own && event.key === " ") box.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true, shiftKey: event.shiftKey }));
      else if (own && event.key === "Enter") read();
      else if (own && event.key === "Delete") erase();
      else return false;
      return true;
    },
  };
}

/** Name the kind of a file; nothing where it is none that people know by name. @param {string} mediaType */
export function formatOf(mediaType) {
  return Object.entries(words.shelf.formats).find(([name]) => mediaType.includes(name))?.[1] ?? "";
}

/** @param {Wire.Document} document @returns {Node[]} */
function factsOf({ title, file_name = "", folder = "", media_type, owner, places = [], updated_at, url }) {
  const { mine, outdated, outdatedHint, changed } = words.shelf;
  const trouble = places.find((place) => place.trouble)?.trouble;
  const told = file_name.replace(/\.\w+$/, "").toLowerCase() === title.toLowerCase() ? "" : file_name;
  const site = places.some(({ kind }) => kind === "site") || media_type.includes("html");
  const from = folder || (site && url && URL.canParse(url) ? new URL(url).host : "");
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
