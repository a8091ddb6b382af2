/** Source code as it stands in its file: every line with its number, comments and definitions told apart. */

import { h } from "../dom.js";

/** @typedef {import("./layout_blocks.js").Placed} Placed */
/** @typedef {import("./layout_text.js").LaidOutText} LaidOutText */

/**
 * Let blocks meet where lines begin, so that they hold all of the file, with its blank lines and indents.
 * @param {Placed[]} blocks
 * @param {string} text
 * @returns {Placed[]}
 */
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
