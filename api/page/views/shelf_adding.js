/** Ways to add documents: files, a folder, a web address or a text from a menu, and what is dropped on the page. */

import { h } from "../dom.js";
import { words } from "../words/index.js";
import { icon, textButton } from "./icons.js";
import { menuButton } from "./menu.js";

/** @typedef {Pick<import("../state/incoming.js").Incoming, "addFiles" | "addText" | "addAddress">} Incoming */

const HIDDEN = /^\.|^(?:__MACOSX|Thumbs\.db|desktop\.ini)$/i; // what systems leave in folders

/**
 * Make the menu, and the forms that it opens.
 * @param {Incoming} incoming Takes what is added.
 * @param {{more?: () => import("./menu.js").Action, label?: string}} [options] Another thing to make, asked for when the menu
 * opens; and the menu's name.
 */
export function addingTools(incoming, { more, label = words.shelf.add } = {}) {
  const files = h("input", { type: "file", multiple: true, hidden: true, onchange: () => take(files) });
  const folder = h("input", { type: "file", multiple: true, hidden: true, webkitdirectory: true, onchange: () => take(folder) });
  const menu = menuButton(label, "add", () => [
    { text: words.shelf.addFiles, icon: "upload", act: () => files.click() },
    { text: words.shelf.addFolder, icon: "book", act: () => folder.click() },
    { text: words.shelf.addAddress, icon: "web", act: () => address.open() },
    { text: words.shelf.addText, icon: "edit", act: () => text.open() },
    ...(more ? [more()] : []),
  ]);
  menu.classList.add("adding", "writes");
  menu.classList.remove("quiet");
  menu.append(h("span", null, label));
  const forms = h("div", { class: "adding-forms" });
  const address = addressForm(incoming, menu);
  const text = textForm(incoming, menu);
  forms.append(files, folder, address.element, text.element);

  /** @param {HTMLInputElement} input */
  function take(input) {
    incoming.addFiles(input.files ?? []);
    input.value = "";
  }

  return { menu, forms, close: () => [address, text].forEach((form) => form.close()) };
}

/** @param {Incoming} incoming @param {HTMLElement} opener */
function addressForm(incoming, opener) {
  const url = h("input", { type: "url", required: true, placeholder: words.shelf.address, "aria-label": words.shelf.address });
  const extent = h("select", { "aria-label": words.shelf.extent },
    Object.entries(words.shelf.extents).map(([value, text]) => h("option", { value }, text)),
  );
  return form(opener, words.shelf.sendAddress, [url, extent], () => {
    incoming.addAddress(url.value.trim(), extent.value === "site");
    url.value = "";
  });
}

/** @param {Incoming} incoming @param {HTMLElement} opener */
function textForm(incoming, opener) {
  const title = h("input", { type: "text", maxlength: 500, placeholder: words.shelf.title, "aria-label": words.shelf.title });
  const text = h("textarea", { rows: 5, required: true, placeholder: words.shelf.text, "aria-label": words.shelf.text });
  return form(opener, words.shelf.sendText, [title, text], () => {
    incoming.addText(title.value.trim(), text.value);
    title.value = text.value = "";
  });
}

/**
 * @param {{focus: () => void}} opener Takes the focus when the form closes.
 * @param {string} send
 * @param {HTMLElement[]} fields
 * @param {() => void} sent
 */
export function form(opener, send, fields, sent) {
  const element = h("form", { class: "adding-form", hidden: true, onsubmit, onkeydown },
    fields,
    h("div", { class: "doing" },
      h("button", { type: "submit", class: "primary small" }, send),
      textButton("small", close, words.page.cancel),
    ),
  );

  function open() {
    element.hidden = false;
    fields[0]?.focus();
  }

  function close() {
    const focused = element.contains(document.activeElement);
    element.hidden = true;
    if (focused) opener.focus();
  }

  function onsubmit() {
    sent();
    close();
  }

  /** Escape closes the form first, and then what it is in. @param {KeyboardEvent} event */
  function onkeydown(event) {
    if (event.key !== "Escape") return;
    event.preventDefault();
    close();
  }
  return { element, open, close };
}

/** Make the whole page take files that are dropped on it.
 * @param {App} app @param {import("../state/incoming.js").Incoming} incoming */
export function dropTarget(app, incoming) {
  // A popover, since nothing else stands above all.
  const overlay = h("div", { class: "drop", popover: "manual" },
    h("div", { class: "frame-of-drop" },
      icon("upload"),
      h("p", { class: "big" }, words.shelf.drop),
      h("p", { class: "muted" }, words.shelf.takes),
    ),
  );
  const show = (/** @type {boolean} */ shown) => shown === overlay.matches(":popover-open") || overlay.togglePopover(shown);
  document.addEventListener("dragenter", over);
  document.addEventListener("dragover", over);
  document.addEventListener("dragleave", (event) => !event.relatedTarget && show(false));
  document.addEventListener("drop", drop);

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
  const found = /** @type {{file: File, path: string}[]} */ ([]);
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
