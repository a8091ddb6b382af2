/** A question that could not be asked: why, and the way to ask it again. */

import { fill, h } from "../dom.js";
import { words } from "../words/index.js";
import { icon } from "./icons.js";

/** @param {import("../state/app.js").App} app */
export function failureView(app) {
  const { conversation } = app;
  const element = h("div", { class: "failure", role: "alert" });
  conversation.failure.watch((failure) => {
    element.hidden = !failure;
    if (!failure) return fill(element);
    const { problem, again } = failure;
    if (problem.status === 401) app.locked.set(true);
    const message = problem.code === "unreachable" ? words.notices.unreachable : problem.message || problem.code;
    fill(
      element,
      h("p", { class: "outcome" }, icon("cross"), h("strong", null, words.conversation.failed)),
      h("p", null, message),
      problem.suggestion && h("p", { class: "muted" }, problem.suggestion),
      h(
        "p",
        { class: "choices" },
        again && h("button", { type: "button", class: "primary small", onclick: again }, icon("again"), words.page.retry),
        h("button", { type: "button", class: "quiet small", onclick: () => conversation.failure.set(null) }, words.conversation.dismiss),
      ),
    );
  });
  return element;
}
