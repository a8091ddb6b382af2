/** Formulas in a text: drawn whole, in the claim that they are of, or as they are written. */

import { h } from "../dom.js";

/** @typedef {import("../vendor/markdown.js").Node & {type: "formula"}} Formula */
/**
 * Draws a formula; gives nothing where it can't be read, and undefined where what draws is not there.
 * @typedef {(latex: string, display: boolean) => HTMLElement | null | undefined} Draw
 */
/** @typedef {import("./markup.js").Rendering} Rendering */

/**
 * Show a formula between words.
 * @param {Rendering} rendering
 * @param {HTMLElement} parent
 * @param {Formula} formula
 * @param {boolean} sealed Whether nothing may be put behind a claim here.
 */
export function showFormula(rendering, parent, formula, sealed) {
  show(rendering, parent, formula, drawnOf(rendering, formula), sealed);
}

/** Make a formula that is a block of its own. @param {Rendering} rendering @param {Formula} formula @param {number} until */
export function formulaBlock(rendering, formula, until) {
  const drawn = drawnOf(rendering, formula);
  const element = h("p", drawn ? { class: "formula-line" } : { dir: "auto" });
  rendering.follow(element, formula.position.start.offset);
  show(rendering, element, formula, drawn, false);
  rendering.follow(element, until);
  return element;
}

/** @param {Rendering} rendering @param {Formula} formula */
function drawnOf({ draw }, { value, display, open }) {
  return open ? undefined : draw(value, display);
}

/** @param {Rendering} rendering @param {HTMLElement} parent @param {Formula} formula
 * @param {HTMLElement | null | undefined} drawn @param {boolean} sealed */
function show(rendering, parent, { position }, drawn, sealed) {
  const [start, end] = [position.start.offset, position.end.offset];
  if (drawn === undefined) return rendering.lines(parent, start, end, sealed);
  if (drawn === null) {
    const code = h("code", { class: "formula" });
    parent.append(code);
    return rendering.say(code, start, end, false);
  }
  const piece = rendering.pieceAt(start, end);
  (piece ?? parent).append(drawn);
  if (piece) parent.append(piece);
}
