/** Questions that are offered: each was asked and answered before, so that none leads nowhere. */

import { h } from "../dom.js";
import { words } from "../words/index.js";
import { icon } from "./icons.js";
import { goToQuestion } from "./question_field.js";

let lists = 0;

/**
 * List questions, each to be asked by a press.
 * @param {App} app
 * @param {string} label
 * @param {Wire.ProvenQuestion[]} questions
 * @param {boolean} [titled] Whether to say which document answers each.
 */
export function questionList(app, label, questions, titled = false) {
  const id = `questions-${(lists += 1)}`;
  const rows = questions.map(({ question, title }) =>
    h("li", null,
      h("button", { onclick: () => ask(app, question) },
        icon("quote"),
        h("span", null,
          h("span", { class: "asked", dir: "auto" }, question),
          titled && h("span", { class: "muted", dir: "auto" }, words.ways.fromTitle({ title })),
        ),
      ),
    ),
  );
  return h("div", { class: "questions" },
    h("p", { class: "muted", id }, label),
    h("ul", { "aria-labelledby": id }, rows),
  );
}

/** @param {App} app @param {string} question */
function ask(app, question) {
  goToQuestion();
  void app.ask(question);
}
