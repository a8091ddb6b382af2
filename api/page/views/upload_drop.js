/** Files and folders that are dragged onto the page, wherever: it says so, and takes them in where they are dropped. */

import { h } from "../dom.js";
import { words } from "../words/index.js";
import { icon } from "./icons.js";

const HIDDEN = /^\.|^(?:__MACOSX|Thumbs\.db|desktop\.ini)$/i; // what systems leave in folders

/**
 * Make the whole page take files that are dropped on it.
 * @param {App} app
 * @param {import("../state/incoming.js").Incoming} incoming
 */
export function dropTarget(app, incoming) {
  // A popover, since nothing else stands above all.
  const overlay = h("div", { class: "drop", popover: "manual" },
    h("div", { class: "frame-of-drop" },
      icon("upload"),
      h("p", { class: "big" }, words.shelf.drop),
      h("p", { class: "muted" }, words.shelf.takes),
    ),
  );
  document.addEventListener("dragenter", over);
  document.addEventListener("dragover", over);
  document.addEventListener("dragleave", (event) => !event.relatedTarget && show(false));
  document.addEventListener("drop", drop);

  /** @param {boolean} shown */
  function show(shown) {
    if (shown === overlay.matches(":popover-open")) return;
    overlay.togglePopover(shown);
  }

  /** @param {DragEvent} event */
  function over(event) {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = "copy";
    show(true);
  }

  /** @param {DragEvent} event */
  function drop(event) {
    show(false);
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    app.showLibrary();
    void filesOf(event.dataTransfer).then((files) => files.forEach(({ file, path }) => incoming.addFile(file, path)));
  }
  return overlay;
}

/** Give all files that were dropped, those in folders with their paths. @param {DataTransfer} transfer */
async function filesOf(transfer) {
  /** @type {{file: File, path: string}[]} */
  const found = [];
  // Both have to be asked for before anything is waited for: the transfer is emptied then.
  const items = [...transfer.items].map((item) => ({ entry: item.webkitGetAsEntry(), file: item.getAsFile() }));
  for (const { entry, file } of items) {
    if (entry?.isDirectory) await walk(/** @type {FileSystemDirectoryEntry} */ (entry), found);
    else if (file) found.push({ file, path: "" });
  }
  return found;
}

/** @param {FileSystemDirectoryEntry} folder @param {{file: File, path: string}[]} found */
async function walk(folder, found) {
  const reader = folder.createReader();
  for (;;) {
    /** @type {FileSystemEntry[]} */
    const entries = await new Promise((resolve) => reader.readEntries(resolve, () => resolve([])));
    if (!entries.length) return; // it gives a part at a time
    for (const entry of entries) {
      if (HIDDEN.test(entry.name)) continue;
      if (entry.isDirectory) await walk(/** @type {FileSystemDirectoryEntry} */ (entry), found);
      else {
        const file = await new Promise((resolve) => /** @type {FileSystemFileEntry} */ (entry).file(resolve, () => resolve(null)));
        if (file) found.push({ file, path: entry.fullPath.replace(/^\//, "") });
      }
    }
  }
}
