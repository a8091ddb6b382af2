/** A run in one line: what it is doing now, or what it came to. */

import { words } from "../words/index.js";
import { counts } from "./counting.js";

/** What making the title and embedding the question took is in the account, though no step, and outside the budget. */
export const ASIDE = /** @type {const} */ (["title", "embed"]);

/** Say what a run that goes on is doing. @param {RunView} run */
export function doingNow(run) {
  if (run.status === "queued") return run.position ? words.run.waiting({ place: run.position }) : words.run.asking;
  const names = run.steps.filter((step) => step.ms === null).map((step) => step.name);
  const doing = [...new Set(names)].map((name) => words.run.doing[/** @type {keyof typeof words.run.doing} */ (name)] ?? name);
  return doing.join(" ") || words.run.working;
}

/**
 * Say what a run came to; where its events are not known, what was stored of it.
 * @param {Turn} turn
 * @param {RunView | null} run
 */
export function summaryOf(turn, run) {
  const { summary } = words.run;
  const parts = run?.steps.length ? ofSteps(run) : ofAnswer(turn);
  const outcome = turn.answer?.outcome ?? run?.answer.outcome ?? null;
  if (outcome === "abstained") parts.push(summary.abstained);
  else if (outcome === "cancelled") parts.push(summary.cancelled);
  else if (outcome === "failed") parts.push(summary.failed);
  else if (!turn.answer) parts.push(summary.unanswered);
  return capital(parts.join(" · "));
}

/** Begin with a capital letter. @param {string} line */
export function capital(line) {
  return line.charAt(0).toLocaleUpperCase() + line.slice(1);
}

/** @param {RunView} run */
function ofSteps(run) {
  const { summary } = words.run;
  const { searched, asked, read, sifted, claims, repaired, withdrew, fallbacks } = counts(run.steps);
  return [
    run.steps.some((step) => step.name === "answer_directly") && run.answer.outcome === "answered" && summary.replied,
    searched && summary.searched,
    asked && summary.web,
    read > 0 && summary.read({ count: read }),
    sifted.of > 0 && summary.kept({ kept: sifted.kept, of: sifted.of }),
    claims > 0 && summary.checked({ count: claims }),
    repaired > 0 && summary.repaired({ count: repaired }),
    withdrew > 0 && summary.withdrew({ count: withdrew }),
    fallbacks > 0 && summary.fallbacks({ count: fallbacks }),
  ].filter((part) => part !== false);
}

/** @param {Turn} turn */
function ofAnswer({ answer }) {
  if (!answer) return [];
  const { summary } = words.run;
  const direct = answer.stopReason === "no_retrieval_needed";
  return [
    direct && summary.replied,
    answer.sources.length > 0 && summary.sources({ count: answer.sources.length }),
  ].filter((part) => part !== false);
}

/** Add up what a run took, leaving out what lies outside its budget. @param {Record<string, Spent>} spent */
export function total(spent) {
  const sum = { calls: 0, tokens: 0, ms: 0 };
  for (const [name, each] of Object.entries(spent)) {
    if (ASIDE.some((aside) => aside === name)) continue;
    sum.calls += each.calls;
    sum.tokens += each.tokens;
    sum.ms += each.ms;
  }
  return sum;
}

/**
 * Give the milliseconds that a run took from its start to its end, or to now; null where nobody knows.
 * @param {Turn} turn
 * @param {RunView | null} run
 * @param {number} now
 */
export function took(turn, run, now) {
  if (run?.startedAt && (run.status !== "finished" || run.endedAt)) {
    const until = run.status === "finished" ? Date.parse(run.endedAt) : now;
    return Math.max(0, until - Date.parse(run.startedAt));
  }
  return total(turn.spent).ms || null;
}
