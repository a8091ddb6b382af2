/** What belongs together within a paragraph and is read before emphasis: code between backticks, and brackets. */

import { past } from "./emphasis.js";

/** @typedef {{from: number, to: number, end: number}} Span What is shown of some code, and where it ends. */
/** @typedef {{codes: Map<number, Span>, brackets: Map<number, number>}} Pairs By where they begin. */

const PAIRED = /[\\`[\]]/g;
const PADDED = /^ .*[^ ].* $/s;

/**
 * Pair the backticks and brackets between two places of a text; each is looked at once.
 * @param {string} text
 * @param {number} start
 * @param {number} end
 * @returns {Pairs}
 */
export function pairsOf(text, start, end) {
  const part = text.slice(0, end);
  const runs = runsOf(part, start);
  /** @type {Pairs} */
  const pairs = { codes: new Map(), brackets: new Map() };
  /** @type {number[]} */
  const open = [];
  PAIRED.lastIndex = start;
  for (let found = PAIRED.exec(part); found; found = PAIRED.exec(part)) {
    const at = found.index;
    if (found[0] === "\\") PAIRED.lastIndex = at + 2;
    else if (found[0] === "`") {
      const from = past(part, at, "`");
      const close = closing(runs.get(from - at), from);
      if (close !== undefined) pairs.codes.set(at, bare(part, from, close, close + from - at));
      PAIRED.lastIndex = pairs.codes.get(at)?.end ?? from;
    } else if (found[0] === "[") open.push(at);
    else {
      const opened = open.pop();
      if (opened !== undefined) pairs.brackets.set(opened, at);
    }
  }
  return pairs;
}

/** Give where the rows of backticks begin, by their length. @param {string} text @param {number} start */
function runsOf(text, start) {
  /** @type {Map<number, {starts: number[], next: number}>} */
  const runs = new Map();
  for (let at = text.indexOf("`", start); at >= 0; ) {
    const behind = past(text, at, "`");
    const run = runs.get(behind - at) ?? { starts: [], next: 0 };
    run.starts.push(at);
    runs.set(behind - at, run);
    at = text.indexOf("`", behind);
  }
  return runs;
}

/** Give the first row at or behind a place; places only rise. @param {{starts: number[], next: number} | undefined} run @param {number} from */
function closing(run, from) {
  if (!run) return undefined;
  while (run.next < run.starts.length && /** @type {number} */ (run.starts[run.next]) < from) run.next += 1;
  return run.starts[run.next];
}

/** Leave out the space on either side that keeps a backtick apart. @param {string} text @param {number} from @param {number} to @param {number} end @returns {Span} */
function bare(text, from, to, end) {
  const padded = PADDED.test(text.slice(from, to));
  return padded ? { from: from + 1, to: to - 1, end } : { from, to, end };
}
