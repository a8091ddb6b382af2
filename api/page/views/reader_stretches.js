/** A long text in stretches: made in slices, each laid out only when it comes near, and scrolled to what is marked in it. */

import { h } from "../dom.js";

const STRETCH = 6000; // letters, or just more: the browser watches every stretch in each frame, and lays out one at a time
const LETTERS_PER_LINE = 64; // about, to guess how high a stretch is that was never laid out
const LINE_HEIGHT = 1.7; // rem
const SLICE = 8; // milliseconds, half of a frame
const ROUNDS = 20;
const ABOVE = 0.3; // how far down the window of the text the target is to stand
const OWN = ["wheel", "touchmove", "pointerdown", "keydown"];

/** Fills an element with stretches. */
export class Stretches {
  /** @param {HTMLElement} body */
  constructor(body) {
    this.body = body;
    this.letters = Infinity;
    this.element = body;
  }

  /** Begin another stretch where this one is long enough. */
  next() {
    if (this.letters < STRETCH) return;
    this.element = h("div", { class: "stretch" });
    this.body.append(this.element);
    this.letters = 0;
  }

  /** Note that so many letters more stand in this one. @param {number} letters */
  grow(letters) {
    this.letters += letters;
    const lines = this.letters / LETTERS_PER_LINE + this.element.childElementCount;
    this.element.style.containIntrinsicBlockSize = `auto ${Math.ceil(lines * LINE_HEIGHT)}rem`;
  }
}

/** Bring what is marked most into sight, as soon as it is there.
 * @param {HTMLElement} scroller @param {import("./layout_text.js").LaidOutText} text @param {AbortSignal} signal */
export async function revealMarked(scroller, text, signal) {
  const start = text.currentStart;
  while ((text.leaves.at(-1)?.to ?? Infinity) <= start && !signal.aborted) await pause();
  await pause();
  const target = mostMarked(scroller);
  const fold = target?.closest("details");
  if (fold) fold.open = true;
  if (target && !signal.aborted) await scrollTo(scroller, target, signal);
}

/** Do something so many times; stops where the signal says so.
 * @param {number} count @param {(at: number) => void} act @param {AbortSignal} signal */
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

/**
 * Scroll until the target stands still in sight: what is above it gets its true height only as it comes near. Whoever
 * scrolls by himself meanwhile is left alone.
 * @param {Element} scroller
 * @param {Element} target
 * @param {AbortSignal} signal
 */
export async function scrollTo(scroller, target, signal) {
  const stopped = new AbortController();
  const until = { signal: AbortSignal.any([signal, stopped.signal]), passive: true };
  for (const type of OWN) scroller.addEventListener(type, () => stopped.abort(), until);
  let still = 0;
  for (let round = 0; round < ROUNDS && still < 2; round += 1) {
    if (until.signal.aborted) return;
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
