/** Requests whose reply is a stream, given up where it falls silent: a connection may be lost without breaking. */

import { Problem } from "./problem.js";

/** @typedef {{response: Response, silence: ReturnType<typeof alarm>}} Opened `silence` is put off by whatever comes, and
 * stopped by who has read enough. */

const SILENCE_MS = 40_000; // the server pings every 15 seconds

/**
 * Send a request whose reply is a stream.
 * @param {Client} client
 * @param {string} path
 * @param {Parameters<Client["send"]>[1]} request
 * @param {AbortSignal | null} outer
 * @returns {Promise<Opened>}
 */
export async function openStream(client, path, request, outer) {
  const silence = alarm();
  if (outer) silence.ringWith(outer);
  try {
    return { response: await client.send(path, { ...request, signal: silence.signal }), silence };
  } catch (error) {
    silence.stop();
    if (error instanceof Problem || outer?.aborted) throw error;
    throw new Problem("unreachable", "", { retryable: true }); // nothing came for too long
  }
}

/** Make a signal that aborts when nothing has come for longer than the server is ever silent. */
function alarm() {
  const controller = new AbortController();
  const { signal } = controller;
  const ring = () => controller.abort();
  let timer = setTimeout(ring, SILENCE_MS);
  return {
    signal,
    /** @param {AbortSignal} outer */
    ringWith(outer) {
      outer.addEventListener("abort", ring, { signal });
      if (outer.aborted) ring();
    },
    postpone() {
      clearTimeout(timer);
      timer = setTimeout(ring, SILENCE_MS);
    },
    stop() {
      clearTimeout(timer);
      ring();
    },
  };
}
