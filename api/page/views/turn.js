/** A question and its answer. */

import { h } from "../dom.js";
import { isLive } from "../state/turns.js";
import { answerView } from "./answer.js";
import { questionView } from "./question.js";
import { runPanel } from "./run_panel.js";

/**
 * @typedef {object} TurnView
 * @property {HTMLElement} element
 * @property {(turn: Turn, answering?: boolean) => void} show `answering` while the session
 *   answers any question.
 */

let turns = 0;

/**
 * Make the view of a turn; `leave` is called where it is not shown any more.
 * @param {App} app
 * @returns {TurnView & {leave: () => void}}
 */
export function turnView(app) {
  const name = `turn-${(turns += 1)}`;
  const question = questionView(app, name);
  const answer = answerView(app);
  const panel = runPanel(app);
  const going = h("div", null, panel.element);
  const element = h("article", { class: "turn", "aria-labelledby": name }, question.element, going, answer.element);

  /** Have the run's line above the answer while it goes on, and below it from then on. @param {HTMLElement} place */
  function move(place) {
    if (panel.element.parentElement === place) return;
    const focused = panel.element.contains(document.activeElement) ? document.activeElement : null;
    place.append(panel.element);
    if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
  }

  return {
    element,
    show(turn, answering = false) {
      question.show(turn, answering);
      panel.show(turn);
      move(isLive(turn.run) ? going : answer.account);
      answer.show(turn, answering);
      element.classList.toggle("live", isLive(turn.run));
    },
    leave: panel.leave,
  };
}
