/**
 * The popover that says what stands behind a marker or a sign: one for the page.
 *
 * The mouse shows it by resting on a button, and may go into it. The keyboard shows it by reaching a button, goes into it
 * by Enter, Space or Tab, and leaves it by Escape. A finger opens it. A press elsewhere closes it.
 */

import { h } from "../dom.js";
import { words } from "../words/index.js";
import { iconButton } from "./icons.js";
import { place } from "./placing.js";

/**
 * @typedef {object} Explanation
 * @property {string} label
 * @property {() => HTMLElement[]} parts What is said, asked for whenever it is shown.
 * @property {(() => void) | null} press What a click with the mouse does; null where it opens the popover.
 * @property {HTMLElement[]} pieces What is marked meanwhile.
 */

const RESTING = 150; // milliseconds on a button until it counts as meant
const CROSSING = 250; // on the way from the button into the popover

/** @type {WeakMap<import("../state/app.js").App, Popover>} */
const popovers = new WeakMap();

/** Give the page's popover. @param {import("../state/app.js").App} app */
export function popoverOf(app) {
  const known = popovers.get(app) ?? new Popover(app);
  popovers.set(app, known);
  return known;
}

/** Shows, holds and closes the popover, as mouse, keyboard or finger ask for it. */
export class Popover {
  /** @param {import("../state/app.js").App} app */
  constructor(app) {
    this.app = app;
    /** @type {WeakMap<Element, Explanation>} */
    this.explanations = new WeakMap();
    /** @type {HTMLElement | null} */
    this.button = null;
    /** Whether it stays until it is closed. */
    this.held = false;
    this.returning = false;
    this.timer = 0;
    this.frame = 0;
    this.finger = false;
    this.body = h("div", { class: "parts" });
    const close = iconButton("close", words.page.close, () => this.close(true), "quiet close");
    this.element = h(
      "div",
      { class: "popover proof", id: "proof", role: "dialog", popover: "manual", tabindex: -1 },
      this.body,
      close,
    );
    document.body.append(this.element);
    this.listen();
    /** What was last read from a button. @type {{button: HTMLElement, reading: import("../state/app.js").Reading} | null} */
    this.current = null;
    app.reading.watch((reading) => reading !== this.current?.reading && this.mark(null));
    // What was opened goes with its turn, once the views have followed.
    app.conversation.turns.watch(() => {
      if (this.button) queueMicrotask(() => this.button?.isConnected === false && this.close());
    });
  }

  /**
   * Let a button open the popover.
   * @param {HTMLButtonElement} button
   * @param {Explanation} explanation
   */
  explain(button, explanation) {
    this.explanations.set(button, explanation);
    button.dataset.explains = "";
    button.setAttribute("aria-haspopup", "dialog");
    return button;
  }

  /** Read a document from a button. @param {HTMLElement} button @param {import("../state/app.js").Reading | null} reading */
  read(button, reading) {
    this.close();
    if (!reading) return;
    button.focus({ preventScroll: true });
    this.close();
    this.mark({ button, reading });
    this.app.read(reading);
  }

  /** Mark the button whose quote is being read. @param {Popover["current"]} current */
  mark(current) {
    this.current?.button.removeAttribute("aria-current");
    this.current = current;
    current?.button.setAttribute("aria-current", "true");
  }

  listen() {
    document.addEventListener("pointerover", (event) => event.pointerType === "mouse" && this.pointed(event.target));
    document.addEventListener("pointerdown", (event) => {
      this.finger = event.pointerType !== "mouse";
      if (this.button && !this.buttonOf(event.target) && !this.has(event.target)) this.close();
    }, true);
    document.addEventListener("click", (event) => this.pressed(event));
    document.addEventListener("focusin", (event) => this.focused(event.target));
    document.addEventListener("keydown", (event) => this.button && this.typed(event, this.button), true);
    const moved = () => {
      if (this.button) this.frame ||= requestAnimationFrame(() => this.follow());
    };
    addEventListener("resize", moved);
    addEventListener("scroll", moved, true);
  }

