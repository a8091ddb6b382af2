/** The way between an answer and the document that was read last, where the window is too narrow for both. */

import { change, fill, h } from "../dom.js";
import { words } from "../words/index.js";
import { icon } from "./icons.js";

const [FAR, STEEP] = [72, 0.5]; // pixels of a swipe, and how far it may go up or down to one of them

/**
 * Make the bar that leads to the document, and let a swipe lead there and back.
 * @param {App} app
 * @param {() => boolean} narrow
 */
export function toDocument(app, narrow) {
  /** @type {Reading | null} */
  let last = null;
  const title = h("span", { class: "name", dir: "auto" });
  const bar = h("button", { class: "to-document", hidden: true, onclick: onward }, icon("page"), title, icon("next"));

  function onward() {
    if (last) app.read({ ...last, isReturned: true });
  }

  app.reading.watch((reading) => {
    last = reading ?? last;
    if (last) fill(title, last.title || words.reader.label);
    change(bar, { hidden: !last, "aria-label": `${words.reader.label}: ${title.textContent}` });
  });
  app.conversation.session.watch((session) => {
    if (!session) bar.hidden = true;
  });

  /** Where a finger came down. @type {Touch | null} */
  let touch = null;
  addEventListener("touchstart", ({ touches, target }) => {
    touch = touches.length === 1 && narrow() && !movesSideways(target) ? (touches[0] ?? null) : null;
  }, { passive: true });
  addEventListener("touchend", ({ changedTouches }) => {
    const [to] = changedTouches;
    if (!touch || !to || getSelection()?.isCollapsed === false) return;
    const [across, down] = [to.clientX - touch.clientX, to.clientY - touch.clientY];
    touch = null;
    if (Math.abs(across) < FAR || Math.abs(down) > STEEP * Math.abs(across)) return;
    const isOnward = getComputedStyle(bar).direction === "rtl" ? across > 0 : across < 0;
    if (isOnward && !app.reading.value && !bar.hidden) onward();
    else if (!isOnward) app.reading.set(null);
  }, { passive: true });
  return bar;
}

/** Whether something around a place is itself scrolled from side to side. @param {EventTarget | null} target */
function movesSideways(target) {
  for (let at = target instanceof Element ? target : null; at; at = at.parentElement) {
    if (at.matches("input, textarea, dialog") || (at.scrollWidth > at.clientWidth + 1 && /auto|scroll/.test(getComputedStyle(at).overflowX))) return true;
  }
  return false;
}
