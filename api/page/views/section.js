/** A section of an answer: its claims with their verdicts, and a marker for each citation. */

import { fill, h } from "../dom.js";

/**
 * @typedef {object} SectionElement
 * @property {HTMLElement} element
 * @property {(section: import("../state/sections.js").SectionView, answer: import("../state/run.js").Answer) => void} show
 */

/** @param {import("../state/app.js").App} app @returns {SectionElement} */
export function sectionView(app) {
  const element = h("div", { class: "section" });
  return {
    element,
    show(section) {
      fill(element, section.text);
    },
  };
}
