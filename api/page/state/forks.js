/** Which turn a run takes the place of, for as long as it goes on: the server tells that at the run's end only. */

const KEPT = "citewell.forks";
const MOST = 20;

/** Keeps the forks of this tab over a reload. */
export class Forks {
  constructor() {
    /** Keys of turns, by the runs that take their places. @type {Map<string, string>} */
    this.turns = new Map(kept());
  }

  /** @param {string} runId @param {string | null} turn */
  note(runId, turn) {
    if (!turn) return;
    this.turns.set(runId, turn);
    this.keep();
  }

  /** @param {string} runId */
  of(runId) {
    return this.turns.get(runId) ?? null;
  }

  /** @param {string} runId */
  drop(runId) {
    if (this.turns.delete(runId)) this.keep();
  }

  keep() {
    sessionStorage.setItem(KEPT, JSON.stringify([...this.turns].slice(-MOST)));
  }
}

/** @returns {[string, string][]} */
function kept() {
  try {
    const found = JSON.parse(sessionStorage.getItem(KEPT) ?? "[]");
    return Array.isArray(found) ? found.filter((each) => Array.isArray(each) && each.length === 2) : [];
  } catch {
    return [];
  }
}
