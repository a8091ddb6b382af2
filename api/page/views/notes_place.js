/** Notes as a step of the browser's history: they lie over the page, and Back leads to them from what they lead to. */

import { wanted } from "./later.js";

/** @typedef {import("../state/app.js").App} App */

/** Open the notes, or one of them. @param {App} app @param {string} [id] */
export function showNotes(app, id = "") {
  const { state } = history;
  const step = { ...state, note: id, ...(state?.back && { back: state.back + 1 }) };
  if (state?.note === undefined) history.pushState(step, "");
  else history.replaceState({ ...state, note: id }, "");
  void open(app);
}

/** Follow the steps of the browser. @param {App} app */
export function followNotes(app) {
  addEventListener("popstate", () => void open(app));
  app.reading.watch((reading) => reading && leave()); // what is read is another step, beneath which they are
  app.begun.watch((begun) => begun && void open(app));
}

/** @type {(() => void) | null} */
let close = null;

/** Show the notes that the step names, or none. @param {App} app */
async function open(app) {
  leave();
  if (history.state?.note === undefined) return;
  const loaded = await wanted(app, () => import("./notes.js"), () => void open(app));
  if (loaded && !close && history.state?.note !== undefined) close = loaded.notes(app, history.state.note);
}

function leave() {
  close?.();
  close = null;
}