  /** @param {EventTarget | null} target */
  pointed(target) {
    const button = this.buttonOf(target);
    clearTimeout(this.timer);
    const inside = this.has(document.activeElement);
    if (button && button !== this.button && !inside) this.timer = setTimeout(() => this.open(button), RESTING);
    else if (!button && !this.has(target) && !this.held && this.button && this.button !== document.activeElement) {
      this.timer = setTimeout(() => this.close(), CROSSING);
    }
  }

  /** @param {MouseEvent} event */
  pressed(event) {
    const button = this.buttonOf(event.target);
    if (!button) return;
    const { press } = /** @type {Explanation} */ (this.explanations.get(button));
    const mouse = event.detail > 0 && !this.finger;
    if (mouse && press) press();
    else if (this.held && this.button === button) this.close(true);
    else this.hold(button, mouse);
  }

  /** Open it to stay. @param {HTMLElement} button @param {boolean} mouse */
  hold(button, mouse) {
    this.open(button);
    this.held = true;
    if (!mouse) (this.actions()[0] ?? this.element).focus({ preventScroll: true });
  }

  /** @param {EventTarget | null} target */
  focused(target) {
    if (this.has(target)) {
      this.held = true;
      return;
    }
    const button = this.buttonOf(target);
    if (button && button !== this.button && button.matches(":focus-visible") && !this.returning) this.open(button);
    else if (!button && this.button) this.close();
  }

  /** @param {KeyboardEvent} event @param {HTMLElement} button */
  typed(event, button) {
    if (event.key === "Escape") {
      event.stopPropagation();
      event.preventDefault();
      this.close(true);
      return;
    }
    if (event.key !== "Tab") return;
    const stops = this.actions();
    const inside = this.has(document.activeElement);
    if (document.activeElement === button && !event.shiftKey) {
      event.preventDefault();
      stops[0]?.focus();
    } else if (inside && event.shiftKey && document.activeElement === (stops[0] ?? this.element)) {
      event.preventDefault();
      this.close(true);
    } else if (inside && !event.shiftKey && document.activeElement === stops.at(-1)) {
      this.close(true); // the key itself then goes on from the button
    }
  }

  /** @param {HTMLElement} button */
  open(button) {
    clearTimeout(this.timer);
    if (this.button === button) return;
    this.close();
    const { label, parts, pieces } = /** @type {Explanation} */ (this.explanations.get(button));
    if (!button.isConnected) return;
    this.button = button;
    button.setAttribute("aria-expanded", "true");
    button.setAttribute("aria-controls", this.element.id);
    for (const piece of pieces) piece.classList.add("shown");
    this.body.replaceChildren(...parts());
    this.element.setAttribute("aria-label", label);
    this.element.showPopover();
    this.element.scrollTop = 0;
    place(this.element, button);
  }

  /** Close it. @param {boolean} [back] Whether the focus goes back to the button. */
  close(back = false) {
    clearTimeout(this.timer);
    const button = this.button;
    if (!button) return;
    this.button = null;
    this.held = false;
    button.removeAttribute("aria-expanded");
    button.removeAttribute("aria-controls");
    for (const piece of this.explanations.get(button)?.pieces ?? []) piece.classList.remove("shown");
    if (back) {
      this.returning = true;
      button.focus({ preventScroll: true });
      this.returning = false;
    }
    this.element.hidePopover();
  }

  /** Stay beside the button, as long as it is in sight. */
  follow() {
    this.frame = 0;
    if (this.button && !place(this.element, this.button)) this.close();
  }

  /** List what can be reached in it by the keyboard. @returns {HTMLElement[]} */
  actions() {
    return [...this.element.querySelectorAll(/** @type {"button"} */ ("button, a[href]"))];
  }

  /** @param {EventTarget | null} target @returns {HTMLElement | null} */
  buttonOf(target) {
    const button = target instanceof Element ? target.closest("[data-explains]") : null;
    return button instanceof HTMLElement && this.explanations.has(button) ? button : null;
  }

  /** @param {EventTarget | null} target */
  has(target) {
    return target instanceof Node && this.element.contains(target);
  }
}
