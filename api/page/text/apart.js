/** What of an answer is shown apart from its text: sources that contradict each other, and what a refusal says. */

const NONE = /** @type {Wire.Position[]} */ ([]);

/** Give what each source of a disagreement says, where there are two of them. @param {Wire.Disagreement} disagreement */
export function positionsOf({ positions = [] }) {
  return positions.length > 1 ? positions : NONE;
}

/** Tell whether a section does nothing but quote sources that contradict each other. @param {Pick<SectionView, "claims">} section */
export function bothQuoted({ claims }) {
  return claims?.length === 1 && (claims[0]?.why ?? []).some(({ code }) => code === "both_quoted");
}

/**
 * Tell whether a section is shown apart, so that it says nothing twice: below the text, or above it as a refusal.
 * @param {SectionView} section
 * @param {Answer} answer
 */
export function isApart(section, { outcome, refusal, sections, disagreements }) {
  if (outcome === null) return false;
  const sides = disagreements.some((each) => positionsOf(each).length > 0);
  if (!section.text) return sides && section.moved && section.before !== null;
  if (refusal && outcome === "abstained") return section === sections.findLast(({ text }) => text);
  if (!bothQuoted(section)) return disagreements.some((each) => positionsOf(each).some((position) => shows(section, position)));
  return disagreements.some((each) => positionsOf(each).length > 0 && String(each.segment_ids) === String(section.sourceIds));
}

/**
 * Tell whether a section is the passage of a source in which one side of a disagreement stands, and nothing else.
 * @param {Pick<SectionView, "claims">} section
 * @param {Wire.Position} position
 */
export function shows({ claims }, { document_id: id, start, end }) {
  const [claim, ...others] = claims ?? [];
  return Boolean(claim) && !others.length && claim?.by === "text" && claim.citations.length === 1
    && claim.citations.some((each) => each.document_id === id && each.start <= start && each.end >= end);
}
