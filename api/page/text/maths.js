/**
 * Formulas as MathML, which comes with the first answer that holds one.
 *
 * Elements are made by name, of names, attributes and sizes that are known: whatever else a formula asks for, such as a
 * link, a picture, a style of its own or a macro, it is not drawn, and stays as it is written.
 */

import { h } from "../dom.js";
import { treeOf } from "../vendor/maths.js";

/** @typedef {import("../vendor/maths.js").Branch} Branch */
const MATHML = "http://www.w3.org/1998/Math/MathML";
const REFUSED = /\\(?:[gex]?def|let|futurelet|global|long|(?:re)?newcommand|providecommand|definecolor|href|url|includegraphics|class|id|style|data|html\w*|label|(?:eq)?ref)(?![A-Za-z])/;
const ELEMENTS = new Set(
  `math mrow mi mn mo mtext mspace ms mfrac msqrt mroot mstyle mpadded mphantom msub msup msubsup munder mover munderover
  mmultiscripts mprescripts none menclose mtable mtr mtd semantics annotation`.split(/\s+/),
);
const ATTRIBUTES = new Set(
  `accent accentunder columnalign depth display displaystyle encoding fence form height largeop linethickness lspace
  mathbackground mathcolor mathsize mathvariant maxsize minsize movablelimits notation rowspacing rspace scriptlevel separator
  stretchy symmetric voffset width`.split(/\s+/),
);
const STYLES = /^(?:text-?[aA]lign|padding(?:Top|Right|Bottom|Left)?|border(?:Top|Right|Bottom|Left)?|width|color|font-?[wW]eight|math-?[dD]epth)$/;
const CLASSES = /^(?:tml-(?:left|right|jot|small|overline|underline|fbox|cancel|xcancel|tageqn|tag)|upstrike|downstrike|sout|menclose)$/;
const VALUE = /^[\w#%./, +-]{1,80}$/;
const LENGTH = /(\d*\.?\d+)(em|ex|px|pt|%)/g;
const LARGEST = { em: 40, ex: 80, px: 600, pt: 450, "%": 400 };
const DEEPEST = 80; // elements within elements
const MOST = 4000; // elements and texts of a formula
const KEPT = 200; // formulas that are not drawn again where the text around them grows

/** @type {Map<string, HTMLElement | null>} */
const drawn = new Map();

/**
 * Draw a formula.
 * @param {string} latex
 * @param {boolean} display Whether it stands on a line of its own.
 * @returns {HTMLElement | null} Nothing where it can't be read.
 */
export function draw(latex, display) {
  const key = `${display} ${latex}`;
  if (!drawn.has(key)) {
    if (drawn.size === KEPT) drawn.clear();
    drawn.set(key, made(latex.trim(), display));
  }
  return /** @type {HTMLElement | null} */ (drawn.get(key)?.cloneNode(true) ?? null);
}

/** @param {string} latex @param {boolean} display */
function made(latex, display) {
  if (REFUSED.test(latex)) return null;
  try {
    const math = new Drawing().nodes(treeOf(latex, display), 0);
    return h("span", { class: display ? "formula display" : "formula", dir: "ltr", tabindex: display ? 0 : null }, math);
  } catch {
    return null; // Temml's word for what it does not know, ours for what is too much, the browser's for what is too deep
  }
}

class Drawing {
  count = 0;

  /** @param {Branch} branch @param {number} depth @returns {Node[]} */
  nodes(branch, depth) {
    this.count += 1;
    if (this.count > MOST || depth > DEEPEST) throw new RangeError("too large a formula");
    const { type, text, children } = branch;
    if (typeof text === "string") return [document.createTextNode(text)];
    if (!children || "href" in branch) throw new TypeError("no element of a formula");
    const within = children.flatMap((child) => this.nodes(child, depth + 1));
    return type === undefined ? within : [this.element(branch, type, within)];
  }

  /** @param {Branch} branch @param {string} type @param {Node[]} within */
  element({ attributes = {}, classes = [], style = {} }, type, within) {
    if (!ELEMENTS.has(type)) throw new TypeError("no element of a formula");
    const element = document.createElementNS(MATHML, type);
    for (const [name, value] of Object.entries(attributes)) {
      if (ATTRIBUTES.has(name)) element.setAttribute(name, measured(value));
    }
    const kinds = classes.filter((kind) => CLASSES.test(kind));
    if (kinds.length) element.setAttribute("class", kinds.join(" "));
    for (const [name, value] of Object.entries(style)) {
      if (STYLES.test(name)) Reflect.set(element.style, name, measured(value));
    }
    element.append(...within);
    return element;
  }
}

/** Give a value that is plain and not too large. @param {string | number | boolean} value */
function measured(value) {
  const text = String(value);
  if (!VALUE.test(text)) throw new TypeError("no value of a formula");
  for (const [, number, unit] of text.matchAll(LENGTH)) {
    if (Number(number) > LARGEST[/** @type {keyof typeof LARGEST} */ (unit)]) throw new RangeError("too large a formula");
  }
  return text;
}
