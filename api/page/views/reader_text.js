/**
 * The text of a document by its segments, with quotes marked in it.
 *
 * Quotes are `mark` elements rather than ranges of the CSS Custom Highlight API: forced colours keep them visible,
 * screen readers can tell them, and they can be scrolled to.
 */

import { fill, h } from "../dom.js";
import { partOf } from "../text/places.js";
import { words } from "../words/index.js";
import { markedIn, pieces } from "./reader_marks.js";
import { mostMarked, scrollTo } from "./reader_scroll.js";
import { inSlices, pause } from "./reader_slices.js";

/** @typedef {import("../text/passages.js").Passage} Passage */
/** @typedef {import("../api/types.js").RawSegment} RawSegment */
/** @typedef {import("./reader_marks.js").Mark} Mark */

const LETTERS_PER_LINE = 64; // about, to guess how high a stretch is that was never laid out
const STRETCH = 6000; // letters, or just more: the browser watches every stretch in each frame, and lays out one at a time
const LINE_HEIGHT = 1.7;

/** Make the part of the reader that scrolls. */
export function readerText() {
  const body = h("div", { class: "body" });
  const element = h("div", { class: "text", tabindex: 0, role: "region", "aria-label": words.reader.text }, body);
  /** @type {RawSegment[]} */
  let segments = [];
  /** @type {"slide" | "sheet" | "page"} */
  let part = "page";
  /** @type {HTMLElement[]} */
  let elements = [];
  /** What is marked in which segment. @type {Map<number, Mark[]>} */
  let marks = new Map();
  /** The last stretch, how many letters it has and how high it may be. */
  let stretch = { element: body, letters: Infinity, height: 0 };
  let building = new AbortController();

  /** @param {number} at */
  function content(at) {
    return pieces(segments[at]?.text ?? "", marks.get(at) ?? []);
  }

  /** @param {number} at */
  function append(at) {
    const segment = /** @type {RawSegment} */ (segments[at]);
    const { page_idx: page, segment_index: index } = segment;
    if (stretch.letters >= STRETCH) {
      stretch = { element: h("div", { class: "stretch" }), letters: 0, height: 0 };
      body.append(stretch.element);
    }
    if (page !== null && page !== segments[at - 1]?.page_idx) stretch.element.append(h(
      "h3",
      { class: "page" },
      words.reader[part](page + 1),
    ));
    const made = h("div", { class: "segment", dir: "auto", id: `segment-${index}`, "data-number": index + 1 }, content(at));
    elements.push(made);
    stretch.element.append(made);
    stretch.letters += segment.text.length;
    stretch.height += height(segment.text);
    stretch.element.style.containIntrinsicBlockSize = `auto ${stretch.height}rem`;
  }

  return {
    element,
    /** The segments that are on show, in order. */
    segments: () => /** @type {readonly HTMLElement[]} */ (elements),

    /** Show nothing, or this in the place of a text. @param {string} [instead] */
    clear(instead = "") {
      building.abort();
      segments = [];
      elements = [];
      marks = new Map();
      stretch = { element: body, letters: Infinity, height: 0 };
      fill(body, instead && h("p", { class: "muted" }, instead));
      element.scrollTop = 0;
    },

    /** Show a text from its start; the browser draws in between. @param {import("../state/document.js").Content} content */
    show({ document, raw }) {
      this.clear(raw.segments.length ? "" : words.reader.empty);
      segments = raw.segments;
      part = partOf(document.media_type);
      building = new AbortController();
      return inSlices(segments.length, append, building.signal);
    },

    /**
     * Mark these passages, and one of them more than the others.
     * @param {Passage[]} passages
     * @param {Passage | null} current
     */
    mark(passages, current) {
      const before = marks;
      marks = marksOf(passages, current);
      for (const at of new Set([...before.keys(), ...marks.keys()])) {
        const shown = elements[at];
        if (shown) fill(shown, content(at));
      }
    },

    /**
     * Bring the passage that is marked most into sight, as soon as it is there.
     * @param {Passage} passage
     * @param {AbortSignal} signal
     */
    async reveal(passage, signal) {
      const last = passage.parts.at(-1)?.segment ?? 0;
      while (elements.length <= last && !signal.aborted) await pause();
      const target = mostMarked(elements[(passage.best[0] ?? passage.parts[0])?.segment ?? 0]);
      if (target && !signal.aborted) await scrollTo(element, target, signal);
    },
  };
}

/** @param {Passage[]} passages @param {Passage | null} current */
function marksOf(passages, current) {
  /** @type {Map<number, Mark[]>} */
  const marks = new Map();
  for (const passage of passages) {
    for (const { segment, from, to, kind } of markedIn(passage, current)) {
      marks.set(segment, [...(marks.get(segment) ?? []), { from, to, kind }]);
    }
  }
  return marks;
}

/** Guess how high a text stands, in rem. @param {string} text */
function height(text) {
  return Math.ceil(text.length / LETTERS_PER_LINE + 1) * LINE_HEIGHT;
}
