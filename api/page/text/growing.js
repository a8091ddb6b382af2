/** A text in Markdown that is still being written: what its end leaves open is closed, so that it has its form at once. */

import { close, parse } from "../vendor/markdown.js";

/** @typedef {import("../vendor/markdown.js").Node} Node */
const MASK = "\ue000"; // in the place of formulas, whose signs are not those of Markdown
const DEEPEST = 48; // nodes within nodes; formulas that are deeper are not looked for

/** Close what the last block of a growing text leaves open. @param {string} text */
export function closed(text) {
  const last = parse(text, true).children.at(-1);
  if (!last || last.type === "code" || text.includes(MASK)) return text;
  const { offset } = last.position.start;
  const formulas = formulasIn(last, 0);
  if (formulas.some(({ open }) => open)) return text;
  let [masked, at] = ["", offset];
  for (const { start, end } of formulas) {
    masked += text.slice(at, start) + MASK;
    at = end;
  }
  const [first = "", ...others] = close((masked + text.slice(at)).replace(/(?<!\\)[*_~`]+$/, "")).split(MASK);
  if (others.length !== formulas.length) return text;
  return text.slice(0, offset) + formulas.reduce((said, { start, end }, index) => said + text.slice(start, end) + others[index], first);
}

/** @param {Node} node @param {number} depth @returns {{start: number, end: number, open: boolean}[]} */
function formulasIn(node, depth) {
  if (node.type === "formula") return [{ start: node.position.start.offset, end: node.position.end.offset, open: node.open }];
  return "children" in node && depth < DEEPEST ? node.children.flatMap((child) => formulasIn(child, depth + 1)) : [];
}
