/** How the reader stands in the window: beside the answer, or over all of it where the window is narrow. */

import { change } from "../dom.js";

const NARROW = "(max-width: 52rem)"; // as in the style of the frame

/**
 * Open and close an element; what it covers can't be reached meanwhile.
 * @param {HTMLElement} element
 * @param {() => HTMLElement} first Gives what gets the focus.
 */
export function sheet(element, first) {
  const narrow = matchMedia(NARROW);
  /** @type {Element[]} */
  let covered = [];
  /** @type {Element | null} */
  let origin = null;

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
      const { activeElement } = document;
      element.hidden = false;
      if (!opened) return;
      // What opened it may be closing just now, and gives the focus back to where it had it from.
      setTimeout(() => {
        if (element.hidden) return;
        origin = [document.activeElement, activeElement].find((each) => each && each !== document.body && each.checkVisibility()) ?? null;
        const byKeyboard = origin?.matches("button:focus-visible, a:focus-visible") ?? false;
        cover();
        if (narrow.matches || byKeyboard) first().focus({ preventScroll: true });
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
