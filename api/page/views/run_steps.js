/** The steps of a run in plain words, each with its time. */

import { change, fill, h } from "../dom.js";
import { tellStep } from "../text/telling.js";
import { duration } from "../words/format.js";
import { words } from "../words/index.js";
import { icon } from "./icons.js";

/** Make the list of a run's steps. @returns {{element: HTMLElement, show: (run: RunView) => void}} */
export function runSteps() {
  const element = h("ol", { class: "steps", "aria-label": words.run.steps });
  /** @type {ReturnType<typeof stepItem>[]} */
  const items = [];
  return {
    element,
    show(run) {
      const over = run.status === "finished";
      items.length = Math.min(items.length, run.steps.length);
      run.steps.forEach((step, at) => {
        const item = items[at] ?? stepItem();
        items[at] = item;
        item.show(step, run.steps, at, run.question, over);
      });
      fill(element, items.map((item) => item.element));
    },
  };
}

function stepItem() {
  const mark = h("span", { class: "step-mark" });
  const line = h("span", { class: "step-line" });
  const time = h("span", { class: "step-time" });
  const notes = h("ul", { class: "step-notes" });
  const element = h("li", null,
    mark,
    h("div", { class: "step-said" }, h("p", { class: "step-head" }, line, time), notes),
  );
  /** @type {Step | null} */
  let shown = null;
  let state = "";
  return {
    element,
    /** @param {Step} step @param {Step[]} steps @param {number} at @param {string} question @param {boolean} over */
    show(step, steps, at, question, over) {
      const ended = step.ms !== null ? "done" : over ? "cut" : "current";
      if (step === shown && (ended === state || state === "failed")) return;
      const told = tellStep(steps, at, question);
      const now = told.failed && ended === "done" ? "failed" : ended;
      if (now !== state) {
        change(
          element,
          { class: `step ${now}`, "data-step": step.name, "aria-current": now === "current" ? "step" : null },
        );
        fill(mark, now === "done" ? icon("check") : now === "current" ? null : icon("close"));
      }
      [shown, state] = [step, now];
      fill(line, told.line);
      time.textContent = step.ms !== null ? duration(step.ms) : now === "cut" ? words.run.cut : "";
      const texts = told.notes.map((note) => note.text);
      if (texts.join("\n") !== [...notes.children].map((each) => each.textContent).join("\n")) {
        fill(notes, told.notes.map((note) => h("li", { class: note.grave ? "grave" : "" }, note.text)));
      }
      notes.hidden = texts.length === 0;
    },
  };
}
