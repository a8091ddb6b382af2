/**
 * What the page reads LaTeX with, as api/page/vendor/maths.js: Temml, as far as its tree of MathML, of which
 * api/page/text/maths.js makes elements.
 */

import buildMathML from "temml/src/buildMathML.js";
import parseTree from "temml/src/parseTree.js";
import Settings from "temml/src/Settings.js";
import Style from "temml/src/Style.js";
import { StyleLevel } from "temml/src/constants.js";

const MOST_EXPANSIONS = 500;
const LARGEST = [30, 300]; // em, points

export function treeOf(latex, display) {
  const told = { displayMode: display, annotate: display, wrap: "tex", throwOnError: true, trust: false };
  const settings = new Settings({ ...told, maxExpand: MOST_EXPANSIONS, maxSize: LARGEST });
  const level = display ? StyleLevel.DISPLAY : StyleLevel.TEXT;
  return buildMathML(parseTree(latex, settings), latex, new Style({ level, maxSize: LARGEST }), settings);
}
