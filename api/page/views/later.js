/** What is fetched when it is first wanted, so that the page is there sooner. */

import { h } from "../dom.js";
import { words } from "../words/index.js";
import { goToQuestion } from "./question_field.js";

/** Fetch a module now that it is wanted, and use it; where it can't be had, say so, with a way to try again.
 * @template Module @param {App} app @param {() => Promise<Module>} load @param {(module: Module) => unknown} use */
export async function later(app, load, use) {
  let module;
  try {
    module = await load();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error; // the browser's word for a module that did not come
    app.notice.set({ kind: "failed", text: words.notices.unreachable, again: () => void later(app, load, use) });
    return;
  }
  await use(module);
}

/** Make the place of the reader, and that of the bar that leads back to it. @param {App} app */
export function readerPlaces(app) {
  const place = h("div", { class: "place" });
  const bar = h("div", { class: "place" });
  let pressed = /** @type {Element | null} */ (null);
  const put = once(app, () => import("./reader.js"), ({ reader }) => reader({ ...hostOf(app, bar), pressed: () => pressed }, place));
  app.reading.watch((reading) => {
    pressed = document.activeElement; // before it is hidden
    if (reading) put();
  });
  return { place, bar };
}

/** Let a reader stand in the page. @param {App} app @param {HTMLElement} bar @returns {Omit<import("./reader.js").Host, "pressed">} */
function hostOf(app, bar) {
  return {
    client: app.client,
    reading: app.reading,
    read: (reading) => app.read(reading),
    refused: () => app.locked.set(true),
    ask(text, title) {
      app.selection.passage.set({ text, title });
      goToQuestion();
    },
    pin: (quote, documentId) => pin(app, { document_id: documentId, quote }),
    page: { app, bar },
  };
}

/** Pin something to a note. @param {App} app @param {Wire.Pin} what */
export function pin(app, what) {
  void later(app, () => import("./notes.js"), (notes) => notes.pin(app, what));
}

/**
 * Offer documents and collections behind an "@" in a field.
 * @param {App} app
 * @param {import("./question_field.js").QuestionField} field
 * @returns {(event: KeyboardEvent) => boolean} Tells whether a key meant one of them.
 */
export function mentionsIn(app, field) {
  let list = /** @type {ReturnType<typeof import("./mentions.js").mentionList> | null} */ (null);
  const put = once(app, () => import("./mentions.js"), ({ mentionList }) => (list = mentionList(app, field)));
  field.text.addEventListener("input", () => field.text.value.includes("@") && put());
  return (event) => list?.press(event) ?? false;
}

/** Make the place of the documents. @param {App} app */
export function libraryPlace(app) {
  const place = h("div", { class: "place", id: "shelf" });
  const put = once(app, () => import("./shelf.js"), ({ shelf }) => void shelf(app, place));
  // It has its head and its room from the start. What is in it comes when the rest is there.
  place.append(h("section", { class: "shelf" }, h("header", null, h("h2", null, words.shelf.label))));
  const come = () => app.libraryOpen.value && app.begun.value && !app.locked.value && put();
  for (const cell of [app.libraryOpen, app.begun, app.locked]) cell.watch(come);
  app.brought.watch((brought) => brought && put());
  for (const name of /** @type {const} */ (["dragenter", "dragover", "drop"])) {
    addEventListener(name, (event) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault(); // a file that came before its target would be opened in the page's place
      put();
    });
  }
  return place;
}

/** Make a function that fetches a module and uses it, but once; what could not be had is fetched at the next call.
 * @template Module @param {App} app @param {() => Promise<Module>} load @param {(module: Module) => void} use */
function once(app, load, use) {
  let used = false;
  return () => void (used || later(app, load, (module) => {
    if (!used) use(module);
    used = true;
  }));
}
