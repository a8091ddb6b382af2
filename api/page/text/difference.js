/** What changed from one text to another, by words, or by letters in scripts that write none apart. */

/** @typedef {{kind: "same" | "old" | "new", text: string}} Change */

const LARGEST = 250_000; // pairs of words that are compared at most; longer texts are told as replaced
const WORD = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]\p{M}*|[\p{L}\p{N}\p{M}_]+|\s+|[^]/gu;

/** Tell what of a text stayed, what went, and what came. @param {string} before @param {string} after */
export function difference(before, after) {
  const [one, other] = [wordsOf(before), wordsOf(after)];
  let head = 0;
  while (head < Math.min(one.length, other.length) && one[head] === other[head]) head += 1;
  let tail = 0;
  while (tail < Math.min(one.length, other.length) - head && one.at(-1 - tail) === other.at(-1 - tail)) tail += 1;
  const changed = between(one.slice(head, one.length - tail), other.slice(head, other.length - tail));
  const same = (/** @type {string[]} */ words) => words.map((text) => /** @type {Change} */ ({ kind: "same", text }));
  return joined([...same(one.slice(0, head)), ...changed, ...same(one.slice(one.length - tail))]);
}

/** @param {string} text @returns {string[]} */
function wordsOf(text) {
  return text.match(WORD) ?? [];
}

/** @param {string[]} one @param {string[]} other @returns {Change[]} */
function between(one, other) {
  if (one.length * other.length > LARGEST) {
    return [{ kind: "old", text: one.join("") }, { kind: "new", text: other.join("") }];
  }
  const width = other.length + 1;
  /** For each pair of places, how many words both have in common from there on, in order. */
  const common = new Uint16Array((one.length + 1) * width);
  const at = (/** @type {number} */ i, /** @type {number} */ j) => common[i * width + j] ?? 0;
  for (let i = one.length - 1; i >= 0; i -= 1) {
    for (let j = other.length - 1; j >= 0; j -= 1) {
      common[i * width + j] = one[i] === other[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  /** @type {Change[]} */
  const changes = [];
  for (let [i, j] = [0, 0]; i < one.length || j < other.length; ) {
    const [word, its] = [one[i], other[j]];
    const kind = word === its ? "same" : its === undefined || (word !== undefined && at(i + 1, j) >= at(i, j + 1)) ? "old" : "new";
    changes.push({ kind, text: (kind === "new" ? its : word) ?? "" });
    if (kind !== "new") i += 1;
    if (kind !== "old") j += 1;
  }
  return changes;
}

/**
 * Join neighbours of a kind. A space that stayed between two changes is part of them, so that a phrase is told as one.
 * @param {Change[]} changes
 */
function joined(changes) {
  /** @type {Change[]} */
  const told = [];
  let [gone, come] = ["", ""];
  const tell = () => {
    if (gone) told.push({ kind: "old", text: gone });
    if (come) told.push({ kind: "new", text: come });
    [gone, come] = ["", ""];
  };
  changes.forEach(({ kind, text }, index) => {
    const bridge = kind === "same" && !text.trim() && (gone || come) && (changes[index + 1]?.kind ?? "same") !== "same";
    if (kind !== "new" && (bridge || kind === "old")) gone += text;
    if (kind !== "old" && (bridge || kind === "new")) come += text;
    if (kind !== "same" || bridge) return;
    tell();
    const last = told.at(-1);
    if (last?.kind === "same") last.text += text;
    else told.push({ kind, text });
  });
  tell();
  return told;
}
