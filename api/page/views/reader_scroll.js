/** Scrolling to what stands among content that is only laid out when it comes near. */

import { drawn } from "./reader_slices.js";

const ROUNDS = 20;
const ABOVE = 0.3; // how far down the window of the text the target is to stand
const OWN = ["wheel", "touchmove", "pointerdown", "keydown"];

/**
 * Scroll until the target stands still in sight: what is above it gets its true height only as it comes near. Whoever
 * scrolls by himself meanwhile is left alone.
 * @param {Element} scroller
 * @param {Element} target
 * @param {AbortSignal} signal
 */
export async function scrollTo(scroller, target, signal) {
  const stopped = new AbortController();
  for (const type of OWN) scroller.addEventListener(
    type,
    () => stopped.abort(),
    { signal: AbortSignal.any([signal, stopped.signal]), passive: true },
  );
  let still = 0;
  for (let round = 0; round < ROUNDS && still < 2; round += 1) {
    if (signal.aborted || stopped.signal.aborted) return;
    const before = scroller.scrollTop;
    scroller.scrollTop += tooFar(scroller, target);
    still = Math.abs(scroller.scrollTop - before) < 1 ? still + 1 : 0;
    await drawn();
  }
  stopped.abort();
}

/** Find in an element the mark of what is looked at, or of what in it answers best. @param {Element | undefined} within */
export function mostMarked(within) {
  return within?.querySelector("mark.current:not(.around)") ?? within?.querySelector("mark.current");
}

/** Tell how far the target is from where it is to stand; nothing where all of it is in sight. @param {Element} scroller @param {Element} target */
function tooFar(scroller, target) {
  const [around, own] = [scroller.getBoundingClientRect(), target.getBoundingClientRect()];
  const room = around.height * 0.1;
  if (own.top >= around.top + room && own.bottom <= around.bottom - room) return 0;
  return own.top - around.top - Math.min(around.height * ABOVE, Math.max(room, around.height - own.height - room));
}
