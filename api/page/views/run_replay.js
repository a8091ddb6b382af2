/** The log of a run that was not followed here, told again once somebody wants to see it. */

import { Problem } from "../api/problem.js";
import { joinRun } from "../api/following.js";
import { fold, newRun } from "../state/run.js";

/** @typedef {"unasked" | "fetching" | "told" | "gone"} Replayed */

/** Make what reads the log of one run. @param {App} app @param {() => void} changed */
export function replayOf(app, changed) {
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
