/** How an answer came about: one line that opens to the steps, the graph and what they took. */

import { change, fill, h } from "../dom.js";
import { joinRun } from "../api/following.js";
import { Problem } from "../api/client.js";
import { fold, newRun } from "../state/run.js";
import { doingNow, summaryOf, took } from "../text/summing.js";
import { duration } from "../words/format.js";
import { words } from "../words/index.js";
import { announce, tuneIn } from "./announcer.js";
import { icon } from "./icons.js";
import { runAccount } from "./run_account.js";
import { runGraph } from "./run_graph.js";
import { runSteps } from "./run_steps.js";
import { thinkingView } from "./thinking.js";

/** @typedef {import("../state/turns.js").Turn} Turn */
/** @typedef {import("../state/run.js").RunView} RunView */

const TICK_MS = 500;

/** @param {import("../state/app.js").App} app @returns {import("./turn.js").TurnView} */
export function runPanel(app) {
  tuneIn();
  const line = h("span", { class: "run-line" });
  const time = h("span", { class: "run-time" });
  const mark = h("span", { class: "run-mark" }, icon("next"));
  const summary = h("summary", { onclick: choose }, mark, line, time);
  const element = h("details", { class: "run", ontoggle: toggled }, summary);
  const replay = replayOf(app, draw);
  /** @type {ReturnType<typeof runBody> | null} */
  let body = null;
  /** @type {Turn | null} */
  let turn = null;
  let live = /** @type {boolean | null} */ (null);
  /** Whether the user wants it open; null where they have not said. */
  let chosen = /** @type {boolean | null} */ (null);
  /** @type {ReturnType<typeof setInterval> | undefined} */
  let ticking;

  function choose() {
    chosen = !element.open;
  }

  function toggled() {
    if (element.open && turn && !turn.run) replay.begin(turn.key);
    else if (!element.open) replay.leave();
    draw();
  }

  function tick() {
    if (live && element.isConnected) return draw();
    clearInterval(ticking);
    ticking = undefined;
  }

  function draw() {
    if (!turn) return;
    const run = turn.run ?? replay.run;
    const ms = took(turn, run, Date.now());
    const text = live && run ? doingNow(run) : summaryOf(turn, run);
    if (line.textContent !== text) line.textContent = text;
    fill(time, ms === null ? null : duration(ms));
    if (!element.open) return body?.element.remove();
    body ??= runBody(app);
    if (!body.element.isConnected) element.append(body.element);
    body.show(turn, run, turn.run ? "known" : replay.state);
  }

  return {
    element,
    show(shown) {
      if (shown === turn) return;
      if (shown.key !== turn?.key) replay.forget();
      turn = shown;
      const was = live;
      live = shown.run !== null && shown.run.status !== "finished";
      if (live !== was) {
        element.open = chosen ?? live;
        change(element, { class: live ? "run going" : "run" });
      }
      draw();
      // Its end is announced with the conversation's.
      if (live) announce(line.textContent ?? "");
      else if (was) announce("");
      if (live && ticking === undefined) ticking = setInterval(tick, TICK_MS);
    },
  };
}

/** What a panel shows once it was opened. @param {import("../state/app.js").App} app */
function runBody(app) {
  const note = h("p", { class: "run-note" });
  const [steps, graph, thinking, account] = [runSteps(), runGraph(), thinkingView(), runAccount(app)];
  const way = h("div", { class: "run-way" }, steps.element, graph.element);
  return {
    element: h("div", { class: "run-body" }, note, way, thinking.element, account.element),
    /** @param {Turn} turn @param {RunView | null} run @param {"known" | Replayed} state */
    show(turn, run, state) {
      const said = noteOf(run, state);
      if (note.textContent !== said) note.textContent = said;
      note.hidden = !said;
      way.hidden = !run?.steps.length;
      if (run) {
        steps.show(run);
        graph.show(run);
      }
      thinking.show(run?.thinking ?? "");
      account.show(turn, run, Date.now());
    },
  };
}

/** @param {RunView | null} run @param {"known" | Replayed} state */
function noteOf(run, state) {
  if (state === "fetching") return words.run.replaying;
  if (state !== "known" && !run?.steps.length) return words.run.gone;
  return run && run.attempt > 1 ? words.run.resumed(run.attempt) : "";
}

/** @typedef {"unasked" | "fetching" | "told" | "gone"} Replayed */

/**
 * Ask for the log of a run that was not followed here, once somebody wants to see it.
 * @param {import("../state/app.js").App} app
 * @param {() => void} changed
 */
function replayOf(app, changed) {
  let leaving = new AbortController();
  const replay = {
    /** @type {RunView | null} */
    run: null,
    /** @type {Replayed} */
    state: "unasked",

    /** @param {string} runId */
    async begin(runId) {
      if (replay.state !== "unasked") return;
      replay.state = "fetching";
      const { signal } = (leaving = new AbortController());
      let run = newRun(runId);
      try {
        for await (const event of joinRun(app.client, runId, { signal, onOutage: () => undefined })) run = fold(run, event);
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
      }
      if (signal.aborted) return;
      replay.run = run.seq ? run : null;
      replay.state = replay.run ? "told" : "gone";
      changed();
    },

    /** Wait no longer for what has not come yet. */
    leave() {
      if (replay.state === "fetching") replay.forget();
    },

    forget() {
      leaving.abort();
      replay.run = null;
      replay.state = "unasked";
    },
  };
  return replay;
}
