/** The menu by which a session or one answer is taken along: saved as a file, shared, printed. */

import { words } from "../words/index.js";
import { wanted } from "./later.js";
import { menuButton } from "./menu.js";

/**
 * Make the button of the menu.
 * @param {App} app
 * @param {string} label
 * @param {() => string | null} answerId Names the answer; nothing for the session as a whole.
 */
export function takeMenu(app, label, answerId) {
  const said = words.along;
  const menu = menuButton(label, "take", () => [
    ...(/** @type {const} */ (["md", "docx", "html"])).map((format) => ({ text: said[format], icon: /** @type {const} */ ("page"), act: () => save(format) })),
    { text: said.share, icon: "out", act: share },
    ...(answerId() ? [] : [{ text: said.print, icon: /** @type {const} */ ("print"), act: () => print() }]),
  ]);

  /** @param {"md" | "docx" | "html"} format */
  async function save(format) {
    const session = app.conversation.session.value;
    const loaded = await wanted(app, () => import("./taking.js"), () => void save(format));
    if (loaded && session) await loaded.save(app, session.session_id, format, answerId());
  }

  async function share() {
    const session = app.conversation.session.value;
    const loaded = await wanted(app, () => import("./sharing.js"), () => void share());
    if (loaded && session) loaded.share(app, session.session_id, answerId());
  }

  return menu;
}

/** Make the menu of the session on show, which is there once it has an answer. @param {App} app */
export function sessionMenu(app) {
  const menu = takeMenu(app, words.along.session, () => null);
  app.conversation.turns.watch((turns) => (menu.hidden = !turns.some((turn) => turn.answerId)));
  return menu;
}
