/** Two buttons that say what an answer is worth; the second asks what is wrong. */

import { change, fill, h } from "../dom.js";
import { words } from "../words/index.js";
import { iconButton } from "./icons.js";
import { later } from "./later.js";

/** Make the buttons. @param {App} app */
export function feedbackButtons(app) {
  const { along } = words;
  /** @type {Turn | null} */
  let shown = null;
  /** @type {Feedback | null} */
  let given = null;
  const up = iconButton("up", along.good, () => void say(given?.rating === "up" ? null : rating("up")));
  const poor = iconButton("poor", along.poor, () => void ask());
  const status = h("span", { class: "seen-by-readers-only", role: "status" });

  async function ask() {
    const before = given?.rating === "down" ? given : null;
    if (!before && !(await say(rating("down")))) return;
    await later(app, () => import("./feedback_sheet.js"), (sheet) => shown?.answer && sheet.feedbackSheet(shown.answer, before, say));
  }

  /** @param {"up" | "down"} value @returns {Wire.NewFeedback} */
  function rating(value) {
    return { rating: value, reason_code: null, text: null, claim: null };
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
