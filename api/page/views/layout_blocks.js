/** Blocks of a document as elements: headings, lists, tables, code and quotations as such, pictures where they stand. */

import { h } from "../dom.js";

/** @typedef {import("./layout_text.js").LaidOutText} LaidOutText */
/**
 * A block with its offsets in UTF-16, and what it stands in beside the page itself: a box of a slide, or a fold.
 * @typedef {Wire.LayoutBlock & {from: number, to: number, within?: object | undefined}} Placed
 */

const MARKER = /^(\s*)((?:[-*+•‣◦▪]|\(?[\p{L}\p{N}]{1,6}(?:\.[\p{L}\p{N}]{1,6})*[.)])\s+)/u;
const BETWEEN = " | "; // what the server joins the cells of a row by
const FIRST_LEVEL = 3; // the document's title is a heading of level 2

/** Group blocks into what is one element: the items of a list, the rows of a table with their caption, or one block.
 * @param {Placed[]} blocks @param {LaidOutText} text @returns {Placed[][]} */
export function grouped(blocks, text) {
  const groups = /** @type {Placed[][]} */ ([]);
  for (const block of blocks) {
    const group = groups.at(-1);
    const last = group?.at(-1);
    if (group && last && belongs(block, last, group, text)) group.push(block);
    else groups.push([block]);
  }
  return groups;
}

/** @param {Placed} block @param {Placed} last @param {Placed[]} group @param {LaidOutText} text */
function belongs(block, last, group, text) {
  if (block.page_idx !== last.page_idx || block.within !== last.within) return false;
  if (block.kind === "list_item") return last.kind === "list_item";
  if (block.kind !== "table_row") return false;
  if (last.kind === "caption") return true;
  // A header begins another table, unless it is a further row of the same header.
  return last.kind === "table_row" && (!block.header || (last.header === true && group.every((row) => row.kind !== "table_row" || row.header)))
    && text.text.slice(last.to, block.from).trim() === "";
}

/** Make the element of a group. @param {Placed[]} group @param {LaidOutText} text @returns {HTMLElement} */
export function elementOf(group, text) {
  const [first] = /** @type {[Placed]} */ (group);
  if (group.some((block) => block.kind === "table_row")) return tableOf(group, text);
  if (first.kind === "list_item") return listOf(group, text);
  return blockOf(first, text);
}

/** @param {Placed} block @param {LaidOutText} text @returns {HTMLElement} */
function blockOf(block, text) {
  const { from, to, kind, level = 1 } = block;
  switch (kind) {
    case "heading": {
      const name = /** @type {"h3" | "h4" | "h5" | "h6"} */ (`h${Math.min(6, FIRST_LEVEL + level - 1)}`);
      return text.put(h(name, { class: `heading level-${Math.min(level, 6)}`, dir: "auto" }), from, to);
    }
    case "code":
      return h("pre", { class: "code", tabindex: 0 }, text.put(h("code", { dir: "auto" }), from, to));
    case "quote":
      return h("blockquote", null, text.put(h("p", { dir: "auto" }), from, to));
    case "paragraph":
      return text.put(h("p", { dir: "auto" }), from, to);
    default:
      return text.put(h("p", { class: kind, dir: "auto" }), from, to);
  }
}

/** @param {Placed[]} items @param {LaidOutText} text */
function listOf(items, text) {
  const outer = h("ul", { class: "list" });
  /** Lists that are open, with how far their items are indented. @type {{list: HTMLElement, indent: number}[]} */
  const open = [{ list: outer, indent: -1 }];
  for (const { from, to } of items) {
    const found = MARKER.exec(text.text.slice(from, to));
    const indent = found?.[1]?.length ?? 0;
    while (open.length > 1 && indent < /** @type {{indent: number}} */ (open.at(-1)).indent) open.pop();
    let here = /** @type {{list: HTMLElement, indent: number}} */ (open.at(-1));
    if (here.indent < 0) here.indent = indent;
    else if (indent > here.indent) {
      const list = h("ul", { class: "list" });
      (here.list.lastElementChild ?? here.list).append(list);
      here = { list, indent };
      open.push(here);
    }
    const [whole = "", , marker = ""] = found ?? [];
    const shown = /^[-*+•‣◦▪]/.test(marker) ? "•" : marker.trim();
    here.list.append(
      h("li", { dir: "auto" }, shown && h("span", { class: "bullet" }, `${shown} `), text.put(h("span", { class: "words" }), from + whole.length, to)),
    );
  }
  return outer;
}

