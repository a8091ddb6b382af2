/**
 * A run as it can be shown: its events folded into one value.
 *
 * Folding never changes what it was given; what is still the same object has not changed, so a view compares by `===`.
 */

import { asSeen, foldSection, noSections } from "./sections.js";

/**
 * A step that the run took. One that is taken again, as in a repair, is there again.
 * @typedef {object} Step
 * @property {string} name
 * @property {number | null} ms Null while it goes on.
 * @property {RunEvent[]} told What it told while it went on, but for text and thinking.
 */

/** An answer, whether it is being written or was stored. @typedef {ReturnType<typeof noAnswer>} Answer */
/** @typedef {ReturnType<typeof newRun>} RunView */

/** What a message says of its answer, of a run that has ended or a stored one; of this, what it lacks is null.
 * @typedef {Pick<Wire.Message, "sections" | "sources"> & {
 *   [Name in "nearest" | "claims" | "disagreements" | "assessment" | "refusal" | "pages" | "family"]?: Wire.Message[Name] | null
 * } & {outcome: Outcome | null, stop_reason: string | null}} AnswerOfMessage */

function noAnswer() {
  return {
    sections: noSections(),
    sources: /** @type {Source[]} */ ([]),
    nearest: /** @type {Source[]} */ ([]), // what came nearest, where the run abstained
    disagreements: /** @type {Wire.Disagreement[]} */ ([]),
    assessment: /** @type {Wire.Assessment | null} */ (null),
    refusal: /** @type {Wire.Refusal | null} */ (null), // what it says where it abstained, in parts
    pages: /** @type {Wire.PagesRead | null} */ (null), // what was read of the selected documents
    family: "",
    outcome: /** @type {Outcome | null} */ (null), // null while it is being written
    stopReason: /** @type {string | null} */ (null),
  };
}

/** Make a run of which nothing is told yet. @param {string} runId @param {string} [question] */
export function newRun(runId, question = "") {
  return {
    runId,
    status: /** @type {"queued" | "running" | "finished"} */ ("queued"),
    position: 0, // in the line, from 1, while it waits
    attempt: 1, // from 1
    question,
    model: "",
    budget: /** @type {Wire.BudgetCaps | null} */ (null),
    startedAt: "",
    endedAt: "",
    steps: /** @type {Step[]} */ ([]), // in the order in which they began
    thinking: "",
    title: "", // of the session, where the run gave it one
    answer: noAnswer(),
    spent: /** @type {Record<string, Spent>} */ ({}),
    cost: /** @type {Cost | null} */ (null),
    failure: /** @type {(RunEvent & {type: "run_failed"}) | null} */ (null),
    seq: 0, // of the last event
  };
}

/**
 * Fold the next event into a run. One that was folded already, or of a kind that is not known, changes nothing.
 * @param {RunView} run
 * @param {RunEvent} event
 * @returns {RunView}
 */
export function fold(run, event) {
  if (event.seq <= run.seq) return run;
  return { ...withEvent(run, event), runId: event.run_id, seq: event.seq };
}

/** @param {RunView} run @param {RunEvent} event @returns {RunView} */
function withEvent(run, event) {
  switch (event.type) {
    case "queued":
      return { ...run, status: "queued", position: event.position };
    case "run_started": {
      const { question, model, budget, at: startedAt } = event;
      const answer = { ...run.answer, family: event.family };
      return { ...run, status: "running", question, model, budget, startedAt, answer };
    }
    case "run_resumed":
      return resumed(run, event);
    case "step_started":
      return { ...run, steps: [...run.steps, { name: event.step, ms: null, told: [] }] };
    case "step_finished":
      return { ...run, steps: finish(run.steps, event.step, event.ms) };
    case "thinking_delta":
      return { ...run, thinking: run.thinking + event.delta };
    case "title_changed":
      return { ...run, title: event.title };
    case "run_finished":
      return finished(run, event);
    case "run_failed":
      return { ...run, status: "finished", endedAt: event.at, failure: event, answer: { ...run.answer, outcome: "failed" } };
    default:
      return during(run, event);
  }
}

