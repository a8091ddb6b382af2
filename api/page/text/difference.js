/** What changed from one text to another, by words, or by letters in scripts that write none apart. */

/** @typedef {{kind: "same" | "old" | "new", text: string}} Change */

const LARGEST = 250_000; // pairs of words that are compared at most; longer texts are told as replaced
const WORD = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]\p{M}*|[\p{L}\p{N}\p{M}_]+|\s+|[^]/gu;

/**
 * Tell what of a text stayed, what went, and what came.
 * @param {string} before
 * @param {string} after
 * @returns {Change[]}
 */
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
  const common = lengths(one, other);
  const width = other.length + 1;
  const at = (/** @type {number} */ i, /** @type {number} */ j) => common[i * width + j] ?? 0;
  /** @type {Change[]} */
  const changes = [];
  let [i, j] = [0, 0];
  while (i < one.length || j < other.length) {
    if (i < one.length && one[i] === other[j]) {
      changes.push({ kind: "same", text: one[i] ?? "" });
      i += 1;
      j += 1;
    } else if (i < one.length && (j === other.length || at(i + 1, j) >= at(i, j + 1))) {
      changes.push({ kind: "old", text: one[i] ?? "" });
      i += 1;
    } else {
      changes.push({ kind: "new", text: other[j] ?? "" });
      j += 1;
    }
  }
  return changes;
}

/** Give, for each pair of places, how many words both have in common from there on, in order. @param {string[]} one @param {string[]} other */
function lengths(one, other) {
  const width = other.length + 1;
  const common = new Uint16Array((one.length + 1) * width);
  for (let i = one.length - 1; i >= 0; i -= 1) {
    for (let j = other.length - 1; j >= 0; j -= 1) {
      const [skip, skipOther] = [common[(i + 1) * width + j] ?? 0, common[i * width + j + 1] ?? 0];
      common[i * width + j] = one[i] === other[j] ? (common[(i + 1) * width + j + 1] ?? 0) + 1 : Math.max(skip, skipOther);
    }
  }
  return common;
}

/**
 * Join neighbours of a kind. A space that stayed between two changes is part of them, so that a phrase is told as one.
 * @param {Change[]} changes
 * @returns {Change[]}
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
