/** Dialogs that are steps of the browser's history: they lie over the page, and Back leads to them from what they lead to. */

import { later } from "./later.js";

/** Those that are kept as they are, since what they show took long, as long as a step leads to them.
 * @type {Map<number, {dialog: HTMLDialogElement, gone: AbortController}>} */
const kept = new Map();
let count = 0;
let shown = /** @type {HTMLDialogElement | null} */ (null);
/** What had the focus in the dialog that was left last: its place among the dialog's quotes. */
let pressed = -1;

/** Open the notes, or one of them. @param {App} app @param {string} [note] */
export function showNotes(app, note = "") {
  step({ note });
  void open(app);
}

/** Let a dialog that is open be a step. @param {HTMLDialogElement} dialog @returns {AbortSignal} Tells when nothing leads to it any more. */
export function keepOver(dialog) {
  const gone = new AbortController();
  kept.set(++count, { dialog, gone });
  step({ dialog: count });
  put(dialog);
  return gone.signal;
}

/** Follow the steps of the browser. @param {App} app */
export function followNotes(app) {
  addEventListener("popstate", () => {
    forget();
    void open(app);
  });
  app.reading.watch((reading) => reading && !isOver() && leave()); // what is read is another step, beneath which they are
  app.begun.watch((begun) => begun && void open(app));
}

/** @param {{note: string} | {dialog: number}} over */
function step(over) {
  const { state } = history;
  if (isOver()) history.replaceState({ ...state, ...over }, "");
  // The drawer that they were opened from is the step before.
  else history.pushState({ ...state, over: undefined, ...over, ...(state?.back && { back: state.back + 1 }) }, "");
}

/** Let go of the dialogs that neither this step nor what it was opened from is. */
function forget() {
  const { dialog, from } = history.state ?? {};
  for (const [id, { gone }] of kept) {
    if (id === dialog || id === from) continue;
    gone.abort();
    kept.delete(id);
  }
}

/** @param {HTMLElement} dialog @returns {HTMLElement[]} */
const quotes = (dialog) => [...dialog.querySelectorAll(/** @type {"button"} */ (".quote button"))];

const isOver = () => history.state?.note !== undefined || history.state?.dialog !== undefined;

/** Show what lies over the page at this step. @param {App} app */
async function open(app) {
  leave();
  const { note, dialog } = history.state ?? {};
  const before = kept.get(dialog)?.dialog;
  if (before) {
    document.body.append(before);
    before.showModal();
    quotes(before)[pressed]?.focus();
    return put(before);
  }
  if (note === undefined) return;
  await later(app, () => import("./notes.js"), ({ notes }) => {
    if (!shown && history.state?.note === note) put(notes(app, note, (made) => quotes(made)[pressed]?.focus()));
  });
}

/** @param {HTMLDialogElement} dialog */
function put(dialog) {
  shown = dialog;
  dialog.addEventListener("close", () => shown === dialog && (leave(), history.back()), { once: true });
}

function leave() {
  const dialog = shown;
  if (dialog) pressed = quotes(dialog).findIndex((each) => each === document.activeElement);
  shown = null;
  dialog?.close();
}
