/** The form that a title is changed with, where the title stands. */

import { change, h } from "../dom.js";

/**
 * Make the form.
 * @param {{label: string, before: string, longest: number}} title
 * @param {(title: string) => Promise<boolean>} keep Tells whether it was kept.
 * @param {(title: string) => void} back Puts the title in the place of the form.
 * @param {...HTMLElement} buttons
 */
export function titleForm({ label, before, longest }, keep, back, ...buttons) {
  const input = h("input", { type: "text", required: true, maxlength: longest, dir: "auto", "aria-label": label, ".value": before });
  const form = h("form", { class: "rename", onsubmit, onkeydown }, input, buttons);

  async function onsubmit() {
    const title = input.value.trim();
    if (!title) change(input, { "aria-invalid": "true" });
    else if (title === before || (await keep(title))) back(title);
    else input.focus();
  }

  /** Escape ends this alone, and not what it is in. @param {KeyboardEvent} event */
  function onkeydown(event) {
    if (event.key !== "Escape") return;
    event.preventDefault();
    back(before);
  }

  return { form, input };
}
