/** What of a file is not in its text, or may be wrong in it: the server says it in English, the page in its reader's language. */

import { words } from "../words/index.js";

/** Sentences of the server, and how each is said from its parts. @typedef {[RegExp, (...parts: string[]) => string][]} Known */

/** @type {Known} */
const LEFT_OUT = [
  [/^Struck-out or hidden text was left out \((\d+) passages?\)\.$/, (count) => words.reader.leftOut.passages({ count: Number(count) })],
  [/^(\d+) of (\d+) pages holds? no text\.$/, (count, of) => words.reader.leftOut.pages({ count: Number(count), of: Number(of) })],
  [/^(\d+) words? (?:is|are) hidden or too small to read\.$/, (count) => words.reader.leftOut.tiny({ count: Number(count) })],
];

/** @type {Known} */
const WARNINGS = [
  [
    /^The file does not say how its text is encoded\. It was read as ([\w-]+), which is a guess: /,
    (name) => words.shelf.incoming.warnings.encoding({ name }),
  ],
  [
    /^The text of (\d+) of (\d+) pages was recognised in a scan \(OCR\): /,
    (count, of) => words.shelf.incoming.warnings.recognised({ count, of }),
  ],
];

/** Say what was left out. @param {string[]} [sentences] None of a server that does not say it. */
export function omissionsOf(sentences) {
  return saidAnew(sentences, LEFT_OUT);
}

/** Say what in a document may be wrong. @param {string[]} [sentences] None of a server that does not say it. */
export function warningsOf(sentences) {
  return saidAnew(sentences, WARNINGS);
}

/** A sentence that is not known stays as it is. @param {string[] | undefined} sentences @param {Known} known */
function saidAnew(sentences = [], known) {
  return sentences.map((sentence) => {
    for (const [pattern, say] of known) {
      const found = pattern.exec(sentence);
      if (found) return say(...found.slice(1));
    }
    return sentence;
  });
}
