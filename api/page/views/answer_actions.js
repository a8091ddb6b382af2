/** What can be done with an answer: copy it, have another, see its versions; or stop it. */

import { change, fill, h } from "../dom.js";
import { footnoted } from "../text/footnotes.js";
import { words } from "../words/index.js";
import { regenerate } from "./answer_outcome.js";
import { copyButton } from "./copying.js";
import { icon, iconButton, textButton } from "./icons.js";
import { later, pin } from "./later.js";
import { takeMenu } from "./taking.js";
import { versionSwitch } from "./versions.js";

/** Make the row of what can be done with an answer. @param {App} app @returns {TurnView} */
export function answerActions(app) {
  let shown = /** @type {Turn | null} */ (null);
  const read = () => shown?.answer ? footnoted(shown.answer, app.client.home.href) : null;
  const { button: copy, said: copied } = copyButton("quiet small copy", words.answer.copyLabel, read);
  const anew = () => shown?.answerId && regenerate(app, shown, shown.answerId);
  const again = textButton("quiet small", anew, icon("again"), words.answer.regenerate);
  const end = () => void app.conversation.stop(shown?.run?.runId);
  const stop = textButton("quiet small", end, icon("stop"), words.composer.stop);
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
    versions.element, copy, pinned, again, feedback.elements, take, stop, copied,
  );

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

/** Make the buttons. @param {App} app */
function feedbackButtons(app) {
  const { along } = words;
  let shown = /** @type {Turn | null} */ (null);
  let given = /** @type {Feedback | null} */ (null);
  const up = iconButton("up", along.good, () => void say(given?.rating === "up" ? null : { rating: "up" }));
  const poor = iconButton("poor", along.poor, () => void ask());
  const status = h("span", { class: "seen-by-readers-only", role: "status" });

  async function ask() {
    const before = given?.rating === "down" ? given : null;
    if (!before && !(await say({ rating: "down" }))) return;
    await later(app, () => import("./feedback_sheet.js"), (sheet) => shown?.answer && sheet.feedbackSheet(shown.answer, before, say));
  }

  /** Say it, or with nothing take back what was said. @param {Wire.NewFeedback | null} feedback */
  async function say(feedback) {
    const turn = shown;
    const session = app.conversation.session.value;
    if (!turn?.answerId || !session) return false;
    const path = `api/sessions/${session.session_id}/messages/${turn.answerId}/feedback`;
    const request = feedback ? { method: "POST", json: feedback } : { method: "DELETE" };
    return app.attempt(async () => {
      const response = await app.client.send(path, request);
      turn.feedback = feedback ? await response.json() : null;
      if (shown !== turn) return;
      fill(status, along.said[feedback?.rating ?? "withdrawn"]);
      mark(turn.feedback);
    });
  }

  /** @param {Feedback | null} feedback */
  function mark(feedback) {
    given = feedback;
    change(up, { "aria-pressed": String(given?.rating === "up") });
    change(poor, { "aria-pressed": String(given?.rating === "down") });
  }

  return {
    elements: [up, poor, status],
    /** @param {Turn} turn @param {boolean} offered */
    show(turn, offered) {
      if (turn.answerId !== shown?.answerId) fill(status);
      shown = turn;
      mark(turn.feedback);
      up.hidden = poor.hidden = !offered;
    },
  };
}
