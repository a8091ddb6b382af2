/** An answer: its sections, and what there is to say of it as a whole. */

import { fill, h } from "../dom.js";
import { words } from "../words/index.js";
import { sectionView } from "./section.js";

/** @param {import("../state/app.js").App} app @returns {import("./turn.js").TurnView} */
export function answerView(app) {
  /** @type {ReturnType<typeof sectionView>[]} */
  const views = [];
  const sections = h("div", { class: "sections" });
  const element = h("div", { class: "answer", role: "group", "aria-label": words.answer.label }, sections);
  return {
    element,
    show(turn) {
      const { answer } = turn;
      if (!answer) return;
      while (views.length < answer.sections.length) views.push(sectionView(app));
      views.length = answer.sections.length;
      answer.sections.forEach((section, index) => views[index]?.show(section, answer));
      fill(sections, views.map((view) => view.element));
    },
  };
}
