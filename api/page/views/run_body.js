/** What opens under a run's line: its sources, its steps, its way through the graph, its thinking and its account. */

import { orNull } from "../api/problem.js";
import { change, fill, h } from "../dom.js";
import { tellStep } from "../text/telling.js";
import { duration } from "../words/format.js";
import { words } from "../words/index.js";
import { sourceList } from "./answer_sources.js";
import { icon } from "./icons.js";
import { runAccount } from "./run_account.js";

/** @typedef {import("./run_panel.js").Replayed} Replayed */

const ENDS = ["__start__", "__end__"];
let asked = /** @type {Promise<Wire.GraphStructure> | null} */ (null);

/** Make what opens under a run's line. @param {App} app */
export function runBody(app) {
  const note = h("p", { class: "run-note" });
  const [steps, thinking, account] = [runSteps(), thinkingView(), runAccount()];
  const way = h("div", { class: "run-way" }, steps.element);
  let graph = /** @type {ReturnType<typeof runGraph> | null} */ (null);
  let shown = /** @type {RunView | null} */ (null);
  const sources = h("div", { class: "all-sources" });
  let listed = /** @type {Answer | null} */ (null);
  const parts = [sources, note, way, thinking.element, account.element];
  const element = h("div", { class: "run-body", role: "group", "aria-label": words.run.label }, parts);
  return {
    element,

    /** Draw the graph where it can be had; the steps are there without it. */
    async opened() {
      const nodes = graph ? [] : await readNodes(app.client);
      if (graph || !nodes.length) return;
      graph = runGraph(nodes);
      way.append(graph.element);
      if (shown) graph.show(shown);
    },

    /** @param {Turn} turn @param {Replayed} state */
    show(turn, state) {
      const { run } = turn;
      shown = run;
      element.hidden = run?.status === "queued";
      if (turn.answer !== listed && turn.answer?.outcome) fill(sources, sourceList(app, turn.answer));
      listed = turn.answer;
      const resumed = run && run.attempt > 1 ? words.run.resumed({ attempt: run.attempt }) : "";
      const said = state === "fetching" ? words.run.replaying : state === "gone" ? words.run.gone : resumed;
      fill(note, said);
      note.hidden = !said;
      way.hidden = !run?.steps.length;
      if (run) {
        steps.show(run);
        graph?.show(run);
      }
      thinking.show(run?.thinking ?? "");
      account.show(turn, run, Date.now());
    },
  };
}

/** Make the view of what a model thought. @returns {{element: HTMLElement, show: (thinking: string) => void}} */
function thinkingView() {
  const text = document.createTextNode("");
  const element = h("details", { class: "thinking", hidden: true, ontoggle: write },
    h("summary", null, words.run.thinking),
    h("div", { class: "thinking-text", tabindex: 0, role: "group", "aria-label": words.run.thinking }, text),
  );
  let said = "";

  // What nobody reads is not written: a model can think for long.
  function write() {
    if (!element.open || text.data === said) return;
    if (said.startsWith(text.data)) text.appendData(said.slice(text.length));
    else text.data = said;
  }

  return {
    element,
    show(thinking) {
      if (thinking === said) return;
      said = thinking;
      element.hidden = !said;
      write();
    },
  };
}

/** Make the list of a run's steps. @returns {{element: HTMLElement, show: (run: RunView) => void}} */
function runSteps() {
  const element = h("ol", { class: "steps", "aria-label": words.run.steps });
  const items = /** @type {ReturnType<typeof stepItem>[]} */ ([]);
  return {
    element,
    show(run) {
      const over = run.status === "finished";
      items.length = Math.min(items.length, run.steps.length);
      run.steps.forEach((step, at) => (items[at] ??= stepItem()).show(step, run.steps, at, run.question, over));
      fill(element, items.map((item) => item.element));
    },
  };
}

function stepItem() {
  const mark = h("span", { class: "step-mark" });
  const line = h("span", { class: "step-line" });
  const time = h("span", { class: "step-time" });
  const notes = h("ul", { class: "step-notes" });
  const element = h("li", null, mark, h("div", { class: "step-said" }, h("p", { class: "step-head" }, line, time), notes));
  let shown = /** @type {Step | null} */ (null);
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
        change(element, { class: `step ${now}`, "data-step": step.name, "aria-current": now === "current" && "step" });
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

/** Read the ids of the graph's nodes in its order, once for all panels.
 * @param {Client} client @returns {Promise<string[]>} None where they can't be read; the next call asks again. */
async function readNodes(client) {
  const graph = await orNull((asked ??= client.json("api/graph", { list: "nodes" })));
  if (!graph) asked = null;
  return graph?.nodes.map(({ id }) => id).filter((id) => !ENDS.includes(id)) ?? [];
}

/** Make the rail. @param {string[]} ids @returns {{element: HTMLElement, show: (run: RunView) => void}} */
function runGraph(ids) {
  const nodes = ids.map(railNode);
  const element = h("ol", { class: "rail", "aria-label": words.run.graph }, nodes.map((node) => node.element));
  return { element, show: (run) => nodes.forEach((node) => node.show(run)) };
}

/** @param {string} id */
function railNode(id) {
  const name = words.run.nodes[/** @type {keyof typeof words.run.nodes} */ (id)] ?? id;
  const took = h("span", { class: "step-time" });
  const visited = h("span", { class: "seen-by-readers-only" });
  const element = h("li", { "data-node": id }, h("span", null, name, visited), took);
  return {
    element,
    /** @param {RunView} run */
    show({ steps, status }) {
      const visits = steps.filter((step) => step.name === id);
      const isCurrent = status !== "finished" && visits.some(({ ms }) => ms === null);
      const ms = visits.reduce((sum, step) => sum + (step.ms ?? 0), 0);
      change(element, { class: visits.length ? "visited" : null, "aria-current": isCurrent && "step" });
      fill(visited, visits.length > 0 && ` · ${words.run.visited} `);
      fill(took, visits.length > 1 && `×${visits.length} `, ms > 0 && duration(ms));
    },
  };
}
