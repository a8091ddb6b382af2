/** Says that the connection was lost, when it is tried again, and that it is back; and of when it is what is shown meanwhile. */

import { fill, h } from "../dom.js";
import { moment } from "../words/format.js";
import { words } from "../words/index.js";
import { textButton } from "./icons.js";

const SECOND = 1_000;
const BACK_MS = 4_000;

/** Make the bar that tells of a lost connection. @param {App} app */
export function connection(app) {
  const { next, regained } = app.conversation.outages;
  const told = h("p", { class: "told", role: "status" });
  const wait = h("span", { class: "wait", "aria-hidden": "true" });
  const now = textButton("small", () => next.value?.now(), words.notices.now);
  const element = h("div", { class: "connection" }, h("div", { class: "words" }, told, " ", wait), now);
  let ticking = 0;
  let leaving = 0;
  let times = regained.value;

  function count() {
    clearTimeout(ticking);
    const left = (next.value?.until ?? 0) - Date.now();
    const seconds = Math.ceil(left / SECOND);
    fill(wait, left > 0 ? words.notices.soon({ seconds }) : words.notices.reconnecting);
    now.disabled = left <= 0;
    if (left > 0) ticking = setTimeout(count, left - (seconds - 1) * SECOND);
  }

  next.watch((outage) => {
    clearTimeout(ticking);
    clearTimeout(leaving);
    const lost = outage !== null;
    element.classList.toggle("lost", lost);
    wait.hidden = now.hidden = !lost;
    fill(told, lost && words.notices.lost);
    if (lost) count();
  });
  regained.watch((often) => {
    if (often === times || next.value) return;
    times = often;
    fill(told, words.notices.back);
    leaving = setTimeout(() => fill(told), BACK_MS);
  });
  return element;
}

/** Make the bar that tells of when that is what is shown without network. @param {App} app */
export function offlineBar(app) {
  const told = h("p", { class: "told", role: "status" });
  app.offline.asOf.watch((at) => fill(told, at && words.offline.asOf({ at: moment(at.toISOString()) })));
  return h("div", { class: "connection lost" }, told);
}
