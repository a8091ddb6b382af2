/** A workbook as grids: a tab for each sheet, rows by their numbers under their header, quotes marked in their cells. */

import { change, fill, h } from "../dom.js";
import { words } from "../words/index.js";
import { cellsOf } from "./layout_blocks.js";
import { LaidOutText } from "./layout_text.js";
import { mostMarked, scrollTo } from "./reader_stretches.js";
import { roving } from "./roving.js";

/** @typedef {{name: string, rows: Placed[]}} Sheet */
/** Rows that are made together, as they come near. @typedef {{element: HTMLElement, from: number, rows: Placed[], isMade: boolean}} Stretch */

const ROWS = 60; // of a stretch
const SAMPLE = 400; // rows that tell how wide columns are
const [NARROWEST, WIDEST] = [5, 36]; // letters
const HEIGHT = 1.9; // rem of a row, about

/** Make the view. @param {Client} client @returns {View} */
export function readerSheets(client) {
  const tabs = h("div", { class: "tabs", role: "tablist", "aria-label": words.viewer.sheets });
  const settle = roving(tabs, "[role=tab]", { first: "[aria-selected=true]", ends: true });
  const grid = h("div", { class: "grid", role: "table" });
  const scroller = h("div", { class: "text sheets", tabindex: 0, role: "region", "aria-label": words.reader.text }, grid);
  const element = h("div", { class: "workbook" }, tabs, scroller);
  let text = new LaidOutText([]);
  let sheets = /** @type {Sheet[]} */ ([]);
  let stretches = /** @type {Stretch[]} */ ([]);
  let shown = -1;
  /** What stands above the first row of a table. @type {Map<Placed, string[]>} */
  let letters = new Map();
  const near = new IntersectionObserver((seen) => {
    for (const { target, isIntersecting } of seen) {
      const stretch = isIntersecting && stretches.find((each) => each.element === target);
      if (stretch) make(stretch);
    }
  }, { root: scroller, rootMargin: "100% 0px" });

  /** @param {Stretch} stretch */
  function make(stretch) {
    if (stretch.isMade) return;
    stretch.isMade = true;
    fill(stretch.element, stretch.rows.flatMap(rowsOf));
    change(stretch.element, { style: null });
  }

  /** Give a row, below the letters of its columns where it is the first of a table. @param {Placed} block */
  function rowsOf(block) {
    const above = letters.get(block)?.map((letter) => h("span", null, letter));
    return [above && h("div", { class: "line letters", "aria-hidden": "true" }, h("span", { class: "number" }), above), rowOf(block)];
  }

  /** @param {Placed} block */
  function rowOf(block) {
    const { kind, from, to, header, anchor } = block;
    const number = /(\d+)$/.exec(anchor ?? "")?.[1] ?? "";
    const name = h("span", { class: "number", role: "rowheader", "aria-label": number && `${words.viewer.row} ${number}` }, number);
    if (kind !== "table_row") {
      return h("div", { class: "line", role: "row" }, name, text.put(h("span", { class: kind, role: "cell", dir: "auto" }), from, to));
    }
    const role = header ? "columnheader" : "cell";
    const cells = cellsOf(text.text, from, to).map(([start, end]) => text.put(h("span", { role, dir: "auto" }), start, end));
    return h("div", { class: header ? "line names" : "line", role: "row" }, name, cells);
  }

  /** Show a sheet. @param {number} at */
  function open(at) {
    const sheet = sheets[at];
    if (!sheet || at === shown) return;
    shown = at;
    [...tabs.children].forEach((tab, place) => change(tab, { "aria-selected": String(place === at) }));
    settle();
    change(grid, { "aria-label": sheet.name || null });
    text.leaves = [];
    near.disconnect();
    const widths = widthsOf(sheet.rows);
    letters = lettersOf(sheet.rows, text.text);
    // Rows of a file that has no addresses have no numbers.
    const numbers = sheet.rows.some((row) => row.anchor) ? "3.25rem" : "0";
    grid.classList.toggle("unnumbered", numbers === "0");
    grid.style.setProperty("--columns", [numbers, ...widths.map((letters) => `${letters + 3}ch`)].join(" "));
    // What names the columns from the top on stays in sight.
    const named = sheet.rows.findIndex((row) => row.kind === "table_row" && !row.header);
    const top = sheet.rows[0]?.header && named > 0 ? sheet.rows.slice(0, named) : [];
    const rest = sheet.rows.slice(top.length);
    const head = top.length ? h("div", { class: "names-above", role: "rowgroup" }, top.flatMap(rowsOf)) : null;
    stretches = [];
    for (let from = 0; from < rest.length; from += ROWS) {
      const rows = rest.slice(from, from + ROWS);
      const made = h("div", { class: "stretch", role: "rowgroup" });
      made.style.minBlockSize = `${rows.length * HEIGHT}rem`;
      stretches.push({ element: made, from: rows[0]?.from ?? 0, rows, isMade: false });
    }
    fill(grid, head, ...stretches.map((stretch) => stretch.element));
    scroller.scrollTo(0, 0);
    for (const stretch of stretches) near.observe(stretch.element);
    if (stretches[0]) make(stretches[0]);
  }

  /** @param {Placed[]} rows @returns {number[]} How wide each column is, in letters. */
  function widthsOf(rows) {
    const widths = /** @type {number[]} */ ([]);
    for (const row of rows.filter((each) => each.kind === "table_row").slice(0, SAMPLE)) {
      cellsOf(text.text, row.from, row.to).forEach(([from, to], at) => {
        const wide = [...text.text.slice(from, Math.min(to, from + WIDEST))].reduce((sum, letter) => sum + (letter > "\u2e80" ? 2 : 1), 0);
        widths[at] = Math.min(Math.max(widths[at] ?? NARROWEST, wide), WIDEST);
      });
    }
    return widths.length ? widths : [WIDEST];
  }

  return {
    element,
    scroller,
    between: "\n",
    segments: () => text.leaves.map((leaf) => leaf.element),

    async show({ document, raw }, signal) {
      const layout = await client.layout(document.document_id, signal);
      text = new LaidOutText(raw.segments);
      sheets = sheetsOf(layout.blocks.map((block) => ({ ...block, from: text.unit(block.start), to: text.unit(block.end) })), text);
      fill(tabs, sheets.map(({ name }, at) => h("button", { role: "tab", dir: "auto", onclick: () => open(at), onfocus: () => open(at) }, name)));
      tabs.hidden = !sheets[0]?.name;
      shown = -1;
      fill(grid);
      open(0);
    },

    mark(passages, current) {
      text.mark(passages, current);
    },

    async reveal(_, signal) {
      const start = text.currentStart;
      const at = sheets.findLastIndex(({ rows }) => (rows[0]?.from ?? Infinity) <= start);
      open(Math.max(at, 0));
      const stretch = stretches.findLast(({ from }) => from <= start);
      if (stretch) make(stretch);
      const target = mostMarked(grid);
      if (target) await scrollTo(scroller, target, signal);
    },
  };
}

