/** A session as its turns: each question with its answer, in the order in which they are shown. */

import { answerOf } from "./run.js";

/** @typedef {import("../api/types.js").SessionMessage} SessionMessage */

/**
 * @typedef {object} Turn
 * @property {string} key Of the run, so that a turn stays the same from its first event on.
 * @property {string} question
 * @property {string | null} questionId Null until the run has ended.
 * @property {string[]} questionVersions Ids of all questions in this one's place, or none.
 * @property {string[]} pageIds
 * @property {string | null} selectedText
 * @property {import("./run.js").Answer | null} answer
 * @property {string | null} answerId
 * @property {string[]} answerVersions
 * @property {string} askedAt
 * @property {Record<string, import("../api/types.js").Spent>} spent
 * @property {import("./run.js").RunView | null} run Where its events are known.
 */

/**
 * Pair the messages of a branch. A question whose run failed has no answer.
 * @param {SessionMessage[]} messages
 * @returns {Turn[]}
 */
export function turnsOf(messages) {
  /** @type {Turn[]} */
  const turns = [];
  for (const message of messages) {
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
    turn.spent = message.spent;
    turn.key = message.run_id ?? turn.key;
  }
  return turns;
}

/** @param {SessionMessage} message @returns {Turn} */
function asked(message) {
  return {
    key: message.run_id ?? message.message_id,
    question: message.content,
    questionId: message.message_id,
    questionVersions: message.versions,
    pageIds: message.page_ids,
    selectedText: message.selected_text,
    answer: null,
    answerId: null,
    answerVersions: [],
    askedAt: message.created_at,
    spent: {},
    run: null,
  };
}

/** An answer whose question is on an earlier page of the history. @param {SessionMessage} message @returns {Turn} */
function orphan(message) {
  return { ...asked(message), question: "", questionId: message.parent_message_id };
}

/**
 * Make the turn of a run that goes on.
 * @param {import("./run.js").RunView} run
 * @param {Partial<Turn>} [known]
 * @returns {Turn}
 */
export function liveTurn(run, known = {}) {
  return {
    key: run.runId,
    question: run.question,
    questionId: null,
    questionVersions: [],
    pageIds: [],
    selectedText: null,
    answer: run.answer,
    answerId: null,
    answerVersions: [],
    askedAt: run.startedAt,
    spent: run.spent,
    run,
    ...known,
  };
}
