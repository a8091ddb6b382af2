/** What an answer had to do without, in plain words. */

/** @typedef {import("../state/run.js").Step} Step */
/** @typedef {import("../words/index.js").Words["answer"]["limits"]} Wording */

/**
 * Say which searches failed and which selected pages were read in part or not at all, each once.
 * @param {Step[]} steps
 * @param {Wording} wording
 * @returns {string[]}
 */
export function limitsOf(steps, wording) {
  const lines = steps.flatMap((step) => step.told).flatMap((event) => {
    if (event.type === "search_failed") return [wording.failed[event.kind]];
    if (event.type !== "pages_loaded") return [];
    const { cut, unused } = event;
    const unread = unused.length ? [wording.unread(unused.length)] : [];
    return [...cut.map(({ title, segments, of }) => wording.part(title, segments, of)), ...unread];
  });
  return [...new Set(lines)];
}
