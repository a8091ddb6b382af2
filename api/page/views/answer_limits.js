/** What an answer had to do without: a search that failed, pages that were read in part or not at all. */

import { fill, h } from "../dom.js";
import { words } from "../words/index.js";
import { icon } from "./icons.js";

/** @typedef {import("../state/run.js").Step} Step */
/** @typedef {import("../words/index.js").Words["answer"]["limits"]} Wording */

/**
 * Say which searches failed and which selected pages were read in part or not at all, each once.
 * @param {Step[]} steps
 * @param {Wording} wording
 * @returns {string[]}
 */
export function limitsOf(steps, wording) {
  const lines = steps.flatMap((step) => step.told).flatMap((event) => {
    if (event.type === "search_failed") return [wording.failed[event.kind]];
    if (event.type !== "pages_loaded") return [];
    const { cut, unused } = event;
    const unread = unused.length ? [wording.unread(unused.length)] : [];
    return [...cut.map(({ title, segments, of }) => wording.part(title, segments, of)), ...unread];
  });
  return [...new Set(lines)];
}

/** Make the view of what an answer had to do without, as far as its run's events are known. @returns {import("./turn.js").TurnView} */
export function limitsView() {
  const element = h("div", { class: "limits" });
  let shown = "";
  return {
    element,
    show({ run, answer }) {
      const { limits } = words.answer;
      const isOutcome = answer?.stopReason === "search_failed"; // the outcome says it already
      const lines = limitsOf(run?.steps ?? [], limits).filter((line) => !isOutcome || line !== limits.failed.web);
      if (JSON.stringify(lines) === shown) return;
      shown = JSON.stringify(lines);
      fill(element, lines.map((line) => h("p", { class: "limit" }, icon("unsure"), h("span", null, line))));
    },
  };
}
