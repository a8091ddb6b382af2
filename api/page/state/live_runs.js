/** Runs that go on, beside what is stored. */

import { newRun } from "./run.js";
import { liveTurn, SENDING } from "./turns.js";

/**
 * Called when a question was asked here, when a run ended, when a session got its title, when it proves to be gone, and
 * when a question was refused whose session was left meanwhile. `ended` tells whether its answer could be taken up.
 * @typedef {{asked: (sessionId: string, runId: string, from: string | null) => void, ended: (sessionId: string) => Promise<boolean>,
 *   titled: (sessionId: string, title: string) => void, gone: (sessionId: string) => void, refused: (error: unknown) => void}} Tell
 */
/** A run that goes on, with what is known of its turn; it takes the place of the stored turns from `from` on.
 * @typedef {{run: RunView, known: Partial<Turn>, from: string | null, unwanted?: boolean}} LiveRun
 *   `unwanted`: to be stopped as soon as its id is known. */

/** A question that was not asked; `again` is null where no retry helps.
 * @typedef {{problem: import("../api/problem.js").Problem, again: (() => void) | null,
 *   ask: NewRun | null}} Failure */

const KEPT = "citewell.forks";
const MOST = 20;

let sent = 0;

/**
 * Make the run of a question that is being sent, with what is known before it tells anything.
 * @param {NewRun} ask
 * @param {Turn[]} stored
 * @returns {LiveRun}
 */
export function sendingLive(ask, stored) {
  const from = ask.edit ?? ask.regenerate ?? null;
  const replaced = stored.find((turn) => from && (turn.questionId === from || turn.answerId === from));
  const question = ask.question ?? replaced?.question ?? "";
  const known = {
    question,
    pageIds: ask.page_ids ?? replaced?.pageIds ?? [],
    collectionIds: ask.collection_ids ?? replaced?.collectionIds ?? [],
    selectedText: ask.selected_text ?? (ask.regenerate && replaced?.selectedText) ?? null,
  };
  return { run: newRun(`${SENDING} ${(sent += 1)}`, question), known, from: replaced?.key ?? null };
}

/**
 * Give the turns to show: those that are stored, and behind them those of runs that are not.
 * @param {Turn[]} stored
 * @param {Map<string, LiveRun>} liveRuns
 * @param {Map<string, string>} views Keys of views that were there before their runs told their ids.
 */
export function turnsWith(stored, liveRuns, views) {
  const keys = new Map(stored.map((turn, at) => [turn.key, at]));
  const going = [...liveRuns].filter(([key]) => !keys.has(key)).map(([, live]) => live);
  const cut = going.map((live) => keys.get(live.from ?? "")).find((at) => at !== undefined);
  const turns = going.map(({ run, known }) => liveTurn(run, { ...known, view: views.get(run.runId) ?? run.runId }));
  return [...stored.slice(0, cut), ...turns];
}

/**
 * Find the run of a question of which nobody knows whether it has arrived. It is newer than all that were known before.
 * @param {Client} client
 * @param {string} sessionId
 * @param {string} question
 * @param {ReadonlySet<string>} known
 */
export async function findArrived(client, sessionId, question, known) {
  const runs = await client.runs(sessionId);
  const oldest = runs.findIndex((run) => known.has(run.run_id));
  return runs.slice(0, oldest < 0 ? undefined : oldest).find((run) => run.question === question);
}

/** Knows which turn a run takes the place of, also after a reload: the server tells that at the run's end only. */
export class Forks {
  constructor() {
    /** Keys of turns, by the runs that take their places. @type {Map<string, string>} */
    this.turns = new Map(JSON.parse(sessionStorage.getItem(KEPT) ?? "[]"));
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
