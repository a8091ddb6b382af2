/** A PDF file as it is: its pages below each other, drawn near what is in sight, with quotes marked on them. */

import { fill, h } from "../dom.js";
import { codePoints } from "../text/offsets.js";
import { words } from "../words/index.js";
import { iconButton } from "./icons.js";
import { openPdf, prepare } from "./pdf_file.js";
import { columnAround, PdfPage } from "./pdf_page.js";
import { markedIn } from "./layout_text.js";
import { drawn as drawnNext, mostMarked, scrollTo } from "./reader_stretches.js";

/** @typedef {import("./pdf_page.js").QuoteOnPage} QuoteOnPage */
/** @typedef {import("./pdf_page.js").Box} Box */

const KEPT = 8; // pages that stay drawn when they are far away
const SIZES = [1, 1.25, 1.5, 2, 3];
const [READABLE, LARGE] = [12, 17]; // pixels of a line: from which a page stays whole, and up to which a column is enlarged
const MARGIN = 12; // pixels beside a column

/**
 * Make the view.
 * @param {Client} client
 * @param {(error: unknown) => void} onFailed Called where the file can't be read any further.
 * @returns {View}
 */
export function readerPdf(client, onFailed) {
  prepare();
  const body = h("div", { class: "body pages" });
  const element = h("div", { class: "text drawn", tabindex: 0, role: "region", "aria-label": words.reader.text }, body);
  const smaller = iconButton("dash", words.viewer.smaller, () => resize(SIZES.findLast((size) => size < zoom - 0.01)));
  const larger = iconButton("add", words.viewer.larger, () => resize(SIZES.find((size) => size > zoom + 0.01)));
  let pages = /** @type {PdfPage[]} */ ([]);
  let opening = /** @type {Promise<PdfDocument> | null} */ (null);
  let file = /** @type {PdfDocument | null} */ (null);
  let segments = /** @type {Wire.RawSegment[]} */ ([]);
  let documentId = "";
  /** Where quotes stand, by their offsets. @type {Map<string, Promise<Box[]>>} */
  let places = new Map();
  /** Those that are drawn, the last one to come in sight last. @type {Set<PdfPage>} */
  const drawn = new Set();
  let zoom = 1;
  /** Whether the reader has chosen how large it is. */
  let isChosen = false;
  let width = 0;
  let ended = new AbortController().signal;

  let pageOf = /** @type {Map<Element, PdfPage>} */ (new Map());
  const near = new IntersectionObserver((seen) => {
    for (const { target, isIntersecting } of seen) {
      const page = pageOf.get(target);
      if (page && isIntersecting) void draw(page);
    }
  }, { root: element, rootMargin: "50% 0px" });

  new ResizeObserver(() => {
    const now = body.clientWidth;
    if (!now || Math.abs(now - width) < 2) return;
    const first = width === 0;
    width = now;
    if (!first) redraw();
  }).observe(body);

  /** @param {PdfPage} page */
  async function draw(page) {
    if (!file) return;
    drawn.delete(page);
    drawn.add(page);
    for (const old of [...drawn].slice(0, -KEPT)) {
      old.clear();
      drawn.delete(old);
    }
    try {
      await page.draw(file);
    } catch (error) {
      if (!ended.aborted) onFailed(error);
    }
  }

  function redraw() {
    const around = element.getBoundingClientRect();
    for (const page of drawn) page.clear();
    drawn.clear();
    for (const page of pages) {
      const { top, bottom } = page.element.getBoundingClientRect();
      if (bottom > around.top && top < around.bottom) void draw(page);
    }
  }

  /** @param {number | undefined} size */
  function resize(size, byHand = true) {
    isChosen ||= byHand;
    zoom = size ?? zoom;
    body.style.setProperty("--zoom", String(zoom));
    smaller.disabled = zoom <= 1;
    larger.disabled = zoom >= 3;
  }
  resize(1, false);

  /** Let the column of what is marked fill the width, where its letters were too small to be read. @param {PdfPage} page @param {Element} mark */
  async function fit(page, mark) {
    const column = columnAround(page.layer, mark);
    if (!column || column.letter >= READABLE || zoom > 1) return;
    const size = Math.min((element.clientWidth - 2 * MARGIN) / column.width, LARGE / column.letter, 3);
    if (size < 1.1) return;
    resize(size, false);
    await drawnNext();
    await draw(page);
    await page.markAll(page.quotes, page.marking);
    element.scrollLeft += page.sheet.getBoundingClientRect().left + size * column.left - MARGIN - element.getBoundingClientRect().left;
  }

  /** @param {Passage["parts"][number]} part @param {string} quote @param {import("./layout_text.js").Mark["kind"]} kind @returns {QuoteOnPage | null} */
  function quoteOf({ segment: at, from, to }, quote, kind) {
    const segment = segments[at];
    if (!segment || segment.page_idx === null) return null;
    const start = segment.start + codePoints(segment.text.slice(0, from));
    const end = start + codePoints(segment.text.slice(from, to));
    const key = `${segment.segment_index}:${start}:${end}`;
    const signal = ended;
    const boxes = () => {
      const known = places.get(key) ?? client.place(documentId, segment.segment_index, start, end, signal).then(
        ({ boxes: found }) => found.map(shareOf),
        () => [],
      );
      places.set(key, known);
      return known;
    };
    if (kind.startsWith("current")) void boxes(); // while the page is being drawn
    return { quote: segment.text.slice(from, to) || quote, kind, boxes };
  }

  return {
    element,
    between: "\n",
    tools: [smaller, larger],
    segments: () => [...drawn].map((page) => page.layer),

    prepare(document, signal) {
      ended = signal;
      documentId = document.document_id;
      isChosen = false;
      resize(1, false);
      places = new Map();
      file = null;
      opening = openPdf(client, document, signal, onFailed);
      opening.catch(() => undefined); // it is waited for below
    },

    async show({ raw }, signal) {
      segments = raw.segments;
      const opened = await opening;
      if (signal.aborted || !opened) return;
      const first = await opened.getPage(1);
      if (signal.aborted) return;
      file = opened;
      const read = new Set(segments.map((segment) => segment.page_idx));
      const shape = first.getViewport({ scale: 1 });
      near.disconnect();
      drawn.clear();
      pages = Array.from({ length: opened.numPages }, (_, at) => new PdfPage(at, opened.numPages, shape, read.has(at)));
      pageOf = new Map(pages.map((page) => [page.element, page]));
      fill(body, ...pageOf.keys());
      element.scrollTop = 0;
      for (const each of pageOf.keys()) near.observe(each);
    },

    mark(passages, current) {
      const wanted = /** @type {Map<number, QuoteOnPage[]>} */ (new Map());
      for (const passage of passages) {
        for (const part of markedIn(passage, current)) {
          const page = segments[part.segment]?.page_idx ?? -1;
          const quote = quoteOf(part, passage.quote, part.kind);
          if (quote) wanted.set(page, [...(wanted.get(page) ?? []), quote]);
        }
      }
      for (const page of pages) {
        const quotes = wanted.get(page.index) ?? [];
        if (quotes.length || page.quotes.length) page.mark(quotes);
      }
    },

    async reveal(passage, signal) {
      const page = pages[segments[(passage.best[0] ?? passage.parts[0])?.segment ?? 0]?.page_idx ?? -1];
      if (!page) return;
      const around = element.getBoundingClientRect();
      const { top, bottom } = page.element.getBoundingClientRect();
      if (bottom < around.top || top > around.bottom) element.scrollTop += top - around.top;
      await draw(page);
      await page.markAll(page.quotes, page.marking);
      const found = mostMarked(page.element);
      if (found && !isChosen && !signal.aborted) await fit(page, found);
      const target = mostMarked(page.element);
      if (target && !signal.aborted) await scrollTo(element, target, signal);
    },
  };
}

/** @param {Wire.PlaceBox} box @returns {Box} */
const shareOf = ({ left, top, right, bottom, width, height }) =>
  ({ left: left / width, top: top / height, width: (right - left) / width, height: (bottom - top) / height });
