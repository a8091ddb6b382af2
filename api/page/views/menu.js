/** A button with a menu that opens from it. */

import { change, h } from "../dom.js";
import { icon } from "./icons.js";
import { roving } from "./roving.js";

/** @typedef {{text: string, icon?: IconName, danger?: boolean, act: () => void}} Action */
/** @typedef {{label: string, options: {text: string, lang?: string, checked: boolean, act: () => void}[]}} Choice */

const GAP = 4;
const MARGIN = 8;

/** Make a button that opens a menu; what is in it is asked for whenever it opens.
 * @param {string} label @param {IconName} sign @param {() => (Action | Choice)[]} entries */
export function menuButton(label, sign, entries) {
  let open = /** @type {HTMLElement | null} */ (null);
  const looks = { class: "quiet menu-button", title: label, "aria-label": label };
  const button = h("button", { ...looks, "aria-haspopup": "menu", "aria-expanded": "false" }, icon(sign));
  // A press outside closes the menu before the click that follows; that click must not open it again.
  let pressedOpen = false;
  button.addEventListener("pointerdown", () => (pressedOpen = open !== null));
  button.addEventListener("click", () => {
    if (!pressedOpen) show();
    pressedOpen = false;
  });
  button.addEventListener("keydown", (event) => {
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    event.preventDefault();
    show();
  });

  function show() {
    if (open) return open.hidePopover();
    const menu = h("div", { class: "menu", role: "menu", "aria-label": button.ariaLabel, popover: "auto", ontoggle, onkeydown },
      entries().map((entry) => ("act" in entry ? item(entry, close) : choice(entry, close))),
    );
    button.after(menu);
    open = menu;
    menu.showPopover();
    place(menu, button.getBoundingClientRect());
    change(button, { "aria-expanded": "true" });
    roving(menu, "button", { vertical: true });
    menu.querySelector("button")?.focus();
  }

  /** @param {ToggleEvent} event */
  function ontoggle({ newState }) {
    if (newState === "open") return;
    change(button, { "aria-expanded": "false" });
    open?.remove();
    open = null;
  }

  /** @param {KeyboardEvent} event */
  function onkeydown(event) {
    if (event.key === "Escape") event.stopPropagation(); // it closes the menu, and not what the menu is in
    if (event.key === "Tab") open?.hidePopover();
  }

  /** @param {() => void} act */
  function close(act) {
    button.focus();
    open?.hidePopover();
    act();
  }
  return button;
}

/** @param {Action} action @param {(act: () => void) => void} close */
function item({ text, icon: sign, danger, act }, close) {
  const attributes = { class: danger ? "quiet danger" : "quiet", role: "menuitem", tabindex: -1, onclick: () => close(act) };
  return h("button", attributes, sign && icon(sign), text);
}

/** @param {Choice} choice @param {(act: () => void) => void} close */
function choice({ label, options }, close) {
  const made = options.map(({ text, lang, checked, act }) => {
    const button = item({ text, act }, close);
    button.prepend(h("span", { class: "sign" }, checked && icon("check")));
    change(button, { role: "menuitemradio", lang, "aria-checked": String(checked) });
    return button;
  });
  return h("div", { class: "menu-group", role: "group", "aria-label": label }, h("p", { "aria-hidden": "true" }, label), made);
}

/** Put a menu below its button, or above where there is no room. @param {HTMLElement} menu @param {DOMRect} button */
function place(menu, button) {
  const { width, height } = menu.getBoundingClientRect();
  const right = Math.min(innerWidth - MARGIN, Math.max(button.right, width + MARGIN));
  const below = button.bottom + GAP + height <= innerHeight - MARGIN;
  const left = Math.max(MARGIN, Math.min(button.left, innerWidth - MARGIN - width));
  menu.style.left = `${getComputedStyle(menu).direction === "rtl" ? left : right - width}px`;
  menu.style.top = `${below ? button.bottom + GAP : Math.max(MARGIN, button.top - GAP - height)}px`;
}
