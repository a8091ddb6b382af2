/** How the reader stands in the window: beside the answer, or over it where the window is narrow, with the way between the two. */

import { change, fill, h } from "../dom.js";
import { words } from "../words/index.js";
import { icon } from "./icons.js";

const NARROW = "(max-width: 52rem)"; // as in the style of the frame
const [FAR, STEEP] = [72, 0.5]; // pixels of a swipe, and how far it may go up or down to one of them

/**
 * Open and close an element; what it covers can't be reached meanwhile.
 * @param {HTMLElement} element
 * @param {() => HTMLElement} first Gives what gets the focus.
 * @param {() => Element | null} pressed Gives what it is opened from.
 */
export function sheet(element, first, pressed) {
  const narrow = matchMedia(NARROW);
  let covered = /** @type {Element[]} */ ([]);
  let origin = /** @type {Element | null} */ (null);

  function cover() {
    const over = narrow.matches && !element.hidden;
    change(element, { role: over ? "dialog" : "complementary", "aria-modal": over && "true" });
    for (const each of covered) each.removeAttribute("inert");
    covered = over ? [...document.querySelectorAll(".skip, .frame > *")].filter((each) => !each.contains(element)) : [];
    for (const each of covered) each.setAttribute("inert", "");
  }
  narrow.addEventListener("change", cover);

  return {
    narrow: () => narrow.matches,

    open() {
      const opened = element.hidden;
      const opener = pressed();
      element.hidden = false;
      if (!opened) return;
      // What opened it may be closing just now, and gives the focus back to where it had it from.
      setTimeout(() => {
        if (element.hidden) return;
        const { activeElement } = document;
        const now = activeElement !== document.body && activeElement?.checkVisibility() ? activeElement : null;
        origin = now ?? (opener === document.body ? null : opener);
        // What was pressed may be hidden by what it opens, and the focus would be nowhere; a page that loads takes it itself.
        const isLost = !now && navigator.userActivation.hasBeenActive;
        const byKeyboard = now?.matches("button:focus-visible, a:focus-visible");
        cover();
        if (narrow.matches || isLost || byKeyboard) first().focus({ preventScroll: true });
      });
    },

    close() {
      if (element.hidden) return;
      const inside = element.contains(document.activeElement);
      element.hidden = true;
      cover();
      const back = origin instanceof HTMLElement && origin.checkVisibility() ? origin : document.getElementById("question");
      if (inside) back?.focus({ preventScroll: true });
      origin = null;
    },
  };
}

/** Make the bar that leads to the document, and let a swipe lead there and back.
 * @param {App} app @param {() => boolean} narrow */
export function toDocument(app, narrow) {
  let last = /** @type {Reading | null} */ (null);
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
