/** What a question may be: no longer than the API takes, and without characters that it refuses. */

import { codePoints } from "./offsets.js";

export const LONGEST = 10_000; // code points
const NEAR = 500;
// Of control characters, only newline and tab may stand in a question; of surrogates, only pairs.
const REFUSED = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** Take out what the API refuses. @param {string} text */
export function cleaned(text) {
  return text.replace(/\r\n?/g, "\n").replace(REFUSED, "");
}

/** Say how much room is left: null where there is plenty, negative where the text is too long. @param {string} text */
export function room(text) {
  if (text.length <= LONGEST - NEAR) return null;
  const left = LONGEST - codePoints(text.trim());
  return left <= NEAR ? left : null;
}
