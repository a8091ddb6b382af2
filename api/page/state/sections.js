/** The sections of an answer as its run writes, checks and revises them. */

import { withNext } from "../text/runs.js";

/**
 * @typedef {object} SectionView
 * @property {string} text Empty where nothing is written yet, or where the section was withdrawn.
 * @property {string[]} sourceIds
 * @property {Claim[] | null} claims Null until they are checked.
 * @property {boolean} grounded False where the model wrote what it knows itself.
 * @property {boolean} done Whether its text is whole.
 * @property {string | null} before How it read before it was revised.
 * @property {boolean} moved Whether it was revised because another section quotes it, with what contradicts it.
 * @property {{kind: string, target: string}[]} removed Links and images that no source holds.
 */

/** Make sections in which nothing is written yet. @param {number} [count] @returns {SectionView[]} */
export function noSections(count = 0) {
  return Array.from({ length: count }, () => ({
    text: "",
    sourceIds: [],
    claims: null,
    grounded: true,
    done: false,
    before: null,
    moved: false,
    removed: [],
  }));
}

/**
 * Fold what an event says of a section into the sections; give the same array where it says nothing of one.
 * @param {SectionView[]} sections
 * @param {RunEvent} event
 * @returns {SectionView[]}
 */
export function foldSection(sections, event) {
  switch (event.type) {
    case "section_started": {
      const { grounded } = event;
      return put(sections, event.section_index, (section) => ({ ...section, text: "", claims: null, grounded, done: false }));
    }
    case "text_delta":
      return put(sections, event.section_index, (section) => ({ ...section, text: section.text + event.delta }));
    case "section_finished": {
      const { text, source_ids: sourceIds } = event;
      return put(sections, event.section_index, (section) => ({ ...section, text, sourceIds, done: true }));
    }
    case "claim_checked":
      return put(sections, event.section_index, (section) => ({
        ...section,
        claims: withNext(section.claims ?? [], event.claim),
      }));
    case "section_checked":
      return put(sections, event.section_index, (section) => ({ ...section, claims: event.claims }));
    case "section_revised": {
      const { text, source_ids: sourceIds, claims, moved } = event;
      return put(sections, event.section_index, (section) => ({
        ...section,
        text,
        sourceIds,
        claims,
        done: true,
        before: section.before ?? section.text,
        moved,
      }));
    }
    case "content_removed": {
      const { kind, target } = event;
      return put(sections, event.section_index, (section) => ({
        ...section,
        removed: [...section.removed, { kind, target }],
      }));
    }
    default:
      return sections;
  }
}

/** @param {SectionView[]} sections @param {number} index @param {(section: SectionView) => SectionView} change */
function put(sections, index, change) {
  const padded = [...sections, ...noSections(Math.max(0, index + 1 - sections.length))];
  return padded.map((section, at) => (at === index ? change(section) : section));
}

/**
 * Keep with the sections of a finished message what only its run told: how each read before, what was taken out of it,
 * and those that were withdrawn, which a message leaves out.
 * @param {SectionView[]} sections
 * @param {SectionView[]} seen Those of the run.
 * @returns {SectionView[]}
 */
export function asSeen(sections, seen) {
  const rest = [...sections];
  const kept = seen.flatMap((known) => {
    if (isWithdrawn(known)) return [known];
    const section = rest.shift();
    return section ? [{ ...section, before: known.before, moved: known.moved, removed: known.removed }] : [];
  });
  return [...kept, ...rest];
}

/** Tell whether nothing of a section held, so that it was taken back. @param {SectionView} section */
export function isWithdrawn({ text, done, before }) {
  return done && !text && before !== null;
}
