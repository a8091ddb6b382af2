/** An answer: its sections, and what there is to say of it as a whole. */

import { fill, h } from "../dom.js";
import { isLive } from "../state/turns.js";
import { isApart } from "../text/apart.js";
import { words } from "../words/index.js";
import { answerActions } from "./answer_actions.js";
import { sourceList } from "./answer_sources.js";
import { limitsView } from "./answer_limits.js";
import { answerhoodLine, changesSince, verdictLine } from "./answer_summary.js";
import { disagreements } from "./conflicts.js";
import { outcomeView } from "./answer_outcome.js";
import { nearestList } from "./nearest.js";
import { sectionView } from "./section.js";

/** Make the view of an answer. @param {import("../state/app.js").App} app @returns {import("./turn.js").TurnView} */
export function answerView(app) {
  /** @type {ReturnType<typeof sectionView>[]} */
  const views = [];
  /** @type {import("../state/run.js").Answer | null} */
  let shown = null;
  const sections = h("div", { class: "sections" });
  const outcome = outcomeView(app);
  const limits = limitsView();
  const [above, below] = [h("div", { class: "above" }), h("div", { class: "below" })];
  const actions = answerActions(app);
  const element = h(
    "div",
    { class: "answer", role: "group", "aria-label": words.answer.label },
    above,
    outcome.element,
    limits.element,
    sections,
    below,
    actions.element,
  );

  /** @param {import("../state/run.js").Answer | null} answer */
  function showAnswer(answer) {
    const shownSections = answer?.sections ?? [];
    while (views.length < shownSections.length) views.push(sectionView(app));
    views.length = shownSections.length;
    if (answer) {
      shownSections.forEach((section, index) => {
        const view = /** @type {ReturnType<typeof sectionView>} */ (views[index]);
        view.show(section, answer);
        view.element.hidden = isApart(section, answer);
      });
    }
    fill(sections, views.map((view) => view.element));
    if (!answer || answer.outcome === null) {
      fill(above);
      fill(below);
    } else if (answer !== shown) {
      fill(above, answerhoodLine(answer), changesSince(answer));
      fill(
        below,
        disagreements(app, answer),
        verdictLine(answer),
        answer.outcome === "abstained" ? nearestList(app, answer) : null,
        sourceList(app, answer),
      );
    }
    shown = answer;
  }

  return {
    element,
    show(turn, answering = false) {
      const { answer, run } = turn;
      if (answer !== shown || answer === null) showAnswer(answer);
      outcome.show(turn, answering);
      limits.show(turn);
      actions.show(turn, answering);
      element.classList.toggle("abstained", answer?.outcome === "abstained" && !answer.refusal);
      element.setAttribute("aria-busy", String(isLive(run)));
    },
  };
}
