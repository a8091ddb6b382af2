/** The letters of columns. The address of a row tells the letter of its first filled cell alone, so that a table tells its own. */

import { cellsOf } from "./layout_blocks.js";

/** @typedef {import("./layout_blocks.js").Placed} Placed */
/** Where columns are, by the place of a cell in its row. @typedef {Map<number, number>} Known */

/**
 * Give the letters above each table, by its first row; none where rows have no addresses.
 * @param {Placed[]} rows Of a sheet.
 * @param {string} text
 */
export function lettersOf(rows, text) {
  /** @type {Map<Placed, string[]>} */
  const letters = new Map();
  let before = { number: 0, last: 0, first: 0 };
  for (const table of tablesIn(rows)) {
    /** @type {Known} */
    const known = new Map();
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
  /** @type {Placed[][]} */
  const tables = [];
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
function numberOf({ anchor }) {
  return Number(/(\d+)$/.exec(anchor ?? "")?.[1] ?? 0);
}

/** Give the place of the column that an address names, from 0. @param {Placed} row */
function columnOf({ anchor }) {
  const letters = /([A-Z]+)\d+$/.exec(anchor ?? "")?.[1] ?? "A";
  return [...letters].reduce((sum, letter) => 26 * sum + letter.charCodeAt(0) - 64, 0) - 1;
}

/** @param {number} column From 0. @returns {string} */
function letterOf(column) {
  return (column >= 26 ? letterOf(Math.floor(column / 26) - 1) : "") + String.fromCharCode(65 + (column % 26));
}
