/**
 * The common part of Markdown, for the window in other people's pages: a tenth of the page's own parser.
 *
 * It gives the same tree for headings, lists, quotations, tables, code, emphasis and links. What it does not know, such
 * as formulas, is text as it is written.
 */

import { inlines } from "./inlines.js";

/** @typedef {import("../vendor/markdown.js").Node} Node */
/** A stretch of the text, without its line end and what its container puts before it.
 * @typedef {{start: number, end: number}} Line */

const DEEPEST = 14; // containers within containers; deeper than the renderer shows them
const FENCE = /^( {0,3})(`{3,}(?=[^`]*$)|~{3,})/;
const HEADING = /^( {0,3}(#{1,6})(?:[ \t]+|$))(.*?)(?:[ \t]+#+)?[ \t]*$/;
const RULE = /^ {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^(( {0,3})([-*+]|(\d{1,9})[.)]))( {1,4}(?! )| |$)/;
const INTERRUPTS = /^ {0,3}(?:[-*+]|1[.)]) +\S/; // an item that ends a paragraph: a number there may end a sentence
const TASK = /^\[([ xX])\] (?=\S)/;
const DELIMITERS = /^ {0,3}\|?(?:[ \t]*:?-+:?[ \t]*(?:\||$))+$/;
const ALIGNS = /** @type {Record<string, string>} */ ({ "::": "center", ":-": "left", "-:": "right" });
const NO_LINE = { start: 0, end: 0 };

/** Parse a text. @param {string} text @returns {Node & {type: "root"}} */
export function parse(text) {
  /** @type {Line[]} */
  const lines = [];
  for (const { 0: line, index } of text.matchAll(/[^\r\n]*(?:\r\n?|\n|$)/g)) {
    if (line) lines.push({ start: index, end: index + line.replace(/[\r\n]+$/, "").length });
  }
  return { type: "root", children: new Blocks(text, lines, 0).all(), ...at(0, text.length) };
}

/** Close what the end of a growing text leaves open. @param {string} text */
export function close(text) {
  const last = text.slice(text.lastIndexOf("\n\n") + 1);
  return ["`", "**"].reduce((closed, sign) => (last.split(sign).length % 2 ? closed : closed + sign), text);
}

/** @param {number} start @param {number} end */
export function at(start, end) {
  return { position: { start: { offset: start }, end: { offset: end } } };
}

/** The blocks in some lines of a text, which are read one after another. */
class Blocks {
  /** @param {string} text @param {Line[]} lines @param {number} depth */
  constructor(text, lines, depth) {
    this.text = text;
    this.lines = lines;
    this.depth = depth;
    this.next = 0;
  }

  /** @returns {any[]} */
  all() {
    const found = [];
    while (this.next < this.lines.length) {
      const line = this.line(this.next);
      const said = this.said(this.next);
      const start = line.start + indentOf(said);
      const block = said.trim() ? this.block(said, line) : null;
      if (block) found.push({ ...at(start, this.lastEnd()), ...block });
      else this.next += 1;
    }
    return found;
  }

  /** @param {string} said @param {Line} line */
  block(said, line) {
    const [fence, heading, item] = [FENCE.exec(said), HEADING.exec(said), ITEM.exec(said)];
    if (fence) return this.code(fence);
    if (heading || RULE.test(said)) {
      this.next += 1;
      if (!heading) return { type: "thematicBreak" };
      const [, signs = "", { length: depth } = "", words = ""] = heading;
      const start = line.start + signs.length;
      return { type: "heading", depth, children: inlines(this.text, [{ start, end: start + words.length }]) };
    }
    if (QUOTE.test(said) && this.depth < DEEPEST) return this.quotation();
    if (item && this.depth < DEEPEST) return this.list(item);
    return this.isTable(this.next) ? this.table() : this.paragraph();
  }

  /** @param {RegExpExecArray} fence */
  code([, indent = "", signs = ""]) {
    const closing = new RegExp(`^ {0,3}\\${signs[0]}{${signs.length},}[ \\t]*$`);
    const values = [];
    for (this.next += 1; this.next < this.lines.length && !closing.test(this.said(this.next)); this.next += 1) {
      values.push(this.said(this.next).replace(new RegExp(`^ {0,${indent.length}}`), ""));
    }
    this.next = Math.min(this.next + 1, this.lines.length);
    return { type: "code", value: values.join("\n") };
  }

  quotation() {
    const inner = [];
    for (; QUOTE.test(this.said(this.next)) || !this.begins(this.next); this.next += 1) {
      const { start, end } = this.line(this.next);
      inner.push({ start: start + (QUOTE.exec(this.said(this.next))?.[0].length ?? 0), end });
    }
    return { type: "blockquote", children: this.within(inner) };
  }

  /** @param {RegExpExecArray} first */
  list(first) {
    const children = [];
    const [ordered, kind] = [first[4] !== undefined, kindOf(first)];
    for (let item = ITEM.exec(this.said(this.next)); item && kindOf(item) === kind; ) {
      children.push(this.item(item));
      let ahead = this.next;
      while (ahead < this.lines.length && !this.said(ahead).trim()) ahead += 1;
      item = ITEM.exec(this.said(ahead));
      if (item && kindOf(item) === kind) this.next = ahead;
    }
    return { type: "list", ordered, start: ordered ? Number(first[4]) : null, children };
  }

  /** @param {RegExpExecArray} item */
  item([, sign = "", before = "", , , space = ""]) {
    const { start, end } = this.line(this.next);
    const indent = sign.length + (space.length || 1);
    const task = TASK.exec(this.said(this.next).slice(indent));
    const inner = [{ start: Math.min(start + indent + (task ? 4 : 0), end), end }];
    for (this.next += 1; this.next < this.lines.length; this.next += 1) {
      const said = this.said(this.next);
      const own = said.search(/\S/) >= indent;
      const [isLast, isLazy] = [this.said(this.next + 1).search(/\S/) < indent, this.said(this.next - 1).trim()];
      if (!own && (said.trim() ? !isLazy || this.begins(this.next) || ITEM.test(said) : isLast)) break;
      const line = this.line(this.next);
      inner.push({ start: Math.min(line.start + (own ? indent : indentOf(said)), line.end), end: line.end });
    }
    const children = this.within(inner);
    const place = at(start + before.length, this.lastEnd());
    return { type: "listItem", checked: task ? task[1] !== " " : null, children, ...place };
  }

  /** Whether a table begins at a line. @param {number} index */
  isTable(index) {
    if (!this.said(index).includes("|") || !DELIMITERS.test(this.said(index + 1))) return false;
    return this.cells(index).length === this.cells(index + 1).length;
  }

  table() {
    const ends = this.cells(this.next + 1).map(({ start, end }) => this.text.charAt(start) + this.text.charAt(end - 1));
    const align = ends.map((each) => ALIGNS[each] ?? null);
    const children = [];
    for (const first = this.next; this.next === first || !this.begins(this.next); this.next += 1) {
      if (this.next === first + 1) continue;
      const { start, end } = this.line(this.next);
      const cells = this.cells(this.next).map((cell) => {
        return { type: "tableCell", children: inlines(this.text, [cell]), ...at(cell.start, cell.end) };
      });
      children.push({ type: "tableRow", children: cells, ...at(start, end) });
    }
    return { type: "table", align, children };
  }

  /** Cut a row of a table into cells. @param {number} index @returns {Line[]} */
  cells(index) {
    const said = this.said(index).trim();
    const from = this.line(index).start + indentOf(this.said(index));
    const found = [];
    for (const { 0: whole, 1: cell = "", index } of said.matchAll(/\|?((?:\\.|[^|\\])*)(?=\||$)/g)) {
      const start = from + index + whole.length - cell.trimStart().length;
      if (whole && (whole !== "|" || index < said.length - 1)) found.push({ start, end: start + cell.trim().length });
    }
    return found;
  }

  paragraph() {
    const own = [];
    const ends = () => this.begins(this.next) || this.isTable(this.next);
    for (const first = this.next; this.next === first || !ends(); this.next += 1) {
      const { start, end } = this.line(this.next);
      own.push({ start: start + indentOf(this.said(this.next)), end });
    }
    const { start, end } = own.at(-1) ?? NO_LINE;
    const last = start + this.text.slice(start, end).trimEnd().length;
    return { type: "paragraph", children: inlines(this.text, own), ...at(own[0]?.start ?? 0, last) };
  }

  /** @param {Line[]} lines */
  within(lines) {
    return new Blocks(this.text, lines, this.depth + 1).all();
  }

  /** Whether something else than more of a paragraph begins at a line, or nothing does. @param {number} index */
  begins(index) {
    const said = this.said(index);
    return !said.trim() || [FENCE, HEADING, RULE, QUOTE, INTERRUPTS].some((pattern) => pattern.test(said));
  }

  lastEnd() {
    return this.line(this.next - 1).end;
  }

  /** @param {number} index */
  line(index) {
    return this.lines[index] ?? NO_LINE;
  }

  /** @param {number} index */
  said(index) {
    const { start, end } = this.line(index);
    return this.text.slice(start, end);
  }
}

/** @param {string} line */
function indentOf(line) {
  return line.length - line.trimStart().length;
}

/** Tell items of one list from those of another. @param {RegExpExecArray} item */
function kindOf(item) {
  return item[4] === undefined ? item[3] : item[3]?.slice(-1);
}