/** Give from where to where each cell of a row is.
 * @param {string} text @param {number} from @param {number} to @returns {[number, number][]} */
export function cellsOf(text, from, to) {
  const cells = /** @type {[number, number][]} */ ([]);
  let at = from;
  // A row that begins with an empty cell begins with the bar, since blocks have no space around them.
  if (text.startsWith("| ", from)) {
    cells.push([from, from]);
    at = from + 2;
  }
  for (;;) {
    const bar = text.indexOf(BETWEEN, Math.max(from, at - 1));
    if (bar < 0 || bar >= to) break;
    cells.push([Math.min(at, bar), bar]);
    at = bar + BETWEEN.length;
  }
  if (to - at >= 1 && text.endsWith(" |", to) && text.slice(at, to).endsWith(" |")) cells.push([at, to - 2], [to, to]);
  else cells.push([Math.min(at, to), to]);
  return cells;
}

/** @param {Placed[]} group Rows, after their caption where they have one. @param {LaidOutText} text */
export function tableOf(group, text) {
  const rows = group.filter((block) => block.kind === "table_row").map((block) => ({ block, cells: cellsOf(text.text, block.from, block.to) }));
  if (rows.every(({ cells }) => cells.length === 1)) {
    const lines = group.map(({ kind, from, to }) => text.put(h("p", { class: kind, dir: "auto" }), from, to));
    return h("div", { class: "rows" }, lines);
  }
  const [first] = group;
  const caption = first && first.kind === "caption" ? text.put(h("caption"), first.from, first.to) : null;
  const width = Math.max(...rows.map(({ cells }) => cells.length));
  const head = h("thead");
  const body = h("tbody");
  for (const { block, cells } of rows) {
    const name = block.header ? "th" : "td";
    const made = cells.map(([from, to]) => text.put(h(name, { scope: block.header && "col" }), from, to));
    const rest = Array.from({ length: width - cells.length }, () => h(name));
    (block.header ? head : body).append(h("tr", null, made, rest));
  }
  const table = h("table", { dir: "auto" }, caption, head.childElementCount > 0 && head, body);
  return h("div", { class: "table", tabindex: 0, role: "group", "aria-label": caption?.textContent || null }, table);
}

/** Let blocks meet where lines begin, so that they hold all of the file, with its blank lines and indents.
 * @param {Placed[]} blocks @param {string} text @returns {Placed[]} */
export function wholeLines(blocks, text) {
  let at = 0;
  return blocks.map((block, place) => {
    const from = at;
    const following = blocks[place + 1];
    at = following ? Math.max(text.lastIndexOf("\n", following.from - 1) + 1, block.to) : text.length;
    return { ...block, from, to: at };
  });
}

/** Make the element of a block. @param {Placed} block @param {LaidOutText} text @param {number} first The number of its first line. */
export function codeOf({ kind, from, to }, text, first) {
  const ends = text.text.slice(from, to).replace(/\n$/, "").split("\n");
  const numbers = h("span", { class: "numbers", "aria-hidden": "true" }, ends.map((_, at) => first + at).join("\n"));
  return h("div", { class: "lines" }, numbers, text.put(h("code", { class: kind, dir: "ltr" }), from, to));
}

/** Count the lines of a block. @param {Placed} block @param {string} text */
export function linesIn({ from, to }, text) {
  return text.slice(from, to).split("\n").length - 1;
}
