/** Long work in slices, between which the browser draws and hears. */

const SLICE = 8; // milliseconds, half of a frame

/**
 * Do something so many times; stops where the signal says so.
 * @param {number} count
 * @param {(at: number) => void} act
 * @param {AbortSignal} signal
 */
export async function inSlices(count, act, signal) {
  let until = performance.now() + SLICE;
  for (let at = 0; at < count; at += 1) {
    if (performance.now() >= until) {
      await pause();
      until = performance.now() + SLICE;
    }
    if (signal.aborted) return;
    act(at);
  }
}

/** Let the browser do what waits. @returns {Promise<void>} */
export function pause() {
  const { scheduler } = /** @type {{scheduler?: {yield?: () => Promise<void>}}} */ (/** @type {unknown} */ (globalThis));
  return scheduler?.yield ? scheduler.yield() : new Promise((resolve) => setTimeout(resolve));
}

/** Wait until the browser has drawn. @returns {Promise<void>} */
export function drawn() {
  return new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
}
