/** What to go on with below the last answer: questions, and guides where a summary was asked for and no model is. */

import { orNull } from "../api/problem.js";
import { fill, h } from "../dom.js";
import { isLive } from "../state/turns.js";
import { words } from "../words/index.js";
import { contents } from "./guide.js";
import { icon } from "./icons.js";
import { questionList } from "./offers.js";

/** Make the place of questions that follow the last answer. @param {App} app */
export function followUps(app) {
  const { conversation } = app;
  const element = h("div", { class: "follow-ups" });
  /** The answer that they follow. @type {string | null} */
  let shown = null;

  conversation.turns.watch(look);
  conversation.aside.watch(look);

  function look() {
    const last = conversation.turns.value.at(-1);
    const ended = last?.answer?.outcome && !isLive(last.run) && !conversation.aside.value;
    const answerId = ended ? last.answerId : null;
    if (answerId === shown) return;
    shown = answerId;
    fill(element);
    const sessionId = conversation.session.value?.session_id;
    if (answerId && sessionId) void offer(sessionId, answerId);
  }

  /** @param {string} sessionId @param {string} answerId */
  async function offer(sessionId, answerId) {
    const found = await orNull(app.client.followUps(sessionId)); // whoever goes on without them misses nothing
    if (!found || shown !== answerId || found.message_id !== answerId) return;
    const { questions, guides = [] } = found;
    fill(
      element,
      guides.map((each) => h("section", { class: "guide" }, h("h3", { dir: "auto" }, icon("page"), each.title), contents(app, each))),
      questions.length ? questionList(app, words.ways.followUps, questions) : null,
    );
  }
  return element;
}
