/** One page of a PDF file: drawn as it comes in sight, with its text over it to be selected, and quotes marked. */

import { fill, h } from "../dom.js";
import { AnnotationMode, OPS, TextLayer } from "../vendor/pdf/pdf.js";
import { words } from "../words/index.js";

/** A part of a page that is marked, in shares of its width and height. @typedef {{left: number, top: number, width: number, height: number}} Box */
/**
 * A quote on a page: its words, how it is marked, and where it stands, as far as the server can tell.
 * @typedef {{quote: string, kind: import("./layout_text.js").Mark["kind"], boxes: () => Promise<Box[]>}} QuoteOnPage
 */

const MOST_PIXELS = 2 ** 24; // of a page as it is drawn
const FINEST = 2; // pixels of the screen to one of the layout: more are not told apart
const PICTURES = ["paintImageXObject", "paintInlineImageXObject", "paintImageXObjectRepeat", "paintImageMaskXObject", "paintInlineImageXObjectGroup"]
  .map((name) => OPS[name]);

const AROUND = 0.2; // of the page's height, above and below
const GAP = 0.015; // of its width: what is wider parts two columns
const LETTER = /[\p{L}\p{N}]/u;

/** A page. It stands at its place from the start, empty until it is drawn. */
export class PdfPage {
  /**
   * @param {number} index From 0.
   * @param {number} of How many there are.
   * @param {{width: number, height: number}} size What it is taken for until it is read.
   * @param {boolean} isRead Whether the library has text of it.
   */
  constructor(index, of, size, isRead) {
    this.index = index;
    this.isRead = isRead;
    this.layer = h("div", { class: "textLayer" });
    this.marks = h("div", { class: "marks" });
    this.note = h("div", { class: "about-page", hidden: true });
    this.sheet = h("div", { class: "sheet" });
    const name = String(index + 1);
    this.element = h("section", { class: "pdf-page", "aria-label": words.viewer.page({ number: name, of: String(of) }) },
      h("h3", { class: "page" }, words.reader.page({ number: name })),
      this.note,
      this.sheet,
    );
    this.shape(size);
    /** @type {Promise<void> | null} */
    this.drawn = null;
    /** @type {QuoteOnPage[]} */
    this.quotes = [];
    this.use = new AbortController();
    this.marking = 0;
  }

  /** @param {{width: number, height: number}} size */
  shape({ width, height }) {
    this.sheet.style.aspectRatio = `${width} / ${height}`;
  }

  /** Draw it, unless it is drawn already. @param {PdfDocument} file @returns {Promise<void>} */
  draw(file) {
    this.drawn ??= this.drawAnew(file, this.use.signal);
    return this.drawn;
  }

  /** @param {PdfDocument} file @param {AbortSignal} signal */
  async drawAnew(file, signal) {
    const page = await file.getPage(this.index + 1);
    if (signal.aborted) return;
    const plain = page.getViewport({ scale: 1 });
    this.shape(plain);
    const scale = (this.sheet.clientWidth || plain.width) / plain.width;
    const fine = Math.min(devicePixelRatio, FINEST, Math.sqrt(MOST_PIXELS / (plain.width * plain.height)) / scale);
    const viewport = page.getViewport({ scale: scale * fine });
    const canvas = h("canvas", { width: Math.ceil(viewport.width), height: Math.ceil(viewport.height), "aria-hidden": "true" });
    const task = page.render({ canvas, viewport, annotationMode: AnnotationMode.ENABLE, background: "#ffffff" });
    signal.addEventListener("abort", () => task.cancel());
    const done = task.promise.catch((error) => {
      if (!signal.aborted) throw error;
    });
    done.catch(() => undefined); // it is waited for below
    const content = await page.getTextContent();
    if (signal.aborted) return;
    this.sheet.style.setProperty("--total-scale-factor", String(scale));
    const layer = h("div", { class: "textLayer" });
    this.layer = layer;
    fill(this.sheet, canvas, this.marks, layer);
    await new TextLayer({ textContentSource: content, container: layer, viewport: page.getViewport({ scale }) }).render();
    if (!content.items.some(({ str }) => str?.trim())) await this.tellPicture(page);
    if (signal.aborted) return;
    this.mark(this.quotes);
    await done;
  }

  /** Say of a page without text that it is a picture, where it is. @param {import("../vendor/pdf/pdf.js").Page} page */
  async tellPicture(page) {
    const { fnArray } = await page.getOperatorList();
    if (!fnArray.some((each) => PICTURES.includes(each))) return;
    this.note.hidden = false;
    fill(this.note, h("p", null, this.isRead ? words.viewer.pictureRead : words.viewer.pictureUnread));
  }

  /** Forget what is drawn, for it is far away or of another size. */
  clear() {
    if (!this.drawn) return;
    this.use.abort();
    this.use = new AbortController();
    this.drawn = null;
    const canvas = this.sheet.querySelector("canvas");
    if (canvas) canvas.width = canvas.height = 0;
    fill(this.sheet);
  }

