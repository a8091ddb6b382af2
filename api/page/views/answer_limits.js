/** What an answer had to do without: a search that failed, pages that were read in part or not at all. */

import { fill, h } from "../dom.js";
import { words } from "../words/index.js";
import { limitsOf } from "../text/limits.js";
import { icon } from "./icons.js";

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
