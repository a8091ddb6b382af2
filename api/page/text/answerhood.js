/** Whether what is shown answers the question: what a reader is told first, and no matter of proof. */

/** @typedef {"answers" | "may_answer" | "nearest"} Answerhood */

/** From which chance on each is said. @type {[Answerhood, number][]} */
const LEAST = [["answers", 0.75], ["may_answer", 0.4], ["nearest", 0]];

/** Name a chance that something answers. @param {number} chance In [0, 1]. */
export function answerhoodOf(chance) {
  return LEAST.find(([, least]) => chance >= least)?.[0] ?? "nearest";
}
