/** What opens under a run's line: its sources, its steps, its way through the graph, its thinking and its account. */

import { fill, h } from "../dom.js";
import { words } from "../words/index.js";
import { sourceList } from "./answer_sources.js";
import { runAccount } from "./run_account.js";
import { readNodes, runGraph } from "./run_graph.js";
import { runSteps } from "./run_steps.js";

/** @typedef {import("./run_replay.js").Replayed} Replayed */

/** Make what opens under a run's line. @param {App} app */
export function runBody(app) {
  const note = h("p", { class: "run-note" });
  const [steps, thinking, account] = [runSteps(), thinkingView(), runAccount()];
  const way = h("div", { class: "run-way" }, steps.element);
  /** @type {ReturnType<typeof runGraph> | null} */
  let graph = null;
  /** @type {RunView | null} */
  let shown = null;
  const sources = h("div", { class: "all-sources" });
  /** @type {Answer | null} */
  let listed = null;
  const element = h("div", { class: "run-body", role: "group", "aria-label": words.run.label },
    sources,
    note,
    way,
    thinking.element,
    account.element,
  );
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
      const said = noteOf(run, state);
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

/** @param {RunView | null} run @param {Replayed} state */
function noteOf(run, state) {
  if (state === "fetching") return words.run.replaying;
  if (state === "gone") return words.run.gone;
  return run && run.attempt > 1 ? words.run.resumed({ attempt: run.attempt }) : "";
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
