/** Buttons beside text that is selected in the reader, to ask about it and to pin it. */

import { fill, h } from "../dom.js";
import { codePoints } from "../text/offsets.js";
import { words } from "../words/index.js";

export const MOST = 1000; // characters that a question's passage may have
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/**
 * Make the button; it belongs into what scrolls.
 * @param {HTMLElement} scroller
 * @param {() => readonly HTMLElement[]} segments
 * @param {(text: string) => void} ask
 * @param {string} [between] What stands between the texts of two segments.
 * @param {(text: string) => void} [pin]
 */
export function readerSelection(scroller, segments, ask, between = "", pin) {
  const button = selecting(words.reader.ask, ask);
  const pinning = pin && selecting(words.notes.pinWords, pin);
  const tooLong = h("p", { class: "too-long", role: "status" });
  const element = h("div", { class: "asking", hidden: true }, button, pinning, tooLong);
  let dragging = false;
  let waiting = 0;
  const later = () => (waiting ||= requestAnimationFrame(look));
  let text = "";

  function look() {
    waiting = 0;
    const selection = getSelection();
    const range = selection && selection.rangeCount > 0 && !selection.isCollapsed ? selection.getRangeAt(0) : null;
    if (range && element.contains(range.startContainer)) return;
    const parts = range && !dragging && scroller.contains(range.startContainer) ? partsOf(range, segments()) : [];
    text = askable(parts.join(between));
    element.hidden = !text;
    if (!range || !text) return;
    const count = codePoints(text);
    for (const each of [button, pinning]) if (each) each.hidden = count > MOST;
    tooLong.hidden = count <= MOST;
    fill(tooLong, tooLong.hidden ? "" : words.reader.tooLong({ most: MOST, count }));
    const end = [...range.getClientRects()].at(-1) ?? range.getBoundingClientRect();
    stand(tooLong.hidden ? end : scroller.getBoundingClientRect());
  }

  /** @param {DOMRect} end */
  function stand(end) {
    const around = scroller.getBoundingClientRect();
    const top = Math.min(end.bottom, around.bottom - 3.5 * 16) - around.top + scroller.scrollTop;
    const most = scroller.clientWidth - element.offsetWidth - 8;
    element.style.insetBlockStart = `${top + 8}px`;
    element.style.left = `${Math.min(Math.max(end.right - around.left - element.offsetWidth / 2, 8), most)}px`;
  }

  /** @param {string} label @param {(text: string) => void} act */
  function selecting(label, act) {
    return h("button", { class: "primary small", onpointerdown: keep, onmousedown: keep, onclick }, label);
    function onclick() {
      getSelection()?.removeAllRanges();
      element.hidden = true;
      act(text);
    }
  }

  document.addEventListener("selectionchange", later);
  scroller.addEventListener("pointerdown", ({ pointerType, target }) =>
    (dragging = pointerType === "mouse" && !element.contains(/** @type {Node} */ (target))));
  for (const type of ["pointerup", "pointercancel"]) {
    addEventListener(type, () => {
      if (dragging) later();
      dragging = false;
    });
  }
  return element;
}

/** Make a selected text one that a question may be asked about. @param {string} text */
export function askable(text) {
  return text.replace(CONTROL, " ").trim();
}

/** Pressing the button must not undo the selection that it is about. @param {Event} event */
function keep(event) {
  event.preventDefault();
}

/**
 * Give what a range takes of each segment, as it is stored: the browser's own text of a selection has its layout in it.
 * @param {Range} range
 * @param {readonly HTMLElement[]} segments
 */
function partsOf(range, segments) {
  return segments.filter((segment) => range.intersectsNode(segment)).map((segment) => {
    const own = document.createRange();
    own.selectNodeContents(segment);
    if (own.compareBoundaryPoints(Range.START_TO_START, range) < 0) own.setStart(range.startContainer, range.startOffset);
    if (own.compareBoundaryPoints(Range.END_TO_END, range) > 0) own.setEnd(range.endContainer, range.endOffset);
    const taken = own.cloneContents();
    for (const end of taken.querySelectorAll("br")) end.replaceWith("\n"); // of the lines of a PDF page
    for (const drawn of /** @type {NodeListOf<HTMLElement>} */ (taken.querySelectorAll("[data-line]"))) drawn.replaceWith(drawn.dataset.line ?? "");
    return taken.textContent ?? "";
  });
}
