/** The library: its documents, to be selected, brought in and deleted. */

import { h } from "../dom.js";
import { Library } from "../state/library.js";
import { isSending } from "../state/turns.js";
import { Uploads } from "../state/uploads.js";
import { words } from "../words/index.js";
import { segmentOf } from "./answer_sources.js";
import { icon, iconButton } from "./icons.js";
import { libraryList } from "./library_list.js";
import { deselect, select } from "./selection_pages.js";
import { dropTarget } from "./upload_drop.js";
import { uploadList } from "./upload_list.js";
import { uploadTools } from "./upload_tools.js";

/** @typedef {import("../state/app.js").App} App */
/** @typedef {import("./library_row.js").Known} Known */

const TYPING_MS = 250; // that a search waits for the next letter
const SEEN_MS = 8000; // that a document which came in is told of beside the conversation

/**
 * Put the library, opened and closed by `libraryOpen`, into its place.
 * @param {App} app
 * @param {HTMLElement} place Where it is to stand.
 */
export function library(app, place) {
  const shelf = new Library(app.client, () => app.libraryChanged());
  const uploads = new Uploads(app.client, () => {
    app.libraryChanged();
    if (dialog.open) void shelf.refresh();
  });
  const list = libraryList(app, shelf, {
    select: (page) => void select(app, page).then(() => list.mark()),
    deselect: (page) => void deselect(app, page.document_id).then(() => list.mark()),
    read,
    delete: remove,
  });
  const bringing = uploadList(app, uploads);
  const slot = h("div", { class: "slot" });
  const tray = h("div", { class: "tray" });
  const search = h(
    "input",
    { type: "search", "aria-label": words.library.search, placeholder: words.library.search, oninput, onkeydown },
  );
  const count = h("p", { class: "muted" });
  const tools = uploadTools(uploads);
  const close = () => app.libraryOpen.set(false);
  const dialog = h(
    "dialog",
    { class: "library", "aria-label": words.library.label, onclose: close, onclick, onpointerdown },
    h(
      "div",
      { class: "inside" },
      h(
        "header",
        null,
        h("h2", null, words.library.label),
        tools.buttons,
        iconButton("close", words.page.close, close, "quiet"),
      ),
      tools.paste,
      h("div", { class: "field" }, icon("search"), search),
      h("div", { class: "scrolling", onleave: () => search.focus() }, slot, list.element),
      h("footer", null, count, h("button", { type: "button", class: "primary", onclick: close }, words.library.done)),
    ),
  );
  place.append(h("div", { class: "library-layer" }, dialog, tray, dropTarget(uploads)));
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let typing;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let seen;
  let pressedOutside = false;

  // Whoever asks has read why something was refused, and wants to see the answer.
  app.conversation.turns.watch((turns) => isSending(turns.at(-1)?.run ?? null) && uploads.dismissEnded());
  app.libraryOpen.watch((open) => {
    if (open) show();
    else hide();
    (open ? slot : tray).append(bringing.element);
  });
  app.brought.watch((brought) => {
    if (!brought) return;
    app.brought.set(null);
    if ("files" in brought) uploads.addFiles(brought.files);
    else uploads.addText(brought.title, brought.text);
  });
  app.selection.pages.watch((pages) => (count.textContent = words.library.selectedCount(pages.length)));
  uploads.list.watch((all) => {
    clearTimeout(seen);
    if (all.length && all.every(({ state }) => state === "added" || state === "refused")) seen = setTimeout(
      leave,
      SEEN_MS,
    );
  });
  app.tabs.hear(({ kind }) => {
    if (kind === "library" && dialog.open) void shelf.refresh();
  });

  function show() {
    if (dialog.open) return;
    dialog.showModal();
    carryNotices(true);
    search.focus();
    void shelf.look("");
    list.pin();
  }

  function hide() {
    clearTimeout(typing);
    search.value = "";
    tools.close();
    uploads.dismissEnded();
    carryNotices(false);
    dialog.close();
  }

  /** What stands outside an open dialog can be neither heard nor pressed, notices included. @param {boolean} inside */
  function carryNotices(inside) {
    const notices = document.querySelector(".notices");
    if (!notices || dialog.contains(notices) === inside) return;
    if (inside) dialog.append(notices);
    else place.after(notices);
  }

  /** Nobody has to put away what went well; what was refused waits to be read. */
  function leave() {
    if (tray.matches(":hover, :focus-within")) seen = setTimeout(leave, SEEN_MS);
    else if (!dialog.open) uploads.dismissAdded();
  }

  function oninput() {
    clearTimeout(typing);
    typing = setTimeout(() => void shelf.look(search.value.trim()), TYPING_MS);
  }

  /** @param {KeyboardEvent} event */
  function onkeydown(event) {
    if (event.key !== "ArrowDown") return;
    event.preventDefault();
    list.enter();
  }

  /** A text that is marked with the mouse may end outside; only what begins there closes. @param {PointerEvent} event */
  function onpointerdown(event) {
    pressedOutside = event.target === dialog;
  }

  /** @param {MouseEvent} event */
  function onclick(event) {
    if (event.target === dialog && pressedOutside) close();
  }

  /** @param {Known} page @param {import("../api/types.js").Source | null} found */
  function read({ document_id, title }, found) {
    close();
    const citations = found ? [segmentOf(found)] : [];
    app.read({ documentId: document_id, title, citations, at: citations.length - 1 });
  }

  /** @param {Known} page */
  async function remove({ document_id, title }) {
    const place = list.place();
    if (!(await app.attempt(() => shelf.delete(document_id)))) return;
    list.drop(document_id);
    if (!list.enter(place)) search.focus();
    await deselect(app, document_id);
    if (app.reading.value?.documentId === document_id) app.reading.set(null);
    app.notice.set({ kind: "done", text: words.library.deleted(title) });
  }
}
