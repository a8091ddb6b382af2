/** A text in Markdown that is still being written: what its end leaves open is closed, so that it has its form at once. */

import { close, parse } from "../vendor/markdown.js";

/** @typedef {import("../vendor/markdown.js").Node} Node */
const MASK = "\ue000"; // in the place of formulas, whose signs are not those of Markdown
const MASKED = /\ue000+/g;

/** Close what the last block of a growing text leaves open. @param {string} text */
export function closed(text) {
  const last = parse(text, true).children.at(-1);
  if (!last || last.type === "code" || text.includes(MASK)) return text;
  const { offset } = last.position.start;
  const found = formulasIn(last);
  if (found.some(({ open }) => open)) return text;
  let masked = text;
  for (const { start, end } of found) masked = masked.slice(0, start) + MASK.repeat(end - start) + masked.slice(end);
  const written = close(masked.slice(offset).replace(/(?<!\\)[*_~`]+$/, ""));
  let at = 0;
  return text.slice(0, offset) + written.replace(MASKED, (mask) => {
    const { start } = /** @type {{start: number}} */ (found[at]);
    const next = found.findIndex(({ end }) => end === start + mask.length);
    at = next + 1;
    return text.slice(start, start + mask.length);
  });
}

/** @param {Node} node @returns {{start: number, end: number, open: boolean}[]} */
function formulasIn(node) {
  if (node.type === "formula") return [{ start: node.position.start.offset, end: node.position.end.offset, open: node.open }];
  return "children" in node ? node.children.flatMap(formulasIn) : [];
}
