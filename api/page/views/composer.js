/** Where a question is written and sent, or what is being answered is stopped. */

import { fill, h } from "../dom.js";
import { isLive } from "../state/turns.js";
import { words } from "../words/index.js";
import { icon, textButton } from "./icons.js";
import { mentionsIn } from "./later.js";
import { questionField } from "./question_field.js";
import { chosenChips, documentScope, putLastAway, selectionOptions } from "./selection.js";

const DRAFT = "citewell.draft.";

/** Make the form that a question is asked with. @param {App} app */
export function composer(app) {
  const { conversation, selection } = app;
  const { placeholder, label } = words.composer;
  const attributes = { id: "question", placeholder, "aria-label": label, enterkeyhint: "send" };
  const field = questionField(attributes, { send: () => form.requestSubmit(), escape, changed, keys });
  const mentions = mentionsIn(app, field);
  const stop = textButton("stop", () => stopRun(), icon("stop"), words.composer.stop);
  const ask = h("span", null, words.composer.ask);
  const send = h("button", { type: "submit", class: "primary send", disabled: true }, ask, icon("send"));
  const form = h("form", { class: "composer", onsubmit },
    selectionBar(app),
    h("div", { class: "entry" },
      field.text,
      h("div", { class: "sending" }, h("p", { class: "hint" }, words.composer.hint), field.limit, stop, send),
    ),
  );
  /** The session whose draft is on show. @type {string | null} */
  let shown = null;
  /** The question that was refused, and stands in the field again. */
  let refused = "";
  let passage = /** @type {import("../state/selection.js").Passage | null} */ (null);
  /** Whether anything was typed since a session began to be opened. */
  let typed = false;
  field.write(sessionStorage.getItem(DRAFT) ?? "");
  field.text.addEventListener("input", () => (typed = true));
  conversation.loading.watch(() => (typed = false));

  conversation.turns.watch((turns) => {
    const answering = turns.some((turn) => isLive(turn.run));
    if (stop.hidden === !answering) return;
    if (!answering && document.activeElement === stop) field.text.focus();
    stop.hidden = !answering;
    fill(ask, answering ? words.composer.next : words.composer.ask);
  });
  conversation.session.watch((session) => {
    const id = session?.session_id ?? null;
    if (id === shown) return;
    const begun = shown === null && !conversation.loading.value; // by the question that was just sent
    const early = shown === null && typed && field.text.value !== ""; // while the session was being opened
    if (begun || early) sessionStorage.removeItem(DRAFT);
    shown = id;
    refused = "";
    if (begun || early) changed();
    else field.write(sessionStorage.getItem(DRAFT + (id ?? "")) ?? "");
  });
  conversation.failure.watch((failure) => {
    if (!failure) {
      if (refused && field.text.value === refused) field.write("");
      refused = "";
    } else if (failure.ask?.question && !failure.ask.edit && !field.text.value) {
      refused = failure.ask.question;
      field.write(refused);
      if (passage && !selection.passage.value) selection.passage.set(passage);
    }
  });

  function changed() {
    send.disabled = !field.question();
    if (field.text.value) sessionStorage.setItem(DRAFT + (shown ?? ""), field.text.value);
    else sessionStorage.removeItem(DRAFT + (shown ?? ""));
  }

  /** @param {KeyboardEvent} event */
  function keys(event) {
    const { selectionStart, selectionEnd } = field.text;
    const first = event.key === "Backspace" && selectionStart === 0 && selectionEnd === 0;
    return first ? putLastAway(app) : mentions(event);
  }

  function stopRun() {
    field.text.focus();
    void conversation.stop();
  }

  function escape() {
    if (stop.hidden) return false;
    stopRun();
    return true;
  }

  function onsubmit() {
    const question = field.question();
    if (!question || !app.mayAsk()) return;
    passage = selection.passage.value;
    refused = "";
    field.write("");
    field.text.focus();
    void app.ask(question);
  }
  return form;
}

/** Make the bar above the question. @param {App} app */
function selectionBar(app) {
  const scope = documentScope(app);
  return h("div", { class: "selection", role: "group", "aria-label": words.selection.label },
    chosenChips(app, scope.querySelector("button") ?? scope),
    h("div", { class: "options" }, scope, selectionOptions(app)),
  );
}
