/** A question that could not be asked: why, and the way to ask it again. */

import { fill, h } from "../dom.js";
import { words } from "../words/index.js";
import { advice, said } from "../words/problems.js";
import { icon, textButton } from "./icons.js";

/** Make the panel of a question that could not be asked. @param {App} app */
export function failureView(app) {
  const { conversation } = app;
  const element = h("div", { class: "failure", role: "alert" });
  conversation.failure.watch((failure) => {
    element.hidden = !failure;
    if (!failure) return fill(element);
    const { problem, again, ask } = failure;
    if (problem.status === 401) app.locked.set(true);
    const title = ask?.regenerate ? words.answer.failed : ask ? words.conversation.failed : "";
    fill(
      element,
      title && h("p", { class: "outcome" }, icon("cross"), h("strong", null, title)),
      h("p", null, withCode(said(problem))),
      advice(problem) && h("p", { class: "muted" }, withCode(advice(problem))),
      h("p", { class: "choices" },
        again && textButton("primary small", again, icon("again"), words.page.retry),
        textButton("quiet small", () => conversation.failure.set(null), words.conversation.dismiss),
      ),
    );
  });
  return element;
}

/** Show what a message puts between backticks as code. @param {string} message */
export function withCode(message) {
  return message.split(/`([^`]+)`/).map((part, at) => (at % 2 ? h("code", null, part) : part));
}
