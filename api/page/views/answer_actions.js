/** What can be done with an answer: copy it, have another, see its versions; or stop it. */

import { change, fill, h } from "../dom.js";
import { words } from "../words/index.js";
import { regenerate } from "./answer_outcome.js";
import { icon } from "./icons.js";
import { wanted } from "./later.js";
import { versionSwitch } from "./versions.js";

const SAID_MS = 2000; // for as long as "Copied" is shown

/**
 * Make the row of what can be done with an answer.
 * @param {import("../state/app.js").App} app
 * @returns {import("./turn.js").TurnView}
 */
export function answerActions(app) {
  /** @type {import("../state/turns.js").Turn | null} */
  let shown = null;
  const copy = h(
    "button",
    { type: "button", class: "quiet small copy", title: words.answer.copyLabel, onclick: () => void copyAnswer() },
    icon("copy"),
    words.answer.copy,
  );
  const again = h(
    "button",
    { type: "button", class: "quiet small", onclick: () => shown?.answerId && regenerate(app, shown, shown.answerId) },
    icon("again"),
    words.answer.regenerate,
  );
  const stop = h(
    "button",
    { type: "button", class: "quiet small", onclick: () => void app.conversation.stop(shown?.run?.runId) },
    icon("stop"),
    words.composer.stop,
  );
  const copied = h("span", { class: "seen-by-readers-only", role: "status" });
  const versions = versionSwitch(app, words.conversation.versions.answer);
  const element = h("div", { class: "actions" }, versions.element, copy, again, stop, copied);

  async function copyAnswer() {
    if (!shown?.answer) return;
    const { answer } = shown;
    const loaded = await wanted(app, () => import("../text/footnotes.js"), () => void copyAnswer());
    if (!loaded) return;
    const text = loaded.footnoted(answer, {
      home: app.client.home.href,
      places: {
        page: (number) => words.answer.page(String(number)),
        slide: (number) => words.answer.slide(String(number)),
        sheet: words.answer.sheet,
      },
      ungrounded: words.answer.ungrounded,
      marks: words.run.told.verdicts,
    });
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      return showToCopy(text);
    }
    fill(copy, icon("check"), words.answer.copied);
    fill(copied, words.answer.copied);
    setTimeout(() => {
      fill(copy, icon("copy"), words.answer.copy);
      fill(copied);
    }, SAID_MS);
  }

  return {
    element,
    show(turn, answering = false) {
      shown = turn;
      const { answer, run } = turn;
      const ended = answer !== null && answer.outcome !== null;
      copy.hidden = !ended || !answer.sections.some((section) => section.text);
      again.hidden = answering || !ended || turn.answerId === null;
      stop.hidden = run === null || run.status !== "queued" || run.position === 0;
      versions.show(turn.answerVersions, turn.answerId, answering);
      change(element, { hidden: copy.hidden && again.hidden && stop.hidden && versions.element.hidden });
    },
  };
}

/** Show a text to be copied by hand. @param {string} markdown */
function showToCopy(markdown) {
  const text = h("textarea", { readonly: true, rows: 12, ".value": markdown, "aria-label": words.answer.copyLabel });
  const close = h("button", { type: "button", onclick: () => dialog.close() }, words.page.close);
  const dialog = h(
    "dialog",
    { class: "to-copy", "aria-label": words.answer.copyLabel, onclose: () => dialog.remove() },
    h("p", null, words.answer.copyHere),
    text,
    close,
  );
  document.body.append(dialog);
  dialog.showModal();
  text.focus();
  text.select();
}
