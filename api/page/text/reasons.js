/** Why a claim has its verdict: what the server says of it in English, by what it means, for other languages to say. */

/**
 * A reason by its name among the words, with the parts of it that are quoted.
 * @typedef {{name: keyof typeof PATTERNS, parts: string[]}} Reason
 */

/** What the server says; each part stands for what it quotes. */
const PATTERNS = /** @type {const} */ ({
  part: ["it is a part of a longer source sentence"],
  order: ["the same words stand in another order in the source"],
  unsaid: ["no sentence of the cited sources says this"],
  foreign: ["it is in another language than its sources"],
  denied: ["the text around this sentence denies it or sets a condition"],
  uncited: ["the section cites no source"],
  alone: ["", " alone says nothing that the sources could say"],
  opposite: ["the answer says ", ", and goes on to say the opposite, as the source does"],
  lead: ["whether ", " answers the question is open"],
  nearly: ["it is nearly a sentence of its source: ", ""],
  sourceless: ["It cites nothing that it could be judged by."],
  long: ["It is too long for the judge."],
  skipped: ["The judge's reply leaves it out."],
  twice: ["The judge's reply has more than one verdict on it."],
  unreadable: ["The judge's reply has no verdict on it that can be read."],
  unscored: ["The judge's reply has no scores for it that can be read."],
  // Of answers that were stored before judges took an exam.
  same: ["a model judged that the cited sentences state it"],
  other: ["a model judged that the cited sentences contradict it"],
  open: ["a model judged that the cited sentences do not state it"],
  rival: ["another source says ", ", this one ", ""],
  quoted: ["both sources are quoted word for word"],
  outdated: ["its source has changed since it was checked"],
  near: ["the closest source sentence has ", " of its words"],
  unnamed: ["the name ", " stands nowhere in the sources"],
  nowhere: ["", " stands nowhere in the sources"],
  leaves: ["the source says ", ", the answer leaves that out"],
  adds: ["the answer says ", ", the source does not"],
  swaps: ["the answer says ", " where the source says ", ""],
  differs: ["the source says ", ", the answer says ", ""],
});
const NAMES = /** @type {(keyof typeof PATTERNS)[]} */ (Object.keys(PATTERNS));
const QUOTED = /^"(.+)"$/s;
/** What is changed in a sentence, in signs that need no translation. @type {[RegExp, string][]} */
const CHANGES = [
  [/^it adds "(.+)"$/s, "+“$1”"],
  [/^it leaves out "(.+)"$/s, "−“$1”"],
  [/^it has "(.+?)" for "(.+)"$/s, "“$2” → “$1”"],
];

/**
 * Tell what a reason means; null where it is not one that is known.
 * @param {string} reason
 * @returns {Reason | null}
 */
export function reasonOf(reason) {
  for (const name of NAMES) {
    const parts = partsOf(reason, PATTERNS[name]);
    if (parts && name === "nearly") return { name, parts: parts.map(changesOf) };
    if (parts) return { name, parts: parts.map((part) => QUOTED.exec(part)?.[1] ?? part) };
  }
  return null;
}

/** Write what is changed in a sentence in signs; what is not known stays as it is. @param {string} said */
function changesOf(said) {
  const written = said.split(/(?<="); (?=it )/).map((each) => {
    const [known, signs] = CHANGES.find(([pattern]) => pattern.test(each)) ?? [];
    return known && signs ? each.replace(known, signs) : each;
  });
  return written.join(", ");
}

/**
 * Give what stands between the pieces of a pattern; null where it does not fit.
 * @param {string} said
 * @param {readonly string[]} pieces
 */
function partsOf(said, pieces) {
  const [first = "", ...rest] = pieces;
  const last = rest.at(-1);
  if (last === undefined) return said === first ? [] : null;
  if (!said.startsWith(first) || !said.endsWith(last)) return null;
  const parts = [];
  let from = first.length;
  for (const piece of rest.slice(0, -1)) {
    const at = said.indexOf(piece, from);
    if (at < 0) return null;
    parts.push(said.slice(from, at));
    from = at + piece.length;
  }
  parts.push(said.slice(from, said.length - last.length));
  return parts.every((part) => part) ? parts : null;
}
