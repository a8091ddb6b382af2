/** Dialogs that are steps of the browser's history: they lie over the page, and Back leads to them from what they lead to. */

import { wanted } from "./later.js";

/** Those that are kept as they are, since what they show took long. @type {HTMLDialogElement[]} */
const kept = [];
/** @type {HTMLDialogElement | null} */
let shown = null;

/** Open the notes, or one of them. @param {App} app @param {string} [note] */
export function showNotes(app, note = "") {
  step({ note });
  void open(app);
}

/** Let a dialog that is open be a step. @param {HTMLDialogElement} dialog */
export function keepOver(dialog) {
  step({ dialog: kept.push(dialog) - 1 });
  put(dialog);
}

/** Follow the steps of the browser. @param {App} app */
export function followNotes(app) {
  addEventListener("popstate", () => void open(app));
  app.reading.watch((reading) => reading && leave()); // what is read is another step, beneath which they are
  app.begun.watch((begun) => begun && void open(app));
}

/** @param {{note: string} | {dialog: number}} over */
function step(over) {
  const { state } = history;
  if (isOver()) history.replaceState({ ...state, ...over }, "");
  // The drawer that they were opened from is the step before.
  else history.pushState({ ...state, over: undefined, ...over, ...(state?.back && { back: state.back + 1 }) }, "");
}

const isOver = () => history.state?.note !== undefined || history.state?.dialog !== undefined;

/** Show what lies over the page at this step. @param {App} app */
async function open(app) {
  leave();
  const { note, dialog } = history.state ?? {};
  const before = kept[dialog];
  if (before) {
    document.body.append(before);
    before.showModal();
    return put(before);
  }
  if (note === undefined) return;
  const loaded = await wanted(app, () => import("./notes.js"), () => void open(app));
  if (loaded && !shown && history.state?.note === note) put(loaded.notes(app, note));
}

/** @param {HTMLDialogElement} dialog */
function put(dialog) {
  shown = dialog;
  dialog.addEventListener("close", () => shown === dialog && (leave(), history.back()), { once: true });
}

function leave() {
  const dialog = shown;
  shown = null;
  dialog?.close();
}
