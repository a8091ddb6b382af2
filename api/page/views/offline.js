/** Says that the server can't be reached, and of when that is what is shown. */

import { fill, h } from "../dom.js";
import { words } from "../words/index.js";
import { moment } from "../words/format.js";

/** Make the bar that tells of it. @param {import("../state/app.js").App} app */
export function offlineBar(app) {
  const told = h("p", { class: "told", role: "status" });
  app.offline.asOf.watch((at) => fill(told, at && words.offline.asOf(moment(at.toISOString()))));
  return h("div", { class: "connection lost" }, told);
}
