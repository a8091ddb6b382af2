/** A long text in stretches, each of which the browser lays out only when it comes near. */

import { h } from "../dom.js";
import { mostMarked, scrollTo } from "./reader_scroll.js";
import { pause } from "./reader_slices.js";

const STRETCH = 6000; // letters, or just more: the browser watches every stretch in each frame, and lays out one at a time
const LETTERS_PER_LINE = 64; // about, to guess how high a stretch is that was never laid out
const LINE_HEIGHT = 1.7; // rem

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

/**
 * Bring what is marked most into sight, as soon as it is there.
 * @param {HTMLElement} scroller
 * @param {import("./layout_text.js").LaidOutText} text
 * @param {AbortSignal} signal
 */
export async function revealMarked(scroller, text, signal) {
  const start = text.currentStart;
  while ((text.leaves.at(-1)?.to ?? Infinity) <= start && !signal.aborted) await pause();
  await pause();
  const target = mostMarked(scroller);
  const fold = target?.closest("details");
  if (fold) fold.open = true;
  if (target && !signal.aborted) await scrollTo(scroller, target, signal);
}
