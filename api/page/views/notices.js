/** What the page has to say for itself: something that failed, something that was done. */

import { fill, h } from "../dom.js";
import { moment } from "../words/format.js";
import { words } from "../words/index.js";
import { icon, iconButton, textButton } from "./icons.js";

const DONE_MS = 6_000;
const UNDO_MS = 20_000;
const MOST = 3;
const GAP = 8; // pixels
const SECOND = 1_000;
const BACK_MS = 4_000;

/** Make the place where notices stand. @param {App} app */
export function notices(app) {
  const done = h("div", { class: "toasts", role: "status" });
  const failed = h("div", { class: "toasts", role: "alert" });
  const told = /** @type {WeakMap<Element, Notice>} */ (new WeakMap());
  const drop = (/** @type {Element} */ old) => (old.remove(), told.get(old)?.ended?.());
  app.notice.watch((notice) => {
    if (!notice) return;
    const list = notice.kind === "done" ? done : failed;
    const same = [...list.children].find((each) => each.querySelector(".text")?.textContent === notice.text);
    const before = same && told.get(same)?.again;
    if (same) drop(same);
    // What failed for the same reason is tried again together.
    const again = before && notice.again ? () => [before, notice.again].forEach((each) => each?.()) : notice.again;
    const whole = { ...notice, ...(again ? { again } : {}) };
    const shown = toast(whole, () => {
      drop(shown);
      if (app.notice.value === notice) app.notice.set(null);
    });
    told.set(shown, whole);
    list.append(shown);
    while (list.children.length > MOST && list.firstElementChild) drop(list.firstElementChild);
  });
  const element = h("section", { class: "notices", "aria-label": words.notices.label }, failed, done);
  // What else stands at the top makes room for them.
  const measure = () => {
    const height = element.querySelector(".toast") ? element.offsetHeight + GAP : 0;
    document.documentElement.style.setProperty("--noticed", `${height}px`);
  };
  new ResizeObserver(measure).observe(element);
  return element;
}

/** A notice that can be closed. One of something done closes by itself, but not while it is looked at.
 * @param {Notice} notice @param {() => void} onClose */
function toast({ kind, text, suggestion, again, undo }, onClose) {
  let timer = 0;
  const element = h("div", { class: `toast ${kind}` },
    icon(kind === "done" ? "check" : "unsure"),
    h("div", { class: "says" }, h("p", { class: "text" }, text), suggestion && h("p", { class: "muted" }, suggestion)),
    again && textButton("small", () => (close(), again()), words.page.retry),
    undo && textButton("small", () => (undo(), close()), words.shelf.undo),
    iconButton("close", words.page.close, close),
  );

  function close() {
    clearTimeout(timer);
    onClose();
  }

  function wait() {
    clearTimeout(timer);
    if (kind !== "done" || element.matches(":hover") || element.contains(document.activeElement)) return;
    timer = setTimeout(close, undo ? UNDO_MS : DONE_MS);
  }

  for (const name of ["pointerenter", "focusin"]) element.addEventListener(name, () => clearTimeout(timer));
  for (const name of ["pointerleave", "focusout"]) element.addEventListener(name, () => requestAnimationFrame(wait));
  wait();
  return element;
}

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
