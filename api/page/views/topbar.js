/** The line above the conversation: what the session is called, and the way to sessions and library. */

import { h } from "../dom.js";
import { words } from "../words/index.js";

/** @param {import("../state/app.js").App} app */
export function topbar(app) {
  const title = h("h1", { class: "title" });
  app.conversation.session.watch((session) => (title.textContent = session?.title ?? words.page.name));
  return h(
    "header",
    { class: "topbar" },
    h("button", { class: "quiet narrow-only", type: "button", onclick: () => app.sessionsOpen.set(true) }, words.sessions.label),
    title,
    h("button", { class: "quiet", type: "button", onclick: () => app.libraryOpen.set(true) }, words.library.open),
  );
}
