/** Rows of a document as a table: with its caption and header, each cell with its own offsets. */

import { h } from "../dom.js";

/** @typedef {import("./layout_blocks.js").Placed} Placed */
/** @typedef {import("./layout_text.js").LaidOutText} LaidOutText */

const BETWEEN = " | "; // what the server joins the cells of a row by

/**
 * Give from where to where each cell of a row is.
 * @param {string} text
 * @param {number} from
 * @param {number} to
 * @returns {[number, number][]}
 */
export function cellsOf(text, from, to) {
  /** @type {[number, number][]} */
  const cells = [];
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
