/** What can be done with an answer: copy it, have another, see its versions; or stop it. */

import { change, h } from "../dom.js";
import { footnoted } from "../text/footnotes.js";
import { words } from "../words/index.js";
import { regenerate } from "./answer_outcome.js";
import { copyButton } from "./copying.js";
import { feedbackButtons } from "./feedback.js";
import { icon, textButton } from "./icons.js";
import { pin } from "./later.js";
import { takeMenu } from "./take_menu.js";
import { versionSwitch } from "./versions.js";

/** Make the row of what can be done with an answer. @param {App} app @returns {TurnView} */
export function answerActions(app) {
  /** @type {Turn | null} */
  let shown = null;
  const { button: copy, said: copied } = copyButton("quiet small copy", words.answer.copyLabel, readAnswer);
  const again = textButton(
    "quiet small",
    () => shown?.answerId && regenerate(app, shown, shown.answerId),
    icon("again"),
    words.answer.regenerate,
  );
  const stop = textButton(
    "quiet small",
    () => void app.conversation.stop(shown?.run?.runId),
    icon("stop"),
    words.composer.stop,
  );
  const versions = versionSwitch(app, words.conversation.versions.answer);
  const feedback = feedbackButtons(app);
  const take = takeMenu(app, words.along.answer, () => shown?.answerId ?? null);
  take.classList.add("small");
  const pinned = textButton("quiet small", () => {
    const session_id = app.conversation.session.value?.session_id;
    if (session_id && shown?.answerId) pin(app, { session_id, message_id: shown.answerId });
  }, icon("pin"), h("span", { class: "wide-only" }, words.notes.pin));
  change(pinned, { title: words.notes.pinAnswer, "aria-label": words.notes.pinAnswer });
  const element = h("div", { class: "actions" },
    versions.element,
    copy,
    pinned,
    again,
    feedback.elements,
    take,
    stop,
    copied,
  );

  function readAnswer() {
    return shown?.answer ? footnoted(shown.answer, app.client.home.href) : null;
  }

  return {
    element,
    show(turn, answering = false) {
      shown = turn;
      const { answer, run } = turn;
      const ended = answer !== null && answer.outcome !== null;
      copy.hidden = !ended || !answer.sections.some((section) => section.text);
      pinned.hidden = copy.hidden || turn.answerId === null;
      again.hidden = answering || !ended || turn.answerId === null;
      feedback.show(turn, ended && turn.answerId !== null);
      take.hidden = !ended || turn.answerId === null;
      stop.hidden = run === null || run.status !== "queued" || run.position === 0;
      versions.show(turn.answerVersions, turn.answerId, answering);
      change(element, { hidden: [copy, again, take, stop, versions.element].every((each) => each.hidden) });
    },
  };
}
