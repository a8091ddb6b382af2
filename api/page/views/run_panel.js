/** How an answer came about: the steps in plain words, the graph, and what they took. */

import { fill, h } from "../dom.js";
import { words } from "../words/index.js";

/** @param {import("../state/app.js").App} app @returns {import("./turn.js").TurnView} */
export function runPanel(app) {
  const summary = h("summary", null, words.run.label);
  const steps = h("ol", { class: "steps" });
  const element = h("details", { class: "run" }, summary, steps);
  return {
    element,
    show(turn) {
      fill(steps, (turn.run?.steps ?? []).map((step) => h("li", null, step.name)));
    },
  };
}
