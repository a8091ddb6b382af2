/** Following a run to its end: its events in order and without gaps, whatever becomes of the connection. */

import { PASSING, Problem } from "./problem.js";
import { framesOf } from "./frames.js";
import { openStream } from "./streams.js";

/** A connection that was lost: when it is tried again, in milliseconds of the clock, and how to do so at once.
 * @typedef {{until: number, now: () => void}} Outage */
/** @typedef {(outage: Outage | null, back?: boolean) => void} OnOutage Called with null where it is over: the connection
 * is `back`, or nobody waits for it any more. */
/** @typedef {{signal: AbortSignal, onOutage: OnOutage}} Options */
/** @typedef {{runId: string, after: string}} Place `after` is the id of the last event that was had. */
/** @typedef {import("./streams.js").Opened} Opened */

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 8_000;

/**
 * Ask a question and give its events as they come, to the last one.
 *
 * The run goes on without its reader. A connection that breaks is joined again behind the last event that arrived.
 * Whoever leaves before there is a reply has asked nevertheless.
 * @param {Client} client
 * @param {string} sessionId
 * @param {NewRun} ask
 * @param {Options} options
 * @returns {AsyncGenerator<RunEvent, void, void>}
 * @throws {Problem} Where the question was refused, or where nobody can say whether it arrived.
 */
export async function* askQuestion(client, sessionId, ask, options) {
  const json = { ...ask, on_disconnect: "continue", stream: true };
  const opened = await openStream(client, `api/sessions/${sessionId}/runs`, { method: "POST", json }, null);
  if (options.signal.aborted) return opened.silence.stop();
  opened.silence.ringWith(options.signal);
  yield* follow(client, opened, null, options);
}

/**
 * Join a run, from its first event or behind one of them.
 * @param {Client} client
 * @param {string} runId
 * @param {Options & {after?: string}} options `after` is the id of the last event that was had.
 * @returns {AsyncGenerator<RunEvent, void, void>}
 * @throws {Problem} Where there is no such run.
 */
export async function* joinRun(client, runId, options) {
  yield* follow(client, null, { runId, after: options.after ?? "" }, options);
}

/**
 * @param {Client} client
 * @param {Opened | null} opened
 * @param {Place | null} place
 * @param {Options} options
 * @returns {AsyncGenerator<RunEvent, void, void>}
 */
async function* follow(client, opened, place, { signal, onOutage }) {
  let pause = FIRST_PAUSE_MS;
  try {
    for (;;) {
      let least = 0;
      try {
        opened ??= place && (await join(client, place, signal));
        if (!opened?.response.body || opened.response.status === 204) return;
        onOutage(null, true);
        for await (const frame of framesOf(opened.response.body, opened.silence.postpone)) {
          const event = eventOf(frame.data);
          if (!event) continue;
          place = { runId: event.run_id, after: frame.id };
          pause = FIRST_PAUSE_MS;
          yield event;
          if (event.type === "run_finished" || event.type === "run_failed") return;
        }
      } catch (error) {
        if (signal.aborted) return;
        if (isFinal(error)) throw error;
        if (error instanceof Problem) least = error.after * 1000;
      } finally {
        opened?.silence.stop();
        opened = null;
      }
      if (signal.aborted) return;
      // A stream that broke off before its first event has not said which run it told of.
      if (!place) throw new Problem("unreachable", "", { retryable: true });
      // Readers that lost the same server do not all come back in the same moment.
      const wait = Math.max(pause * (0.75 + Math.random() / 2), least);
      await rest(wait, signal, onOutage);
      pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
    }
  } finally {
    onOutage(null);
  }
}

/** Read an event; null where it is none of a run, as what stands between may send. @param {string} data @returns {RunEvent | null} */
function eventOf(data) {
  try {
    const event = JSON.parse(data);
    return typeof event?.run_id === "string" && event.seq > 0 ? event : null;
  } catch {
    return null;
  }
}

/** Tell whether a request need not be made again: it was refused, and will be. @param {unknown} error */
function isFinal(error) {
  return error instanceof Problem && error.status >= 400 && error.status < 500 && !PASSING.has(error.status);
}

/** @param {Client} client @param {Place} place @param {AbortSignal} signal */
function join(client, place, signal) {
  /** @type {Record<string, string>} */
  const headers = place.after ? { "Last-Event-ID": place.after } : {};
  return openStream(client, `api/runs/${place.runId}/stream`, { headers }, signal);
}

/**
 * Wait, but no longer than until the network is back, the page is looked at again, or somebody asks for it.
 * @param {number} ms
 * @param {AbortSignal} signal
 * @param {OnOutage} onOutage
 */
async function rest(ms, signal, onOutage) {
  const over = new AbortController();
  await new Promise((resolve) => {
    const now = () => resolve(undefined);
    const timer = setTimeout(now, ms);
    over.signal.addEventListener("abort", () => clearTimeout(timer));
    window.addEventListener("online", now, { signal: over.signal });
    document.addEventListener("visibilitychange", () => document.hidden || now(), { signal: over.signal });
    signal.addEventListener("abort", now, { signal: over.signal });
    onOutage({ until: Date.now() + ms, now });
  });
  over.abort();
}
