/**
 * Formulas as MathML, which comes with the first answer or document that holds one.
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

/**
 * Draw a formula that a document says in MathML.
 * @param {string} markup
 * @param {boolean} display
 * @returns {HTMLElement | null} Nothing where it can't be read.
 */
export function drawMarkup(markup, display) {
  return shown(() => treeIn(markup, display), display);
}

/** @param {string} latex @param {boolean} display */
function made(latex, display) {
  return REFUSED.test(latex) ? null : shown(() => treeOf(latex, display), display);
}

/** @param {() => Branch} tree @param {boolean} display */
function shown(tree, display) {
  try {
    const math = new Drawing().nodes(tree(), 0);
    return h("span", { class: display ? "formula display" : "formula", dir: "ltr", tabindex: display ? 0 : null }, math);
  } catch {
    return null; // Temml's word for what it does not know, ours for what is too much, the browser's for what is too deep
  }
}

const TOKEN = /<(\/?)(?:\w+:)?(\w+)((?:\s+[\w:-]+="[^"<]*")*)\s*(\/?)>|([^<]+)/gy;
const ENTITY = /&(?:#(\d{1,7})|#x([\da-f]{1,6})|(amp|lt|gt|quot|apos));/gi;
const ENTITIES = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };
const UNSEEN = new Set(["annotation", "annotation-xml", "maction"]);

/** Read MathML as the server writes it: no comments, no entities but those of XML. @param {string} markup @param {boolean} display @returns {Branch} */
function treeIn(markup, display) {
  /** @type {(Branch & {children: Branch[]})[]} */
  const open = [{ children: [] }];
  let end = 0;
  for (const [whole, closing, type = "", attributes = "", alone, words] of markup.matchAll(TOKEN)) {
    end += whole.length;
    const parent = /** @type {Branch & {children: Branch[]}} */ (open.at(-1));
    if (words !== undefined) parent.children.push({ text: plain(words).replace(/\s+/g, " ") });
    else if (closing) open.pop();
    else {
      const pairs = [...attributes.matchAll(/([\w:-]+)="([^"]*)"/g)].map(([, name = "", value = ""]) => [name, plain(value)]);
      const branch = { type, attributes: Object.fromEntries(pairs.filter(([name]) => ATTRIBUTES.has(name ?? ""))), children: [] };
      if (type === "math") branch.attributes = { display: display ? "block" : "inline" };
      if (!UNSEEN.has(type)) parent.children.push(branch);
      if (!alone) open.push(branch);
    }
  }
  const [root] = open;
  if (open.length !== 1 || end !== markup.length || !root || root.children.length !== 1) throw new TypeError("no formula");
  return root;
}

/** @param {string} text */
function plain(text) {
  return text.replace(ENTITY, (_, decimal, hex, name) =>
    name ? ENTITIES[/** @type {keyof typeof ENTITIES} */ (name.toLowerCase())] : String.fromCodePoint(decimal ? Number(decimal) : parseInt(hex, 16)));
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
