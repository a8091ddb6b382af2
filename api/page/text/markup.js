/**
 * A text in Markdown as elements: the one way in which what a model or a document says gets a form.
 *
 * Elements are made by name and text stays text, so that nothing in it can be markup. Links lead to the web and are
 * followed only where somebody clicks; images and HTML stay as they are written. The text may be dressed: spans of it
 * are wrapped, in pieces where blocks or emphasis begin and end within one, and something is put behind each.
 */

import { h } from "../dom.js";
import { parse } from "../vendor/markdown.js";
import { bareAddress, safeAddress } from "./addresses.js";
import { formulaBlock, showFormula } from "./formulas.js";
import { closed } from "./growing.js";
import { codePointIndex } from "./offsets.js";
import { matched } from "./stretches.js";

/** @typedef {import("../vendor/markdown.js").Node} Node */
/** @typedef {import("./formulas.js").Draw} Draw */
/**
 * Spans in code points of the text, in order, none within another.
 * @typedef {object} Dress
 * @property {{start: number, end: number}[]} spans
 * @property {(index: number) => HTMLElement} wrap Make what holds a piece of a span.
 * @property {(index: number) => (globalThis.Node | string)[]} behind Make what follows a span.
 */

const BARE = /** @type {Dress} */ ({ spans: [], wrap: () => h("span"), behind: () => [] });
const DEEPEST = 12; // elements within elements; what is deeper is shown as it is written
const MOST = 20_000; // UTF-16 units that are parsed; what follows them in a longer text is shown as it is written
const WRAPPED = 50; // letters; a line as long as this was wrapped, a shorter one ends where its writer ended it
const OWN = { dir: "auto" }; // the direction of the language that it is in
const FIRST_HEADING = 3; // the question's is 2

/**
 * Render a text, block by block.
 * @param {string} text
 * @param {{growing?: boolean, dress?: Dress, tools?: (code: HTMLElement) => HTMLElement[], draw?: Draw}} [options]
 *   `growing` where more of it is still to come; `tools` for a block of code; `draw` for a formula.
 */
export function render(text, { growing = false, dress = BARE, tools = () => [], draw = () => undefined } = {}) {
  const parsed = text.length > MOST ? text.lastIndexOf("\n", MOST) + 1 : text.length;
  const shown = growing && parsed === text.length ? closed(text) : text;
  const end = parsed === text.length ? shown.length : parsed;
  const { children } = /** @type {{children: Node[]}} */ (parse(shown.slice(0, end), growing));
  const rendering = new Rendering(shown, dress, tools, draw, children);
  const rendered = rendering.blocks(children, 0, end < shown.length ? end : Infinity);
  return rendering.ended(end < shown.length ? [...rendered, rendering.written("p", end, shown.length)] : rendered);
}

/** One text on its way to elements. */
export class Rendering {
  /** @param {string} text @param {Dress} dress @param {(code: HTMLElement) => HTMLElement[]} tools @param {Draw} draw
   * @param {Node[]} blocks */
  constructor(text, dress, tools, draw, blocks) {
    const index = codePointIndex(text);
    this.text = text;
    this.dress = dress;
    this.tools = tools;
    this.draw = draw;
    this.spans = dress.spans.map(({ start, end }) => ({ start: index(start), end: index(end) }));
    this.depths = [...new Set(blocks.flatMap((block) => (block.type === "heading" ? [block.depth] : [])))].sort();
    this.wrapped = 0;
    this.followed = 0;
  }

  /** @param {Node[]} found @param {number} depth @param {number} until Where what follows them begins. @returns {HTMLElement[]} */
  blocks(found, depth, until) {
    return found.map((block, index) => this.block(block, depth, found[index + 1]?.position.start.offset ?? until));
  }

  /** @param {Node} block @param {number} depth @param {number} until @returns {HTMLElement} */
  block(block, depth, until) {
    const { start, end } = rangeOf(block);
    if (depth > DEEPEST) return this.written("p", start, end);
    switch (block.type) {
      case "paragraph":
        return this.prose(h("p", OWN), block, until);
      case "heading":
        return this.prose(h(this.level(block.depth), { ...OWN, class: "heading" }), block, until);
      case "blockquote":
        return h("blockquote", null, this.blocks(block.children, depth + 1, until));
      case "list":
        return this.list(block, depth, until);
      case "table":
        return this.table(block, until);
      case "code":
        return this.code(block.value, start, end, until);
      case "formula":
        return formulaBlock(this, block, until);
      case "thematicBreak":
        return h("hr");
      default:
        return this.written("p", start, end);
    }
  }

  /** @param {number} depth Of a heading, as its signs say. */
  level(depth) {
    const level = Math.min(FIRST_HEADING + Math.max(this.depths.indexOf(depth), 0), 6);
    return /** @type {"h3" | "h4" | "h5" | "h6"} */ (`h${level}`);
  }

  /** Fill an element with words, and what follows the spans that end before or in them. @param {HTMLElement} element
   * @param {Node & {children: Node[]}} block @param {number} until */
  prose(element, block, until) {
    this.follow(element, block.position.start.offset);
    this.fill(element, block.children, 0, false);
    this.follow(element, until);
    return element;
  }

  /** @param {Node & {type: "list"}} list @param {number} depth @param {number} until */
  list(list, depth, until) {
    const element = list.ordered ? h("ol", { start: list.start === 1 ? null : list.start }) : h("ul");
    list.children.forEach((item, index) => {
      if (item.type !== "listItem") return;
      const next = list.children[index + 1]?.position.start.offset ?? until;
      const { checked } = item;
      const box = checked === null ? null : h("input", { type: "checkbox", disabled: true, checked });
      element.append(h("li", { ...OWN, class: box && "task" }, box, this.blocks(item.children, depth + 1, next)));
    });
    return element;
  }

