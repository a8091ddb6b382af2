/** Why a file was not added, in the words of its owner: the server says it in English, and for who runs it. */

import { advice, said } from "../words/problems.js";
import { words } from "../words/index.js";

/** @typedef {keyof typeof words.shelf.incoming.refusals} Known */

/** @type {[RegExp, Known][]} */
const SENTENCES = [
  [/^The file is empty/, "file_empty"],
  [/it is a scan/, "file_picture"],
  [/holds no (?:text|files)|no page has text|without text/, "file_without_text"],
  [/password|encrypted|\(DRM\)/, "file_protected"],
  [/too (?:large|long|much|many)|more than [\d,]+/, "file_too_large"],
  [/binary, not text|older format|is not read|cannot be read as/, "file_not_text"],
  [/broken|damaged|is (?:no|not a) |cannot be opened|cannot be unpacked|is missing/, "file_broken"],
];

const PICTURE = /\.(?:jpe?g|png|gif|webp|tiff?|bmp|heic)$/i;

/** Say why. @param {import("../api/problem.js").Problem} problem @param {string} name Of the file. */
export function refusalOf(problem, name) {
  const { refusals } = words.shelf.incoming;
  if (problem.code in refusals) return refusals[/** @type {Known} */ (problem.code)];
  if (problem.status === 413) return refusals.request_too_large;
  if (problem.code === "unreadable_document" && PICTURE.test(name)) return refusals.file_picture;
  const known = problem.code === "unreadable_document" && SENTENCES.find(([pattern]) => pattern.test(problem.message));
  return known ? refusals[known[1]] : [said(problem), advice(problem)].filter(Boolean).join(" ");
}
