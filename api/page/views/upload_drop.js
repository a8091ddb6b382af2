/** Files that are dragged onto the page, wherever: it says so, and takes them in where they are dropped. */

import { Problem } from "../api/client.js";
import { h } from "../dom.js";
import { words } from "../words/index.js";
import { icon } from "./icons.js";

/**
 * Make the whole page take files that are dropped on it.
 * @param {import("../state/uploads.js").Uploads} uploads
 */
export function dropTarget(uploads) {
  // A popover, since nothing else stands above an open dialog.
  const overlay = h(
    "div",
    { class: "drop", popover: "manual" },
    h(
      "div",
      { class: "frame-of-drop" },
      icon("upload"),
      h("p", { class: "big" }, words.uploads.drop),
      h("p", { class: "muted" }, words.uploads.formats),
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
    const { files, folders } = filesOf(event.dataTransfer);
    for (const name of folders) uploads.refuse(
      name,
      new Problem("folder", words.uploads.folder, { suggestion: words.uploads.folderSuggestion }),
    );
    uploads.addFiles(files);
  }
  return overlay;
}

/** @param {DataTransfer} transfer */
function filesOf(transfer) {
  /** @type {{files: File[], folders: string[]}} */
  const found = { files: [], folders: [] };
  for (const item of transfer.items) {
    const file = item.getAsFile();
    if (!file) continue;
    if (item.webkitGetAsEntry()?.isDirectory) found.folders.push(file.name);
    else found.files.push(file);
  }
  return found;
}
