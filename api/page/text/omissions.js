/** What of a file is not in its text, or may be wrong in it: the server says it in English, the page in its reader's language. */

import { words } from "../words/index.js";

/** @type {[RegExp, "passages" | "pages" | "tiny"][]} */
const KNOWN = [
  [/^Struck-out or hidden text was left out \((\d+) passages?\)\.$/, "passages"],
  [/^(\d+) of (\d+) pages holds? no text\.$/, "pages"],
  [/^(\d+) words? (?:is|are) hidden or too small to read\.$/, "tiny"],
];

/**
 * Say what was left out; a sentence that is not known stays as it is.
 * @param {string[] | undefined} sentences None of a server that does not say it.
 */
export function omissionsOf(sentences) {
  return (sentences ?? []).map((sentence) => {
    for (const [pattern, name] of KNOWN) {
      const found = pattern.exec(sentence);
      if (found) return words.reader.leftOut[name](Number(found[1]), Number(found[2]));
    }
    return sentence;
  });
}

/** @type {[RegExp, "encoding" | "recognised"][]} */
const WARNINGS = [
  [/^The file does not say how its text is encoded\. It was read as ([\w-]+), which is a guess: /, "encoding"],
  [/^The text of (\d+) of (\d+) pages was recognised in a scan \(OCR\): /, "recognised"],
];

/**
 * Say what in a document may be wrong; a sentence that is not known stays as it is.
 * @param {string[] | undefined} sentences None of a server that does not say it.
 */
export function warningsOf(sentences) {
  return (sentences ?? []).map((sentence) => {
    for (const [pattern, name] of WARNINGS) {
      const found = pattern.exec(sentence);
      if (found) return words.shelf.incoming.warnings[name](found[1] ?? "", found[2] ?? "");
    }
    return sentence;
  });
}