/** Divide blocks by sheets, each under its name, which is no row of it. @param {Placed[]} blocks @param {LaidOutText} text @returns {Sheet[]} */
function sheetsOf(blocks, text) {
  const sheets = /** @type {Sheet[]} */ ([]);
  for (const [at, block] of blocks.entries()) {
    const named = block.kind === "heading";
    if (at && blocks[at - 1]?.page_idx === block.page_idx) sheets.at(-1)?.rows.push(block);
    else sheets.push({ name: named ? text.text.slice(block.from, block.to) : "", rows: named ? [] : [block] });
  }
  return sheets;
}

/** Where columns are, by the place of a cell in its row. @typedef {Map<number, number>} Known */

/** Give the letters above each table, by its first row; none where rows have no addresses.
 * @param {Placed[]} rows Of a sheet. @param {string} text */
export function lettersOf(rows, text) {
  const letters = /** @type {Map<Placed, string[]>} */ (new Map());
  let before = { number: 0, last: 0, first: 0 };
  for (const table of tablesIn(rows)) {
    const known = /** @type {Known} */ (new Map());
    let width = 0;
    for (const row of table) {
      const cells = cellsOf(text, row.from, row.to);
      width = Math.max(width, cells.length);
      const filled = cells.findIndex(([from, to]) => from < to);
      if (filled >= 0) known.set(filled, columnOf(row));
    }
    const [top] = /** @type {[Placed]} */ (table);
    const first = columnAt(known, 0);
    // A table that is too wide goes on below with the same rows, after the column that names them.
    const goesOn = before.number === numberOf(top) && before.first === first;
    if (goesOn) for (let at = 1; at < width; at += 1) known.set(at, before.last + at);
    before = { number: numberOf(top), first, last: columnAt(known, width - 1) };
    letters.set(top, Array.from({ length: width }, (_, at) => letterOf(columnAt(known, at))));
  }
  return letters;
}

/** Divide rows into tables, each of rows below each other. @param {Placed[]} rows */
function tablesIn(rows) {
  const tables = /** @type {Placed[][]} */ ([]);
  for (const [at, row] of rows.entries()) {
    if (row.kind !== "table_row" || !row.anchor) continue;
    const before = rows[at - 1];
    const goesOn = before?.kind === "table_row" && numberOf(before) < numberOf(row) && !(row.header && !before.header);
    if (goesOn) tables.at(-1)?.push(row);
    else tables.push([row]);
  }
  return tables;
}

/** @param {Known} known @param {number} at */
function columnAt(known, at) {
  const nearest = [...known.keys()].sort((one, other) => one - other).reduce((best, each) => (each <= at ? each : best), Math.min(...known.keys()));
  return (known.get(nearest) ?? 0) + at - nearest;
}

/** @param {Placed} row */
const numberOf = ({ anchor }) => Number(/(\d+)$/.exec(anchor ?? "")?.[1] ?? 0);

/** Give the place of the column that an address names, from 0. @param {Placed} row */
function columnOf({ anchor }) {
  const letters = /([A-Z]+)\d+$/.exec(anchor ?? "")?.[1] ?? "A";
  return [...letters].reduce((sum, letter) => 26 * sum + letter.charCodeAt(0) - 64, 0) - 1;
}

/** @param {number} column From 0. @returns {string} */
function letterOf(column) {
  return (column >= 26 ? letterOf(Math.floor(column / 26) - 1) : "") + String.fromCharCode(65 + (column % 26));
}
