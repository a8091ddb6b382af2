/** How an answer came about: one line that opens to the steps and what they took. */

import { joinRun } from "../api/following.js";
import { Problem } from "../api/problem.js";
import { change, fill, h } from "../dom.js";
import { fold, newRun } from "../state/run.js";
import { isLive } from "../state/turns.js";
import { doingNow, summaryOf, took } from "../text/summing.js";
import { duration } from "../words/format.js";
import { icon } from "./icons.js";
import { later } from "./later.js";

/** @typedef {"unasked" | "fetching" | "told" | "gone"} Replayed */

const TICK_MS = 500;
/** Speaks to those who can't see the page: one for all runs, so that none talks over another.
 * @type {HTMLElement | null} */
let voice = null;

/** Make the panel of a run. @param {App} app @returns {TurnView & {leave: () => void}} */
export function runPanel(app) {
  tuneIn();
  const line = h("span", { class: "run-line" });
  const time = h("span", { class: "run-time" });
  const mark = h("span", { class: "run-mark" }, icon("next"));
  const summary = h("summary", null, mark, line, time);
  const element = h("details", { class: "run", ontoggle: toggled, onclick: engage }, summary);
  const replay = replayOf(app, draw);
  let body = /** @type {ReturnType<typeof import("./run_body.js").runBody> | null} */ (null);
  let turn = /** @type {Turn | null} */ (null);
  let live = /** @type {boolean | null} */ (null);
  let writing = false;
  /** Whether the user wants it open; null where they have not said. */
  let chosen = /** @type {boolean | null} */ (null);
  let spoken = "";
  let ticking = 0;

  /** @param {boolean} was Whether it was live before. */
  function speak(was) {
    const said = live ? (line.textContent ?? "") : "";
    // Its end is announced with the conversation's.
    if (said !== spoken && (live || was)) fill(tuneIn(), said);
    spoken = said;
  }

  /** Nothing folds under the hand of whoever uses what is in it. @param {MouseEvent} event */
  function engage({ target }) {
    chosen = !(target instanceof Node && summary.contains(target)) || !element.open;
  }

  // Where the steps would take half of what there is to see, or of what there is to read, the line alone tells of the run.
  function roomy() {
    const wide = matchMedia(`(min-width: ${app.reading.value ? 75 : 52}rem)`).matches;
    return wide && (!writing || matchMedia("(min-height: 64rem)").matches);
  }

  /** Fold or unfold it; what is read below its line stays where it is. @param {() => void} fold */
  function place(fold) {
    const [below, scroller] = [element.parentElement?.nextElementSibling, element.closest(".conversation")];
    if (!below || !scroller || summary.getBoundingClientRect().bottom > scroller.getBoundingClientRect().top) return fold();
    const before = below.getBoundingClientRect().top;
    fold();
    const moved = below.getBoundingClientRect().top - before;
    if (moved) scroller.scrollTop += moved;
  }

  function toggled() {
    if (element.open && turn && !turn.run) replay.begin(turn.key);
    else if (!element.open) replay.leave();
    draw();
  }

  function tick() {
    if (live && element.isConnected) return draw();
    clearInterval(ticking);
    ticking = 0;
  }

  /** @param {typeof import("./run_body.js")} module */
  function prepare({ runBody }) {
    if (body) return;
    body = runBody(app);
    draw();
  }

  function draw() {
    if (!turn) return;
    const { run } = turn;
    const ms = took(turn, run, Date.now());
    fill(line, live && run ? doingNow(run) : summaryOf(turn, run));
    fill(time, ms !== null && duration(ms));
    if (!element.open) return body?.element.remove();
    if (!body) return void later(app, () => import("./run_body.js"), prepare); // who opens none need not load it
    if (!body.element.isConnected) {
      element.append(body.element);
      void body.opened();
    }
    body.show(turn, replay.state);
  }

  return {
    element,
    show(shown) {
      if (shown === turn) return;
      if (shown.key !== turn?.key) replay.forget();
      turn = shown;
      const [was, wrote] = [live, writing];
      live = isLive(shown.run);
      writing = live && (writing || Boolean(shown.run?.answer.sections.some((section) => section.text)));
      if (live !== was || writing !== wrote) {
        place(() => (element.open = chosen ?? (live === true && roomy())));
        change(element, { class: live ? "run going" : "run" });
      }
      draw();
      speak(was ?? false);
      if (live && !ticking) ticking = setInterval(tick, TICK_MS);
    },
    leave: replay.leave,
  };
}

/** Make ready to speak; a voice that begins with its first word is often not heard. */
function tuneIn() {
  voice ??= h("p", { class: "seen-by-readers-only announcer", role: "status" });
  if (!voice.isConnected) document.body.append(voice);
  return voice;
}

/** Make what reads the log of one run. @param {App} app @param {() => void} changed */
function replayOf(app, changed) {
  let leaving = new AbortController();
  const replay = {
    /** @type {Replayed} */
    state: "unasked",

    /** @param {string} runId */
    begin(runId) {
      if (replay.state === "unasked") void app.attempt(() => read(runId));
    },

    /** Wait no longer for what has not come yet. */
    leave() {
      if (replay.state === "fetching") replay.forget();
    },

    forget() {
      leaving.abort();
      replay.state = "unasked";
    },
  };

  /** @param {string} runId @throws {Problem} */
  async function read(runId) {
    replay.forget();
    replay.state = "fetching";
    const { signal } = (leaving = new AbortController());
    let run = newRun(runId);
    try {
      const events = joinRun(app.client, runId, { signal, onOutage: () => undefined });
      for await (const event of events) run = fold(run, event);
    } catch (error) {
      if (!signal.aborted) replay.state = "unasked";
      if (!(error instanceof Problem && error.code === "not_found")) throw error;
    }
    if (signal.aborted) return;
    replay.state = run.steps.length ? "told" : "gone"; // of an old run only the end is still told
    if (run.seq) app.conversation.recall(run);
    else changed();
  }
  return replay;
}
