/** The menu by which a session or one answer is taken along: saved as a file, shared, printed. */

import { words } from "../words/index.js";
import { later } from "./later.js";
import { menuButton } from "./menu.js";
import { saveFile } from "./taking.js";

/**
 * Make the button of the menu.
 * @param {App} app
 * @param {string} label
 * @param {() => string | null} answerId Names the answer; nothing for the session as a whole.
 */
export function takeMenu(app, label, answerId) {
  const { conversation } = app;
  const said = words.along;

  /** @param {import("./taking.js").Format} format */
  function save(format) {
    const asked = new URLSearchParams();
    const answer = answerId();
    const last = conversation.turns.value.findLast((turn) => turn.answerId)?.answerId;
    if (answer) asked.set("message", answer);
    else if (last && conversation.aside.value) asked.set("through", last);
    void saveFile(app, `api/sessions/${conversation.session.value?.session_id}/export`, format, asked);
  }

  function share() {
    const { value: session } = conversation.session;
    if (session) void later(app, () => import("./sharing.js"), (sharing) => sharing.share(app, session.session_id, answerId()));
  }

  return menuButton(label, "take", () => [
    ...savingActions(save),
    { text: said.share, icon: "out", act: share },
    ...(answerId() ? [] : [{ text: said.print, icon: /** @type {const} */ ("print"), act: () => print() }]),
  ]);
}

/** Name the formats of files, each to be saved by a press. @param {(format: import("./taking.js").Format) => void} save */
export function savingActions(save) {
  return /** @type {const} */ (["md", "docx", "html"]).map((format) => (
    { text: words.along[format], icon: /** @type {const} */ ("page"), act: () => save(format) }));
}

/** Make the menu of the session on show, which is there once it has an answer. @param {App} app */
export function sessionMenu(app) {
  const menu = takeMenu(app, words.along.session, () => null);
  app.conversation.turns.watch((turns) => (menu.hidden = !turns.some((turn) => turn.answerId)));
  return menu;
}
