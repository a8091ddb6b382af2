/** What proves a claim, in English. */

/** @typedef {string} S */

export const proof = {
  verdicts: { supported: "Supported", quoted: "Quoted", checked: "Checked", unverified: "Unverified", contradicted: "Contradicted", unsupported: "Unsupported" },
  means: {
    supported: "The source says what this sentence says.",
    unverified: "Nobody who can tell has said whether the source says this. Read the quote and judge for yourself.",
    contradicted: "The source says something other than this sentence.",
    unsupported: "Its sources do not bear this sentence out.",
  },
  fresh: { moved: "Moved", changed: "Changed", deleted: "Deleted", withheld: "Withheld" },
  since: {
    moved: "The quote is now elsewhere in the document than when the answer was given.",
    changed: "The document has changed since: the quote is no longer in it.",
    deleted: "The document is gone: deleted, expired, or no longer yours to read. The quote is what it said.",
    withheld: "You may no longer read this document, so what cites it is withheld.",
  },
  quotedFrom: "Quoted from", alsoIn: "Also in", changedIn: "With changes in", best: "Most relevant: ",
  kinds: { page: "Selected document", search: "Library", web: "Web" },
  origins: { matched: "Found by matching, not cited by the answer itself" },
  compared: "Decided by comparing the texts.",
  judged: (/** @type {S} */ model, /** @type {S} */ right, /** @type {S} */ of) => `Confirmed or doubted by ${model}, which got ${right} of ${of} test statements right in this language.`,
  unexamined: (/** @type {S} */ model) => `Checked by ${model}, which has not been tested yet.`,
  marker: (/** @type {S} */ number, /** @type {S} */ title, /** @type {S} */ verdict) => `Source ${number}, ${title}: ${verdict}`,
  passages: "Cited passages",
  label: (/** @type {S} */ number) => `Proof from source ${number}`,
  badge: (/** @type {S} */ verdict) => `${verdict}. Why?`,
  fault: (/** @type {S} */ verdict, /** @type {number} */ count) => (count === 1 ? `${verdict}:` : `${verdict}, ${count} times:`),
  read: "Read in the document",
  original: "Open the original",
  checking: "Checking this against the sources…",
  revised: "Revised after checking",
  withdrawn: (/** @type {number} */ count) => `${count === 1 ? "One part was" : `${count} parts were`} taken out after checking: nothing there held up against the sources.`,
  moved: "Told below, together with the source that contradicts it.",
  removed: {
    image: "An image was left out, since no source has it:",
    link: "A link was left out, since no source has it:",
  },
};
