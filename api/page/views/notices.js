/** What the page has to say for itself: a lost connection, something that failed, something that was done. */

import { fill, h } from "../dom.js";
import { words } from "../words/index.js";

/** @param {import("../state/app.js").App} app */
export function notices(app) {
  const connection = h("p", { class: "connection", role: "status" });
  const notice = h("div", { class: "notice", role: "alert" });
  app.conversation.connection.watch((state) => fill(connection, state === "lost" ? words.notices.lost : null));
  app.notice.watch((told) => fill(notice, told?.text));
  return h("div", { class: "notices" }, connection, notice);
}
