/**
 * The text of a document by its segments, with quotes marked in it.
 *
 * Quotes are `mark` elements rather than ranges of the CSS Custom Highlight API: forced colours keep them visible,
 * screen readers can tell them, and they can be scrolled to.
 */

import { fill, h } from "../dom.js";
import { partOf } from "../text/places.js";
import { words } from "../words/index.js";
import { LaidOutText } from "./layout_text.js";
import { inSlices, revealMarked, Stretches } from "./reader_stretches.js";

/** Make the part of the reader that scrolls. */
export function readerText() {
  const body = h("div", { class: "body" });
  const element = h("div", { class: "text", tabindex: 0, role: "region", "aria-label": words.reader.text }, body);
  let text = new LaidOutText([]);
  let building = new AbortController();
  return {
    element,
    /** The segments that are on show, in order. */
    segments: () => text.leaves.map((leaf) => leaf.element),

    /** Show nothing, or this in the place of a text. @param {string} [instead] */
    clear(instead = "") {
      building.abort();
      building = new AbortController();
      text = new LaidOutText([]);
      element.scrollTop = 0;
      fill(body, instead && h("p", { class: "muted" }, instead));
    },

    /** Show a text from its start; the browser draws in between. @param {Content} content */
    show({ document, raw: { segments } }) {
      this.clear(segments.length ? "" : words.reader.empty);
      const part = partOf(document.media_type);
      const own = (text = new LaidOutText(segments));
      const stretches = new Stretches(body);
      return inSlices(segments.length, (at) => {
        const { page_idx: page, segment_index: index, text: said } = /** @type {Wire.RawSegment} */ (segments[at]);
        stretches.next();
        if (page !== null && page !== segments[at - 1]?.page_idx) {
          stretches.element.append(h("h3", { class: "page" }, words.reader[part]({ number: String(page + 1) })));
        }
        const made = h("div", { class: "segment", dir: "auto", id: `segment-${index}`, "data-number": index + 1 });
        const from = own.starts[at] ?? 0;
        stretches.element.append(own.put(made, from, from + said.length));
        stretches.grow(said.length);
      }, building.signal);
    },

    /** Mark these passages, and one of them more than the others.
     * @param {Passage[]} passages @param {Passage | null} current */
    mark(passages, current) {
      text.mark(passages, current);
    },

    /** @param {Passage} _ @param {AbortSignal} signal */
    reveal: (_, signal) => revealMarked(element, text, signal),
  };
}
