/**
 * The blocks of a text in Markdown as models write it: paragraphs, headings, lists, fenced code and rules.
 *
 * A text is cut, never changed: a block is where it stands, in UTF-16. Whatever is none of these is a paragraph. Each
 * line is looked at once, so that a text takes as long as it has letters.
 */

/** What is shown of a line, and whether the line ends there for the reader too.
 * @typedef {{start: number, end: number, breaks: boolean}} Line */
/** @typedef {{kind: "paragraph" | "heading", start: number, lines: Line[]}} Prose */
/** @typedef {{kind: "code", start: number, lines: Line[]}} Code */
/** @typedef {{kind: "rule", start: number}} Rule */
/** @typedef {{start: number, blocks: Block[]}} Item */
/** @typedef {{kind: "list", start: number, first: number | null, items: Item[]}} List `first` is a number where the list has numbers. */
/** @typedef {Prose | Code | Rule | List} Block */
/** A list that goes on, with the column where its marker stands and the one where its items' text begins.
 * @typedef {{list: List, blocks: Block[], column: number, content: number, sign: string}} Open */
/** @typedef {{sign: string, length: number, code: Code, indent: number}} Fence */

const DEEPEST = 6; // lists within lists; a deeper one goes on in the one around it
const MOST = 2000; // lines that are looked at; a text with more is no answer, and the rest of it one paragraph
const WRAPPED = 50; // letters; a line as long as this was wrapped, a shorter one ends where its writer ended it
const MARKER = /([-*+]|\d{1,9}[.)])(?=[ \t]|$)/y;
const HEADING = /#{1,6}(?=[ \t]|$)/y;
const FENCE = /(`{3,}|~{3,})[^`]*$/y;
const RULE = /(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$/y;

/**
 * Cut a text into its blocks.
 * @param {string} text
 * @returns {Block[]}
 */
export function blocks(text) {
  const cutting = new Cutting();
  let start = 0;
  for (let count = 0; start < text.length && count < MOST; count += 1) {
    const newline = text.indexOf("\n", start);
    const next = newline < 0 ? text.length : newline;
    const line = text.slice(start, next).replace(/\r$/, "");
    cutting.take(line, start);
    start = next + 1;
  }
  if (start < text.length) {
    cutting.blocks.push({ kind: "paragraph", start, lines: [{ start, end: text.length, breaks: false }] });
  }
  return cutting.blocks;
}

class Cutting {
  constructor() {
    /** @type {Block[]} */
    this.blocks = [];
    /** @type {Open[]} */
    this.lists = [];
    /** @type {Prose | null} */
    this.paragraph = null;
    /** @type {Fence | null} */
    this.fence = null;
    this.blank = false;
  }

  /** @param {string} line @param {number} start */
  take(line, start) {
    const indent = /^[ \t]*/.exec(line)?.[0].length ?? 0;
    if (this.fence) return this.takeCode(this.fence, line, start, indent);
    if (indent === line.length) {
      this.paragraph = null;
      this.blank = true;
      return;
    }
    const marker = at(RULE, line, indent) ? null : at(MARKER, line, indent);
    if (marker && this.mayBegin(marker, indent)) this.takeItem(line, start, indent, marker);
    else {
      if (this.blank || !this.paragraph) this.leave(indent);
      this.takeLine(line, start, indent);
    }
    this.blank = false;
  }

  /** Tell whether a line begins an item: not "1984. It was", which goes on with a sentence. @param {string} marker @param {number} indent */
  mayBegin(marker, indent) {
    if (!this.paragraph || marker.length === 1) return true;
    return parseInt(marker, 10) === 1 || this.lists.some((open) => open.list.first !== null && open.column <= indent);
  }

  /** End the lists that a line does not belong to. @param {number} indent */
  leave(indent) {
    while (this.lists.length && indent < /** @type {Open} */ (this.lists.at(-1)).content) this.lists.pop();
  }

  /** @param {string} line @param {number} start @param {number} indent @param {string} marker */
  takeItem(line, start, indent, marker) {
    const sign = marker.slice(-1);
    while (this.lists.length && indent < /** @type {Open} */ (this.lists.at(-1)).column) this.lists.pop();
    let open = this.lists.at(-1);
    const within = open && indent >= open.content && this.lists.length < DEEPEST;
    if (open && !within && open.sign !== sign && indent < open.content) {
      this.lists.pop();
      open = this.lists.at(-1);
      if (open && indent < open.content) open = undefined;
    }
    if (!open || within || open.sign !== sign) {
      const first = marker.length > 1 ? parseInt(marker, 10) : null;
      /** @type {List} */
      const list = { kind: "list", start: start + indent, first, items: [] };
      this.into().push(list);
      open = { list, blocks: [], column: indent, content: 0, sign };
      this.lists.push(open);
    }
    open.column = Math.min(open.column, indent);
    open.blocks = [];
    open.list.items.push({ start: start + indent, blocks: open.blocks });
    this.paragraph = null;
    const behind = indent + marker.length;
    const text = behind + (/^[ \t]*/.exec(line.slice(behind))?.[0].length ?? 0);
    open.content = text - behind > 4 || text === line.length ? behind + 1 : text;
    if (text < line.length) this.takeLine(line, start, text);
  }

  /** Give the blocks that the next one joins. */
  into() {
    return this.lists.at(-1)?.blocks ?? this.blocks;
  }

  /** @param {string} line @param {number} start @param {number} from */
  takeLine(line, start, from) {
    const fence = at(FENCE, line, from) && /^[`~]+/.exec(line.slice(from))?.[0];
    const heading = at(HEADING, line, from);
    if (fence) {
      /** @type {Code} */
      const code = { kind: "code", start: start + from, lines: [] };
      this.into().push(code);
      this.fence = { sign: fence.charAt(0), length: fence.length, code, indent: from };
      this.paragraph = null;
    } else if (heading) {
      const text = from + heading.length + (/^[ \t]*/.exec(line.slice(from + heading.length))?.[0].length ?? 0);
      const end = shut(line, text);
      this.into().push({
        kind: "heading",
        start: start + from,
        lines: [{ start: start + text, end: start + end, breaks: false }],
      });
      this.paragraph = null;
    } else if (at(RULE, line, from)) {
      this.into().push({ kind: "rule", start: start + from });
      this.paragraph = null;
    } else this.takeProse(line, start, from);
  }

  /** @param {string} line @param {number} start @param {number} from */
  takeProse(line, start, from) {
    if (!this.paragraph) {
      this.paragraph = { kind: "paragraph", start: start + from, lines: [] };
      this.into().push(this.paragraph);
    }
    const end = line.trimEnd().length;
    const slash = line.charAt(end - 1) === "\\" && line.charAt(end - 2) !== "\\";
    const breaks = slash || line.endsWith("  ") || end - from < WRAPPED;
    this.paragraph.lines.push({ start: start + from, end: start + end - Number(slash), breaks });
  }

  /** @param {Fence} fence @param {string} line @param {number} start @param {number} indent */
  takeCode(fence, line, start, indent) {
    const rest = line.slice(indent).trimEnd();
    if (rest.length >= fence.length && rest === fence.sign.repeat(rest.length)) {
      this.fence = null;
      return;
    }
    const from = Math.min(indent, fence.indent);
    fence.code.lines.push({ start: start + from, end: start + line.length, breaks: true });
  }
}

/** Give what a sticky pattern finds at a place of a line. @param {RegExp} pattern @param {string} line @param {number} from */
function at(pattern, line, from) {
  pattern.lastIndex = from;
  return pattern.exec(line)?.[0] ?? null;
}

/** Give where a heading's text ends, before the signs that may close it. @param {string} line @param {number} from */
function shut(line, from) {
  const bare = line.trimEnd().length;
  let end = bare;
  while (end > from && line.charAt(end - 1) === "#") end -= 1;
  if (end > from && !/[ \t]/.test(line.charAt(end - 1))) return bare;
  while (end > from && /[ \t]/.test(line.charAt(end - 1))) end -= 1;
  return end;
}
