/** How the reader stands in the window: beside the answer, or over all of it where the window is narrow. */

import { change } from "../dom.js";

const NARROW = "(max-width: 52rem)"; // as in the style of the frame

/**
 * Open and close an element; what it covers can't be reached meanwhile.
 * @param {HTMLElement} element
 * @param {() => HTMLElement} first Gives what gets the focus.
 * @param {() => Element | null} pressed Gives what it is opened from.
 */
export function sheet(element, first, pressed) {
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