  /** Mark quotes, now or once it is drawn. @param {QuoteOnPage[]} quotes */
  mark(quotes) {
    this.quotes = quotes;
    const round = (this.marking += 1);
    if (this.layer.isConnected || !quotes.length) void this.markAll(quotes, round);
  }

  /** @param {QuoteOnPage[]} quotes @param {number} round */
  async markAll(quotes, round) {
    const found = await Promise.all(quotes.map(async (each) => ({ ...each, at: await this.placeOf(each) })));
    if (round !== this.marking) return;
    fill(this.marks, found.flatMap(({ at, kind, quote }) => at.map((box, place) => marked(box, kind, place ? "" : quote))));
    const lost = found.find(({ at, kind }) => at.length === 0 && kind.startsWith("current") && kind !== "current best");
    this.element.classList.toggle("unplaced", Boolean(lost));
    this.element.querySelector(".lost")?.remove();
    if (lost) this.note.after(h("div", { class: "about-page lost" },
      h("p", null, words.viewer.unplaced),
      h("mark", { class: "current", dir: "auto", "aria-current": "true" }, lost.quote),
    ));
  }

  /** @param {QuoteOnPage} quote @returns {Promise<Box[]>} */
  async placeOf({ quote, boxes }) {
    const told = await boxes();
    return told.length ? told : boxesInText(this.layer, quote);
  }
}

/** @param {Box} box @param {string} kind @param {string} quote Its words, where it is the first of its boxes. */
function marked({ left, top, width, height }, kind, quote) {
  const mark = h("mark", {
    class: `box ${kind}`,
    role: quote ? "img" : "presentation",
    "aria-label": quote && words.viewer.mark({ quote }),
    "aria-current": kind.startsWith("current") && "true",
  });
  Object.assign(mark.style, {
    insetInlineStart: `${100 * left}%`,
    insetBlockStart: `${100 * top}%`,
    inlineSize: `${100 * width}%`,
    blockSize: `${100 * height}%`,
  });
  return mark;
}

/**
 * Find a quote that the server has not found, by its letters and digits, for white space, hyphens and line ends differ.
 * @param {HTMLElement} layer
 * @param {string} quote
 * @returns {Box[]} In shares of the layer; none where the quote is not in it.
 */
function boxesInText(layer, quote) {
  const wanted = lettersOf(quote).join("");
  if (!wanted) return [];
  const places = /** @type {{node: Text, at: number}[]} */ ([]);
  let letters = "";
  const walker = document.createTreeWalker(layer, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const text = /** @type {Text} */ (node);
    for (let at = 0; at < text.data.length; at += 1) {
      for (const letter of lettersOf(text.data.charAt(at))) {
        letters += letter;
        places.push({ node: text, at });
      }
    }
  }
  const start = letters.indexOf(wanted);
  const [first, last] = [places[start], places[start + wanted.length - 1]];
  if (start < 0 || !first || !last) return [];
  const range = document.createRange();
  range.setStart(first.node, first.at);
  range.setEnd(last.node, last.at + 1);
  const around = layer.getBoundingClientRect();
  return [...range.getClientRects()].filter(({ width }) => width > 0).map((rect) => ({
    left: (rect.left - around.left) / around.width,
    top: (rect.top - around.top) / around.height,
    width: rect.width / around.width,
    height: rect.height / around.height,
  }));
}

/** @param {string} text */
function lettersOf(text) {
  return [...text.normalize("NFKC").toLowerCase()].filter((letter) => LETTER.test(letter)).flatMap((letter) => letter.split(""));
}

/**
 * Find the column that a mark stands in, which is what is read of a page that is too small as a whole.
 * @param {HTMLElement} layer Whose children are these texts, as they are drawn.
 * @param {Element} mark What is marked.
 * @returns {{left: number, width: number, letter: number} | null} In pixels from the left of the page, and how high its letters are.
 */
export function columnAround(layer, mark) {
  const page = layer.getBoundingClientRect();
  const own = mark.getBoundingClientRect();
  const room = AROUND * page.height;
  const texts = [...layer.querySelectorAll("span")].map((each) => each.getBoundingClientRect())
    .filter(({ top, bottom, width }) => width > 0 && bottom > own.top - room && top < own.bottom + room)
    .sort((one, other) => one.left - other.left);
  let [left, right] = [Infinity, -Infinity];
  for (const text of texts) {
    if (text.left > right + GAP * page.width) {
      if (right > own.left) break;
      left = text.left;
    }
    right = Math.max(right, text.right);
  }
  if (right <= own.left || left >= own.right) return null;
  const heights = texts.filter((each) => each.left >= left && each.right <= right).map(({ height }) => height).sort((one, other) => one - other);
  return { left: left - page.left, width: right - left, letter: heights[Math.floor(heights.length / 2)] ?? 0 };
}
