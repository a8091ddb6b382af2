/** What a reader is told of a claim, and whether a mark stands behind it. */

/** Quoted: which proves the words and not that they answer. Checked: by a judge that has yet to pass its exam.
 * @typedef {Wire.Verdict | "quoted" | "checked"} Grade */

/** Give a claim's grade: only the word of a judge with an exam is told as support. @param {Pick<Claim, "verdict" | "by" | "judge">} claim @returns {Grade} */
export function gradeOf({ verdict, by, judge }) {
  if (verdict === "unverified" && judge?.says === "supported") return "checked";
  return verdict === "supported" && by !== "judge" ? "quoted" : verdict;
}

/** Give a claim's mark; one of an earlier release has none of its own. @param {Pick<Claim, "citations" | "verdict" | "mark">} claim */
export function markOf({ citations, verdict, mark = "shown" }) {
  if (mark === "pending") return mark;
  const failed = verdict === "contradicted" || verdict === "unsupported";
  return failed || !citations.length ? "withheld" : mark;
}

/**
 * Tell apart in counts by verdict what is only quoted.
 * @param {Partial<Record<Wire.Verdict, number>>} counts
 * @param {number} quoted As many as are known to be.
 * @returns {Partial<Record<Grade, number>>}
 */
export function gradesIn(counts, quoted) {
  const all = counts.supported ?? 0;
  const own = Math.min(all, quoted);
  return { ...counts, supported: all - own, quoted: own };
}