  /** @param {Node & {type: "table"}} table @param {number} until */
  table({ align, children }, until) {
    const rows = children.map((row, at) => {
      const cells = "children" in row ? row.children : [];
      const behind = children[at + 1]?.position.start.offset ?? until;
      return h("tr", null, cells.map((cell, column) => {
        const element = h(at ? "td" : "th", { class: align[column], scope: at ? null : "col" });
        this.fill(element, "children" in cell ? cell.children : [], 0, false);
        this.follow(element, cells[column + 1]?.position.start.offset ?? behind);
        return element;
      }));
    });
    const body = rows.length > 1 ? h("tbody", null, rows.slice(1)) : null;
    return h("div", { class: "table", tabindex: 0 }, h("table", OWN, h("thead", null, rows[0]), body));
  }

  /** @param {string} value @param {number} start @param {number} end @param {number} until */
  code(value, start, end, until) {
    const lines = h("code");
    const from = this.text.indexOf("\n", start) + 1 || end; // what the first line says is the language
    for (const piece of matched(this.text, from, end, value)) this.say(lines, piece.start, piece.end, false);
    const behind = h("p");
    this.follow(behind, until);
    const pre = h("pre", { tabindex: 0 }, lines);
    const tools = this.tools(lines);
    return tools.length || behind.childNodes.length
      ? h("div", { class: "code" }, tools, pre, behind.childNodes.length ? behind : null)
      : pre;
  }

  /**
   * Fill an element with what is within a line, and behind each part with what follows the spans that end there.
   * @param {HTMLElement} element
   * @param {Node[]} children
   * @param {number} depth
   * @param {boolean} sealed Whether nothing may be put behind a span here.
   */
  fill(element, children, depth, sealed) {
    children.forEach((child, index) => {
      this.part(element, child, depth, sealed);
      const last = index === children.length - 1;
      if (!sealed && !(depth && last)) this.follow(element, child.position.end.offset);
    });
  }

  /** @param {HTMLElement} parent @param {Node} part @param {number} depth @param {boolean} sealed */
  part(parent, part, depth, sealed) {
    const { start, end } = rangeOf(part);
    const within = (/** @type {HTMLElement} */ element, /** @type {Node[]} */ children, /** @type {boolean} */ seals) => {
      parent.append(element);
      this.fill(element, children, depth + 1, sealed || seals);
    };
    if (depth > DEEPEST) this.lines(parent, start, end, sealed);
    else if (part.type === "text") {
      for (const piece of matched(this.text, start, end, part.value)) this.lines(parent, piece.start, piece.end, sealed);
    } else if (part.type === "formula") showFormula(this, parent, part, sealed);
    else if (part.type === "break") parent.append(h("br"));
    else if ((part.type === "strong" || part.type === "emphasis") && this.isWithinWord(start, end)) {
      this.say(parent, start, end, !sealed);
    } else if (part.type === "strong") within(h("strong"), part.children, false);
    else if (part.type === "emphasis") within(h("em"), part.children, false);
    else if (part.type === "delete") within(h("s"), part.children, false);
    else if (part.type === "inlineCode") {
      const element = h("code");
      parent.append(element);
      for (const piece of matched(this.text, start, end, part.value)) this.say(element, piece.start, piece.end, false);
    } else if (part.type === "link" && safeAddress(part.url)) within(anchor(safeAddress(part.url)), part.children, true);
    else this.say(parent, start, end, !sealed);
  }

  /** Whether letters or digits are on both sides of emphasis: `2*3*4` is a product. @param {number} start @param {number} end */
  isWithinWord(start, end) {
    return /\w/.test(this.text.charAt(start - 1)) && /\w/.test(this.text.charAt(end));
  }

  /** Say a stretch as its lines end, with the addresses in it as links. @param {HTMLElement} parent @param {number} start
   * @param {number} end @param {boolean} sealed */
  lines(parent, start, end, sealed) {
    const special = /\r?\n|https?:\/\//gi;
    let said = start;
    const say = (/** @type {number} */ until) => {
      if (until > said) this.say(parent, said, until, !sealed);
    };
    special.lastIndex = start;
    for (let found = special.exec(this.text); found && found.index < end; found = special.exec(this.text)) {
      const { index } = found;
      if (found[0].endsWith("\n")) {
        say(index);
        const line = this.text.slice(this.text.lastIndexOf("\n", index - 1) + 1, index).trim();
        parent.append(line.length < WRAPPED ? h("br") : " ");
        said = index + found[0].length;
        continue;
      }
      const bare = sealed ? null : bareAddress(this.text, index, end);
      if (!bare) continue;
      say(index);
      const link = anchor(bare.href);
      parent.append(link);
      said = special.lastIndex = index + bare.length;
      this.say(link, index, said, false);
      if (said < end) this.follow(parent, said);
    }
    say(end);
  }

  /** Show a stretch as it is written. @param {"p"} name @param {number} start @param {number} end */
  written(name, start, end) {
    const element = h(name, OWN);
    this.say(element, start, end, true);
    this.follow(element, end);
    return element;
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

  /** Make a piece of the first span that has a part in a stretch. @param {number} start @param {number} end */
  pieceAt(start, end) {
    while ((this.spans[this.wrapped]?.end ?? Infinity) <= start) this.wrapped += 1;
    return (this.spans[this.wrapped]?.start ?? Infinity) < end ? this.dress.wrap(this.wrapped) : null;
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

/** @param {Node} node */
function rangeOf({ position }) {
  return { start: position.start.offset, end: position.end.offset };
}

/** @param {string} href */
function anchor(href) {
  return h("a", { href, title: href, rel: "noopener noreferrer nofollow", target: "_blank" });
}
