/** What a reader is told of a claim: its verdict, or that it is quoted, which proves the words and not that they answer. */

/** @typedef {import("../api/types.js").Verdict} Verdict */
/** @typedef {Verdict | "quoted"} Grade */

/** Give a claim's grade: only a judge's word is told as support. @param {{verdict: Verdict, by?: "text" | "judge"}} claim @returns {Grade} */
export function gradeOf({ verdict, by }) {
  return verdict === "supported" && by !== "judge" ? "quoted" : verdict;
}

/**
 * Tell apart in counts by verdict what is only quoted.
 * @param {Partial<Record<Verdict, number>>} counts
 * @param {number} quoted As many as are known to be.
 * @returns {Partial<Record<Grade, number>>}
 */
export function gradesIn(counts, quoted) {
  const all = counts.supported ?? 0;
  const own = Math.min(all, quoted);
  return { ...counts, supported: all - own, quoted: own };
}
