/** Where a question is written and sent, or what is being answered is stopped. */

import { h } from "../dom.js";
import { words } from "../words/index.js";
import { selectionBar } from "./selection_bar.js";

/** @param {import("../state/app.js").App} app */
export function composer(app) {
  const text = h("textarea", { id: "question", rows: 1, maxlength: 10000, placeholder: words.composer.placeholder, "aria-label": words.composer.label, onkeydown });
  const stop = h("button", { type: "button", class: "stop", onclick: () => void app.conversation.stop() }, words.composer.stop);
  const send = h("button", { type: "submit", class: "primary" }, words.composer.ask);
  const form = h("form", { class: "composer", onsubmit }, selectionBar(app), h("div", { class: "entry" }, text, stop, send));
  app.conversation.turns.watch((turns) => (stop.hidden = !turns.some((turn) => turn.run && turn.run.status !== "finished")));

  /** @param {SubmitEvent} event */
  function onsubmit(event) {
    event.preventDefault();
    const question = text.value.trim();
    if (!question) return;
    text.value = "";
    void app.ask(question);
  }

  /** @param {KeyboardEvent} event */
  function onkeydown(event) {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit();
  }
  return form;
}
