/**
 * A text in Markdown as elements: the one way in which what a model or a document says gets a form.
 *
 * Elements are made by name and text stays text, so that nothing in it can be markup. Links lead to the web and are
 * followed only where somebody clicks; images and HTML stay as they are written. The text may be dressed: spans of it
 * are wrapped, in pieces where blocks or emphasis begin and end within one, and something is put behind each.
 */

import { h } from "../dom.js";
import { blocks } from "./blocks.js";
import { inline } from "./inline.js";
import { codePointIndex } from "./offsets.js";

/**
 * Spans in code points of the text, in order, none within another.
 * @typedef {object} Dress
 * @property {{start: number, end: number}[]} spans
 * @property {(index: number) => HTMLElement} wrap Make what holds a piece of a span.
 * @property {(index: number) => (Node | string)[]} behind Make what follows a span.
 */

const BARE = /** @type {Dress} */ ({ spans: [], wrap: () => h("span"), behind: () => [] });
const DEEPEST = 8; // emphasis within emphasis; deeper text is shown without more of it

/**
 * Render a text, block by block.
 * @param {string} text
 * @param {{growing?: boolean, dress?: Dress}} [options] `growing` where more of it is still to come.
 * @returns {HTMLElement[]}
 */
export function render(text, { growing = false, dress = BARE } = {}) {
  const rendering = new Rendering(text, growing, dress);
  const rendered = rendering.blocks(blocks(text), Infinity);
  return rendering.ended(rendered);
}

class Rendering {
  /** @param {string} text @param {boolean} growing @param {Dress} dress */
  constructor(text, growing, dress) {
    const index = codePointIndex(text);
    this.text = text;
    this.growing = growing;
    this.dress = dress;
    this.spans = dress.spans.map(({ start, end }) => ({ start: index(start), end: index(end) }));
    this.wrapped = 0;
    this.followed = 0;
  }

  /** @param {import("./blocks.js").Block[]} found @param {number} until Where what follows them begins. @returns {HTMLElement[]} */
  blocks(found, until) {
    return found.map((block, index) => this.block(block, found[index + 1]?.start ?? until));
  }

  /** @param {import("./blocks.js").Block} block @param {number} until @returns {HTMLElement} */
  block(block, until) {
    switch (block.kind) {
      case "list":
        return this.list(block, until);
      case "code":
        return this.code(block, until);
      case "rule":
        return h("hr");
      default: {
        const element = h("p", { class: block.kind === "heading" && "heading" });
        this.follow(element, block.start);
        this.fill(element, inline(this.text, block.lines, this.growing && until === Infinity));
        this.follow(element, until);
        return element;
      }
    }
  }

  /** @param {import("./blocks.js").List} list @param {number} until */
  list(list, until) {
    const element = list.first === null ? h("ul") : h("ol", { start: list.first === 1 ? null : list.first });
    list.items.forEach((item, index) => {
      element.append(h("li", null, this.blocks(item.blocks, list.items[index + 1]?.start ?? until)));
    });
    return element;
  }

  /** @param {import("./blocks.js").Code} code @param {number} until */
  code(code, until) {
    const lines = h("code");
    code.lines.forEach((line, index) => {
      if (index) lines.append("\n");
      this.say(lines, line.start, line.end, false);
    });
    const pre = h("pre", { tabindex: 0 }, lines);
    const behind = h("p");
    this.follow(behind, until);
    return behind.childNodes.length ? h("div", null, pre, behind) : pre;
  }

  /** @param {HTMLElement} element @param {import("./inline.js").Piece[]} pieces */
  fill(element, pieces) {
    /** @type {HTMLElement[]} */
    const around = [element];
    let skipped = 0;
    let sealed = 0;
    pieces.forEach((piece, index) => {
      const parent = /** @type {HTMLElement} */ (around.at(-1));
      const open = !sealed && pieces[index + 1]?.kind !== "close";
      if (piece.kind === "text") this.say(parent, piece.start, piece.end, !sealed);
      else if (piece.kind === "break") parent.append(piece.breaks ? h("br") : " ");
      else if (piece.kind === "open") {
        if (piece.name === "a" || piece.name === "code") sealed += 1;
        if (around.length > DEEPEST) skipped += 1;
        else around.push(opened(parent, piece));
      } else {
        if (piece.name === "a" || piece.name === "code") sealed -= 1;
        if (skipped) skipped -= 1;
        else around.pop();
      }
      const inside = /** @type {HTMLElement} */ (around.at(-1));
      if (piece.kind === "close" ? !sealed && pieces[index + 1]?.kind !== "close" : open) this.follow(inside, piece.end);
    });
  }

  /**
   * Say a stretch of the text, with what is wrapped in it, and behind each span that ends within it what follows it.
   * @param {HTMLElement} parent @param {number} start @param {number} end @param {boolean} follows
   */
  say(parent, start, end, follows) {
    for (let at = start; at < end; ) {
      while ((this.spans[this.wrapped]?.end ?? Infinity) <= at) this.wrapped += 1;
      const span = this.spans[this.wrapped];
      if (!span || span.start >= end) {
        parent.append(this.text.slice(at, end));
        return;
      }
      if (span.start > at) parent.append(this.text.slice(at, span.start));
      const to = Math.min(span.end, end);
      const piece = this.dress.wrap(this.wrapped);
      piece.append(this.text.slice(Math.max(at, span.start), to));
      parent.append(piece);
      if (follows && to < end) this.follow(parent, to);
      at = to;
    }
  }

  /** Put what follows the spans that end here or before. @param {HTMLElement} parent @param {number} place */
  follow(parent, place) {
    while (this.followed < this.spans.length && /** @type {{end: number}} */ (this.spans[this.followed]).end <= place) {
      parent.append(...this.dress.behind(this.followed));
      this.followed += 1;
    }
  }

  /** Put what follows spans that ended in nothing that is shown. @param {HTMLElement[]} rendered */
  ended(rendered) {
    const rest = h("p");
    this.follow(rest, this.text.length);
    return rest.childNodes.length ? [...rendered, rest] : rendered;
  }
}

/** @param {HTMLElement} parent @param {import("./inline.js").Piece & {kind: "open"}} piece */
function opened(parent, piece) {
  const link = { href: piece.href, title: piece.href, rel: "noopener noreferrer nofollow", target: "_blank" };
  const element = h(piece.name, piece.name === "a" ? link : null);
  parent.append(element);
  return element;
}
