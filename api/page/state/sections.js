/** The sections of an answer as its run writes, checks and revises them. */

import { withNext } from "../text/runs.js";

/** @typedef {ReturnType<typeof noSection>} SectionView */

function noSection() {
  return {
    text: "", // empty where nothing is written yet, or where the section was withdrawn
    sourceIds: /** @type {string[]} */ ([]),
    claims: /** @type {Claim[] | null} */ (null), // null until they are checked
    grounded: true, // false where the model wrote what it knows itself
    done: false, // whether its text is whole
    before: /** @type {string | null} */ (null), // how it read before it was revised
    moved: false, // whether it was revised because another section quotes it, with what contradicts it
    removed: /** @type {{kind: string, target: string}[]} */ ([]), // links and images that no source holds
  };
}

/** Make sections in which nothing is written yet. @param {number} [count] */
export function noSections(count = 0) {
  return Array.from({ length: count }, noSection);
}

/**
 * Fold what an event says of a section into the sections; give the same array where it says nothing of one.
 * @param {SectionView[]} sections
 * @param {RunEvent} event
 */
export function foldSection(sections, event) {
  const change = changeBy(event);
  return change && "section_index" in event ? put(sections, event.section_index, change) : sections;
}

/** Give what an event changes in its section. @param {RunEvent} event @returns {((section: SectionView) => Partial<SectionView>) | null} */
function changeBy(event) {
  switch (event.type) {
    case "section_started":
      return () => ({ text: "", claims: null, grounded: event.grounded, done: false });
    case "text_delta":
      return ({ text }) => ({ text: text + event.delta });
    case "section_finished":
      return () => ({ text: event.text, sourceIds: event.source_ids, done: true });
    case "claim_checked":
      return ({ claims }) => ({ claims: withNext(claims ?? [], event.claim) });
    case "section_checked":
      return () => ({ claims: event.claims });
    case "section_revised": {
      const { text, source_ids: sourceIds, claims, moved } = event;
      return (section) => ({ text, sourceIds, claims, moved, done: true, before: section.before ?? section.text });
    }
    case "content_removed":
      return ({ removed }) => ({ removed: [...removed, { kind: event.kind, target: event.target }] });
    default:
      return null;
  }
}

/** @param {SectionView[]} sections @param {number} index @param {(section: SectionView) => Partial<SectionView>} change */
function put(sections, index, change) {
  const padded = [...sections, ...noSections(Math.max(0, index + 1 - sections.length))];
  return padded.map((section, at) => (at === index ? { ...section, ...change(section) } : section));
}

/**
 * Keep with the sections of a finished message what only its run told: how each read before, what was taken out of it,
 * and those that were withdrawn, which a message leaves out.
 * @param {SectionView[]} sections
 * @param {SectionView[]} seen Those of the run.
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
