/** A session as its turns: each question with its answer, in the order in which they are shown. */

import { answerOf } from "./run.js";
import { asSeen } from "./sections.js";

/** @typedef {ReturnType<typeof blank>} Turn */

export const SENDING = "sending"; // begins the key of a turn whose run has not told its id yet

/** Tell whether a run goes on. @param {RunView | null} run */
export function isLive(run) {
  return run !== null && run.status !== "finished";
}

/** Tell whether a run has not told its id yet. @param {RunView | null} run */
export function isSending(run) {
  return run !== null && run.runId.startsWith(SENDING);
}

/** Pair the messages of a branch. A question whose run failed has no answer. @param {Wire.SessionMessage[]} messages */
export function turnsOf(messages) {
  /** @type {Turn[]} */
  const turns = [];
  for (const message of messages) {
    if (message.answering) continue; // its run is joined
    if (message.role === "user") {
      turns.push(asked(message));
      continue;
    }
    const last = turns.at(-1);
    const turn = last && last.answerId === null ? last : orphan(message);
    if (turn !== last) turns.push(turn);
    turn.answer = answerOf(message);
    turn.answerId = message.message_id;
    turn.answerVersions = message.versions;
    turn.feedback = message.feedback ?? null;
    turn.spent = message.spent;
    turn.cost = message.cost ?? null;
    turn.view = turn.key = message.run_id ?? turn.key;
  }
  return turns;
}

/** Make a turn of which nothing else is known yet. @param {string} key @param {string} question */
function blank(key, question) {
  return {
    key, // of the run, so that a turn stays the same from its first event on
    view: key, // of its view, which is there before the run has told its id, and stays
    question,
    questionId: /** @type {string | null} */ (null), // null until the run has ended
    questionVersions: /** @type {string[]} */ ([]), // ids of all questions in this one's place, or none
    pageIds: /** @type {string[]} */ ([]), // with those of its collections
    collectionIds: /** @type {string[]} */ ([]),
    collectedIds: /** @type {string[]} */ ([]), // those of the pages that its collections held
    selectedText: /** @type {string | null} */ (null),
    answer: /** @type {Answer | null} */ (null),
    answerId: /** @type {string | null} */ (null),
    answerVersions: /** @type {string[]} */ ([]),
    feedback: /** @type {Feedback | null} */ (null), // what the reader said of the answer
    askedAt: "",
    spent: /** @type {Record<string, Spent>} */ ({}),
    cost: /** @type {Cost | null} */ (null),
    run: /** @type {RunView | null} */ (null), // where its events are known
  };
}

/** What a later release added is not in every copy that was kept. @param {Wire.SessionMessage} message @returns {Turn} */
function asked(message) {
  return {
    ...blank(message.run_id ?? message.message_id, message.content),
    questionId: message.message_id,
    questionVersions: message.versions,
    pageIds: message.page_ids,
    collectionIds: message.collection_ids ?? [],
    collectedIds: message.collected_ids ?? [],
    selectedText: message.selected_text ?? null,
    askedAt: message.created_at,
  };
}

/** An answer whose question is on an earlier page of the history. @param {Wire.SessionMessage} message @returns {Turn} */
function orphan(message) {
  return { ...asked(message), question: "", questionId: message.parent_message_id };
}

/** Make the turn of a run that goes on. @param {RunView} run @param {Partial<Turn>} [known] */
export function liveTurn(run, known = {}) {
  const { answer, startedAt: askedAt, spent, cost } = run;
  return { ...blank(run.runId, run.question), answer, askedAt, spent, cost, run, ...known };
}

/** Keep with a stored turn what only the events of its run told. @param {Turn} turn @param {RunView | undefined} run */
export function withRun(turn, run) {
  if (!run) return turn;
  const answer = turn.answer && { ...turn.answer, sections: asSeen(turn.answer.sections, run.answer.sections) };
  return { ...turn, run, answer };
}

/**
 * Put earlier turns before later ones. A page of the history may begin between a question and its answer.
 * @param {Turn[]} earlier
 * @param {Turn[]} later
 */
export function joined(earlier, later) {
  const [question, answer] = [earlier.at(-1), later[0]];
  const cut = question?.answerId === null && answer?.question === "" && answer.questionId === question.questionId;
  if (!cut) return [...earlier, ...later];
  const { key, view, answerId, answerVersions, feedback, spent, cost, run } = answer;
  return [
    ...earlier.slice(0, -1),
    { ...question, key, view, answer: answer.answer, answerId, answerVersions, feedback, spent, cost, run },
    ...later.slice(1),
  ];
}

/**
 * Put turns that were read anew in the place of what was there before, keeping the very object of each in which nothing
 * has changed, and the earlier ones: what comes before the same message is the same.
 * @param {Turn[]} read The newest of the branch.
 * @param {Turn[]} before
 * @returns {{turns: Turn[], known: boolean}} `known` where earlier ones were kept.
 */
export function readAnew(read, before) {
  const old = new Map(before.map((turn) => [turn.key, turn]));
  const turns = read.map((turn) => {
    const same = old.get(turn.key);
    return same && trace(same) === trace(turn) ? same : turn;
  });
  const [first] = turns;
  const at = before.findIndex((turn) => turn.key === first?.key);
  if (first && !first.question && at >= 0) turns[0] = before[at] ?? first; // the page begins behind its question
  return { turns: [...before.slice(0, Math.max(at, 0)), ...turns], known: at > 0 };
}

/**
 * Write down all of a stored turn that can change: a message never does, but there may be others in its place.
 * @param {Turn} turn
 */
function trace({ questionId, answerId, questionVersions, answerVersions, feedback, run, answer }) {
  const claims = (answer?.sections ?? []).flatMap((section) => section.claims ?? []);
  const citations = claims.flatMap((claim) => claim.citations);
  const quotes = citations.map(({ freshness, now }) => [freshness, now?.segment_index, now?.start]);
  return JSON.stringify([questionId, answerId, questionVersions, answerVersions, feedback?.changed_at, run?.seq, quotes]);
}
