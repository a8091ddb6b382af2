/**
 * The way to the parser of Markdown, which comes with the first answer and not with what the page begins with, and to what
 * draws formulas, which comes with the first formula.
 */

import { h } from "../dom.js";

/** @type {typeof import("./markup.js") | null} */
let markup = null;

/** Fetch it, where that was not done before. @returns {Promise<boolean>} Whether it is there. */
export async function readable() {
  try {
    markup ??= await import("./markup.js");
  } catch (error) {
    if (!(error instanceof TypeError)) throw error; // the browser's word for a module that did not come
  }
  return markup !== null;
}

/** Whether it is there. */
export const isReadable = () => markup !== null;

/** @type {typeof import("./maths.js") | null} */
let maths = null;
/** @type {Promise<boolean> | null} */
let coming = null;

/** Fetch what draws formulas. */
async function drawable() {
  try {
    maths = await import("./maths.js");
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    coming = null; // the next formula asks again
  }
  return maths !== null;
}

/**
 * Render a text as `render` of markup.js does; as long as that is not there, as it is written.
 * @param {string} text
 * @param {Omit<NonNullable<Parameters<typeof import("./markup.js").render>[1]>, "draw">} [options]
 * @param {() => void} [again] Called when what draws its formulas has come, where that is not there yet.
 */
export function render(text, options, again) {
  if (!markup) return [h("p", { dir: "auto" }, text)];
  let missed = false;
  const draw = (/** @type {string} */ latex, /** @type {boolean} */ display) => {
    missed ||= !maths;
    return maths?.draw(latex, display);
  };
  const rendered = markup.render(text, { ...options, draw });
  if (missed) void (coming ??= drawable()).then((came) => came && again?.());
  return rendered;
}
