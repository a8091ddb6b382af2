/** Claims that repeat one passage of a source: they share its quote, and one marker serves them all. */

/**
 * Tell whether the next claim of a section quotes the passage of this one too.
 * @param {Claim} claim
 * @param {Claim | undefined} following
 */
export function continues(claim, following) {
  if (!following || !isRepeated(claim) || !isRepeated(following)) return false;
  return claim.citations.every((own) => following.citations.some((other) => holds(other, own)));
}

/**
 * Add the next claim of a section; those whose quote it continues get the longer quote.
 * @param {readonly Claim[]} claims
 * @param {Claim} claim
 */
export function withNext(claims, claim) {
  const told = [...claims];
  for (let at = told.length - 1; at >= 0; at -= 1) {
    const before = /** @type {Claim} */ (told[at]);
    if (!continues(before, claim) || JSON.stringify(before.citations) === JSON.stringify(claim.citations)) break;
    told[at] = { ...before, citations: claim.citations };
  }
  return [...told, claim];
}

/** Tell whether a claim is word for word in its source. @param {Claim} claim */
function isRepeated({ verdict, by, citations }) {
  return verdict === "supported" && by === "text" && citations.length > 0;
}

/** @param {Citation} other @param {Citation} own */
function holds(other, own) {
  return other.segment_id === own.segment_id && other.start === own.start && other.end >= own.end;
}
