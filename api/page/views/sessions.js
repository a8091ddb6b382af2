/** The sessions, to open one or to begin another. */

import { h } from "../dom.js";
import { addressOf } from "../state/app.js";
import { words } from "../words/index.js";

/** @param {import("../state/app.js").App} app */
export function sessionsView(app) {
  const list = h("ul", { class: "session-list" });
  app.sessions.sessions.watch((sessions) =>
    list.replaceChildren(...(sessions ?? []).map((each) => h("li", null, h("a", { href: addressOf(each.session_id) }, each.title)))),
  );
  return h(
    "nav",
    { class: "sessions", "aria-label": words.sessions.label },
    h("button", { type: "button", onclick: () => (location.hash = "") }, words.sessions.begin),
    list,
  );
}
