/** The numbers of an answer's sources as its reader meets them: cited ones in the order of the text, then the others. */

import { markOf } from "./grades.js";

/** What is asked of an answer. @typedef {{sections: {claims: Claim[] | null}[], sources: Source[]}} Numbered */

/** @type {WeakMap<Numbered, Map<number, number>>} */
const known = new WeakMap();

/** Number the sources of an answer. @param {Numbered} answer @returns {Map<number, number>} By their own index. */
export function numbersOf(answer) {
  let numbers = known.get(answer);
  if (!numbers) {
    const indices = [...citedIn(answer), ...answer.sources.map(({ index }) => index)];
    numbers = new Map([...new Set(indices)].map((index, at) => [index, at + 1]));
    known.set(answer, numbers);
  }
  return numbers;
}

/** Give the indices of the sources that marks stand for, or may yet, as often as they do. @param {Pick<Numbered, "sections">} answer */
export function citedIn({ sections }) {
  const claims = sections.flatMap((section) => [...(section.claims ?? [])].sort((one, other) => one.start - other.start));
  const marked = claims.filter((claim) => markOf(claim) !== "withheld");
  return marked.flatMap(({ citations }) => citations.map((citation) => citation.source_index));
}
