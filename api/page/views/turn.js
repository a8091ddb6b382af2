/** A question and its answer. */

import { fill, h } from "../dom.js";
import { answerView } from "./answer.js";
import { runPanel } from "./run_panel.js";

/**
 * @typedef {object} TurnView
 * @property {HTMLElement} element
 * @property {(turn: import("../state/turns.js").Turn) => void} show
 */

/** @param {import("../state/app.js").App} app @returns {TurnView} */
export function turnView(app) {
  const question = h("h2", { class: "question" });
  const answer = answerView(app);
  const panel = runPanel(app);
  const element = h("article", { class: "turn" }, question, panel.element, answer.element);
  return {
    element,
    show(turn) {
      fill(question, turn.question);
      panel.show(turn);
      answer.show(turn);
    },
  };
}
