/** The way to the parser of Markdown, which comes with the first answer and not with what the page begins with. */

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

/**
 * Render a text as `render` of markup.js does; as long as that is not there, as it is written.
 * @param {string} text
 * @param {Parameters<typeof import("./markup.js").render>[1]} [options]
 */
export function render(text, options) {
  return markup ? markup.render(text, options) : [h("p", { dir: "auto" }, text)];
}