/** What a step tells. @param {RunView} run @param {RunEvent} event @returns {RunView} */
function during(run, event) {
  const sections = foldSection(run.answer.sections, event);
  const answer = sections === run.answer.sections ? run.answer : { ...run.answer, sections };
  if (event.type === "text_delta" || (event.type === "section_started" && !event.fallback)) return { ...run, answer };
  const noted = { ...run, answer, steps: note(run.steps, event) };
  switch (event.type) {
    case "sources_graded":
      return { ...noted, answer: { ...answer, sources: event.sources } };
    case "pages_loaded": {
      const { used, cut, unused } = event;
      return { ...noted, answer: { ...answer, pages: { used, cut, unused } } };
    }
    case "sources_disagree": {
      const { segment_ids, reason, positions } = event;
      const others = answer.disagreements.filter((each) => String(each.segment_ids) !== String(segment_ids));
      return { ...noted, answer: { ...answer, disagreements: [...others, { segment_ids, reason, positions }] } };
    }
    case "answer_assessed": {
      const { supported, utility, claims, reason, why, model_score, answerhood } = event;
      const assessment = { supported, utility, claims, reason, why, model_score, answerhood };
      return { ...noted, answer: { ...answer, assessment } };
    }
    default:
      return noted;
  }
}

/** The steps during which an event comes, by its type. @type {Record<string, string[]>} */
const STEPS_OF = {
  retrieval_decided: ["decide_retrieval"],
  pages_loaded: ["load_selected_pages"],
  sources_graded: ["grade_segments", "answer_directly"],
  query_rewritten: ["rewrite_query"],
  section_finished: ["generate_answer", "answer_directly", "abstain"],
  content_removed: ["generate_answer", "answer_directly"],
  section_checked: ["check_claims", "generate_answer"],
  sources_disagree: ["check_claims"],
  section_revised: ["check_claims", "generate_answer"],
  answer_assessed: ["assess_quality"],
};
const SEARCHES = { page: "load_selected_pages", search: "search_segments", web: "search_web" };

/**
 * Note an event with the step that tells of it; steps that go on side by side each have their own.
 * @param {Step[]} steps
 * @param {RunEvent} event
 */
function note(steps, event) {
  const searched = event.type === "sources_found" || event.type === "search_failed";
  const names = searched ? [event.servers?.length ? "search_mcp" : SEARCHES[event.kind]] : Object.hasOwn(STEPS_OF, event.type) && STEPS_OF[event.type];
  if (!names) return steps;
  let at = steps.findLastIndex((step) => step.ms === null && names.includes(step.name));
  if (at < 0) at = steps.findLastIndex((step) => step.ms === null);
  if (at < 0) at = steps.length - 1;
  return steps.map((step, index) => (index === at ? { ...step, told: [...step.told, event] } : step));
}

/** @param {Step[]} steps @param {string} name @param {number} ms */
function finish(steps, name, ms) {
  const at = steps.findLastIndex((step) => step.name === name && step.ms === null);
  return steps.map((step, index) => (index === at ? { ...step, ms } : step));
}

/**
 * Drop what is void: sections that do not stand, steps that did not end, the thinking of the step.
 * @param {RunView} run
 * @param {RunEvent & {type: "run_resumed"}} event
 * @returns {RunView}
 */
function resumed(run, event) {
  const sections = run.answer.sections.map((section, index) =>
    event.sections.includes(index) ? section : noSections(1)[0],
  );
  const steps = run.steps.filter((step) => step.ms !== null);
  // A step that is taken again tells its disagreements again.
  const disagreements = steps
    .flatMap((step) => step.told)
    .flatMap((each) => (each.type === "sources_disagree" ? [{ segment_ids: each.segment_ids, reason: each.reason, positions: each.positions }] : []));
  const answer = { ...run.answer, sections: /** @type {SectionView[]} */ (sections), disagreements };
  return { ...run, status: "running", attempt: event.attempt, thinking: "", steps, answer };
}

/** @param {RunView} run @param {RunEvent & {type: "run_finished"}} event @returns {RunView} */
function finished(run, event) {
  const { message, outcome, stop_reason: stopReason, spent, cost } = event;
  const answer = answerOf({ ...message, outcome, stop_reason: stopReason }, run.answer.sections);
  answer.family ||= run.answer.family;
  return { ...run, status: "finished", endedAt: event.at, spent, cost, answer };
}

/**
 * Make an answer of what a finished message says, keeping what only the run could tell: how a section read before.
 * @param {AnswerOfMessage} message
 * @param {SectionView[]} [seen]
 */
export function answerOf(message, seen = []) {
  const sections = message.sections.map(({ text, source_ids: sourceIds, grounded = true }, index) => {
    const claims = (message.claims ?? []).filter((claim) => claim.section_index === index);
    return { text, sourceIds, claims: claims.length ? claims : null, grounded, done: true, before: null, moved: false, removed: [] };
  });
  return {
    sections: asSeen(sections, seen),
    sources: message.sources,
    nearest: message.nearest ?? [],
    disagreements: message.disagreements ?? [],
    assessment: message.assessment ?? null,
    refusal: message.refusal ?? null,
    pages: message.pages ?? null,
    family: message.family ?? "",
    outcome: message.outcome,
    stopReason: message.stop_reason,
  };
}
