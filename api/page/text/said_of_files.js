/** What the server says of a file in English, and for who runs it: said anew to its owner, in the reader's language. */

import { words } from "../words/index.js";
import { advice, said } from "../words/problems.js";

/** @typedef {keyof typeof words.shelf.incoming.refusals} Refusal */

/** What is not in its text, or may be wrong in it. @type {[RegExp, (...parts: string[]) => string][]} */
const REMARKS = [
  [/^Struck-out or hidden text was left out \((\d+) passages?\)\.$/, (count) => words.reader.leftOut.passages({ count: Number(count) })],
  [/^(\d+) of (\d+) pages holds? no text\.$/, (count, of) => words.reader.leftOut.pages({ count: Number(count), of: Number(of) })],
  [/^(\d+) words? (?:is|are) hidden or too small to read\.$/, (count) => words.reader.leftOut.tiny({ count: Number(count) })],
  [
    /^The file does not say how its text is encoded\. It was read as ([\w-]+), which is a guess: /,
    (name) => words.shelf.incoming.warnings.encoding({ name }),
  ],
  [
    /^The text of (\d+) of (\d+) pages was recognised in a scan \(OCR\): /,
    (count, of) => words.shelf.incoming.warnings.recognised({ count, of }),
  ],
];

/** Why it was not added. @type {[RegExp, Refusal][]} */
const REFUSALS = [
  [/^The file is empty/, "file_empty"],
  [/it is a scan/, "file_picture"],
  [/holds no (?:text|files)|no page has text|without text/, "file_without_text"],
  [/password|encrypted|\(DRM\)/, "file_protected"],
  [/too (?:large|long|much|many)|more than [\d,]+/, "file_too_large"],
  [/binary, not text|older format|is not read|cannot be read as/, "file_not_text"],
  [/broken|damaged|is (?:no|not a) |cannot be opened|cannot be unpacked|is missing/, "file_broken"],
];

const PICTURE = /\.(?:jpe?g|png|gif|webp|tiff?|bmp|heic)$/i;

/** Say what is not in a text, or may be wrong in it; a sentence that is not known stays as it is. @param {string} sentence */
export function remarkOf(sentence) {
  for (const [pattern, say] of REMARKS) {
    const found = pattern.exec(sentence);
    if (found) return say(...found.slice(1));
  }
  return sentence;
}

/** Say why a file was not added. @param {import("../api/problem.js").Problem} problem @param {string} name Of the file. */
export function refusalOf(problem, name) {
  const { refusals } = words.shelf.incoming;
  if (problem.code in refusals) return refusals[/** @type {Refusal} */ (problem.code)];
  if (problem.status === 413) return refusals.request_too_large;
  if (problem.code === "unreadable_document" && PICTURE.test(name)) return refusals.file_picture;
  const known = problem.code === "unreadable_document" && REFUSALS.find(([pattern]) => pattern.test(problem.message));
  return known ? refusals[known[1]] : [said(problem), advice(problem)].filter(Boolean).join(" ");
}
