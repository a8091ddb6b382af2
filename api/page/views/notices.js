/** What the page has to say for itself: something that failed, something that was done. */

import { h } from "../dom.js";
import { words } from "../words/index.js";
import { icon } from "./icons.js";

const DONE_MS = 6_000;
const MOST = 3;

/** @param {import("../state/app.js").App} app */
export function notices(app) {
  const done = h("div", { class: "toasts", role: "status" });
  const failed = h("div", { class: "toasts", role: "alert" });
  app.notice.watch((notice) => {
    if (!notice) return;
    const list = notice.kind === "done" ? done : failed;
    const same = [...list.children].find((each) => each.querySelector(".text")?.textContent === notice.text);
    same?.remove();
    list.append(toast(notice, () => app.notice.value === notice && app.notice.set(null)));
    while (list.children.length > MOST) list.firstElementChild?.remove();
  });
  return h("section", { class: "notices", "aria-label": words.notices.label }, failed, done);
}

/**
 * A notice that can be closed. One of something done closes by itself, but not while it is looked at.
 * @param {import("../state/app.js").Notice} notice
 * @param {() => void} onClose
 */
function toast({ kind, text, suggestion, again }, onClose) {
  let timer = 0;
  const element = h(
    "div",
    { class: `toast ${kind}` },
    icon(kind === "done" ? "check" : "unsure"),
    h("div", { class: "says" }, h("p", { class: "text" }, text), suggestion && h("p", { class: "muted" }, suggestion)),
    again && h("button", { class: "small", type: "button", onclick: () => (close(), again()) }, words.page.retry),
    h("button", { class: "quiet small", type: "button", "aria-label": words.page.close, title: words.page.close, onclick: close }, icon("close")),
  );

  function close() {
    clearTimeout(timer);
    element.remove();
    onClose();
  }

  function wait() {
    clearTimeout(timer);
    if (kind !== "done" || element.matches(":hover") || element.contains(document.activeElement)) return;
    timer = setTimeout(close, DONE_MS);
  }

  for (const name of ["pointerenter", "focusin"]) element.addEventListener(name, () => clearTimeout(timer));
  for (const name of ["pointerleave", "focusout"]) element.addEventListener(name, () => requestAnimationFrame(wait));
  wait();
  return element;
}
