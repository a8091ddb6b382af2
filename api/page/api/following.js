/** Following a run to its end: its events in order and without gaps, whatever becomes of the connection. */

import { Problem } from "./client.js";
import { framesOf } from "./frames.js";

/** @typedef {import("./client.js").Client} Client */
/** @typedef {import("./types.js").RunEvent} RunEvent */
/** @typedef {"open" | "lost"} Connection */

const SILENCE_MS = 40_000; // the server pings every 15 seconds
const FIRST_PAUSE_MS = 400;
const LONGEST_PAUSE_MS = 5_000;
const GONE = new Set(["not_found", "invalid_request", "not_authenticated"]);

/**
 * Ask a question and give its events as they come, to the last one.
 *
 * The run goes on without its reader. A connection that breaks is joined again behind the last event that arrived.
 * @param {Client} client
 * @param {string} sessionId
 * @param {import("./types.js").Ask} ask
 * @param {{signal: AbortSignal, onConnection: (state: Connection) => void}} options
 * @returns {AsyncGenerator<RunEvent, void, void>}
 * @throws {Problem} Where the question was refused, or where nobody can say whether it arrived.
 */
export async function* askQuestion(client, sessionId, ask, options) {
  const body = { ...ask, on_disconnect: "continue", stream: true };
  const silence = alarm(options.signal);
  const response = await client.send(`api/sessions/${sessionId}/runs`, { method: "POST", json: body, signal: silence.signal });
  yield* follow(client, { response, silence }, null, options);
}

/**
 * Join a run, from its first event or behind one of them.
 * @param {Client} client
 * @param {string} runId
 * @param {{signal: AbortSignal, onConnection: (state: Connection) => void, after?: string}} options `after` is the id of
 *   the last event that was had.
 * @returns {AsyncGenerator<RunEvent, void, void>}
 * @throws {Problem} Where there is no such run.
 */
export async function* joinRun(client, runId, options) {
  yield* follow(client, null, { runId, after: options.after ?? "" }, options);
}

/** @typedef {{response: Response, silence: ReturnType<typeof alarm>}} Opened */

/**
 * @param {Client} client
 * @param {Opened | null} opened
 * @param {{runId: string, after: string} | null} place
 * @param {{signal: AbortSignal, onConnection: (state: Connection) => void}} options
 * @returns {AsyncGenerator<RunEvent, void, void>}
 */
async function* follow(client, opened, place, { signal, onConnection }) {
  let pause = FIRST_PAUSE_MS;
  for (;;) {
    try {
      opened ??= place && (await join(client, place, signal));
      if (!opened?.response.body || opened.response.status === 204) return;
      onConnection("open");
      for await (const frame of framesOf(opened.response.body, opened.silence.postpone)) {
        const event = /** @type {RunEvent} */ (JSON.parse(frame.data));
        place = { runId: event.run_id, after: frame.id };
        pause = FIRST_PAUSE_MS;
        yield event;
        if (event.type === "run_finished" || event.type === "run_failed") return;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof Problem && GONE.has(error.code)) throw error;
      if (error instanceof Problem && error.after) pause = Math.max(pause, error.after * 1000);
    } finally {
      opened?.silence.stop();
    }
    if (signal.aborted) return;
    // A stream that broke off before its first event has not said which run it told of.
    if (!place) throw new Problem("unreachable", "", { retryable: true });
    opened = null;
    onConnection("lost");
    await rest(pause, signal);
    pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
  }
}

/**
 * @param {Client} client
 * @param {{runId: string, after: string}} place
 * @param {AbortSignal} signal
 * @returns {Promise<Opened>}
 */
async function join(client, place, signal) {
  const silence = alarm(signal);
  /** @type {Record<string, string>} */
  const headers = place.after ? { "Last-Event-ID": place.after } : {};
  const response = await client.send(`api/runs/${place.runId}/stream`, { headers, signal: silence.signal });
  return { response, silence };
}

/**
 * Make a signal that aborts with the given one, or when nothing has come for longer than the server is ever silent.
 * @param {AbortSignal} outer
 */
function alarm(outer) {
  const controller = new AbortController();
  const abort = () => controller.abort();
  let timer = setTimeout(abort, SILENCE_MS);
  outer.addEventListener("abort", abort);
  return {
    signal: controller.signal,
    postpone() {
      clearTimeout(timer);
      timer = setTimeout(abort, SILENCE_MS);
    },
    stop() {
      clearTimeout(timer);
      outer.removeEventListener("abort", abort);
    },
  };
}

/**
 * Wait, but no longer than until the network is back.
 * @param {number} ms
 * @param {AbortSignal} signal
 */
async function rest(ms, signal) {
  await new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    for (const [target, name] of /** @type {[EventTarget, string][]} */ ([[window, "online"], [signal, "abort"]])) {
      target.addEventListener(name, () => (clearTimeout(timer), resolve(undefined)), { once: true });
    }
  });
}
