/** What a step has done, in plain words. */

import { words } from "../words/index.js";
import { counts } from "./counting.js";
import { gradesIn } from "./grades.js";
import { advice, said } from "../words/problems.js";
import { sayFallback, sayReason, sayReasons } from "./reasons.js";

/** @typedef {{text: string, grave: boolean}} Note `grave` where something went another way than it should. */
/** @typedef {{line: string, notes: Note[], failed: boolean}} Telling `failed` where the run went on without the step. */
/** @typedef {{steps: Step[], at: number, question: string}} Place Where a step stands in its run. */

const LONGEST = 160; // characters of a query or an address

/**
 * Tell what a step has done so far; one that has told nothing is named by what it does.
 * @param {Step[]} steps
 * @param {number} at Which of them.
 * @param {string} question As the run was asked.
 */
export function tellStep(steps, at, question) {
  const step = /** @type {Step} */ (steps[at]);
  const tell = Object.hasOwn(TELLERS, step.name) && TELLERS[/** @type {keyof typeof TELLERS} */ (step.name)];
  const { line, notes = [], failed = false } = tell ? tell(step, { steps, at, question }) : { line: "" };
  const going = words.run.doing[/** @type {keyof typeof words.run.doing} */ (step.name)] ?? step.name;
  const named = words.run.nodes[/** @type {keyof typeof words.run.nodes} */ (step.name)] ?? step.name;
  const told = [...notes, ...step.told.flatMap((event) => aside(event, failed))];
  return { line: line || (step.ms === null ? going : named), notes: told, failed };
}

/** @typedef {{line: string, notes?: Note[], failed?: boolean}} Told */

/** @type {Record<keyof import("../words/index.js").Words["run"]["nodes"], (step: Step, place: Place) => Told>} */
const TELLERS = {
  decide_retrieval(step, { question }) {
    const decided = only(step, "retrieval_decided");
    if (!decided) return { line: "" };
    const { told } = words.run;
    const asked = decided.standalone_question;
    const notes = asked && asked !== question ? [note(told.understood({ question: short(asked) }))] : [];
    if (decided.reason) notes.push(note(sayReason(decided.why, decided.reason)));
    if (decided.intent === "small_talk") return { line: told.talk, notes };
    if (decided.intent === "about_library") return { line: told.catalogue, notes };
    return { line: decided.needs_retrieval ? told.search : told.directly, notes };
  },

  load_selected_pages(step) {
    const loaded = only(step, "pages_loaded");
    if (!loaded) return { line: "" };
    const { told } = words.run;
    const { used, cut, unused } = loaded;
    const parts = [cut.length ? told.partly({ count: cut.length }) : "", unused.length ? told.unread({ count: unused.length }) : ""].filter(Boolean);
    const whole = used.length + cut.length + unused.length ? told.pages({ count: used.length + cut.length }) : told.passage;
    const notes = cut.map((page) => note(told.part({ title: page.title, read: page.segments, of: page.of })));
    const found = all(step, "sources_found");
    if (found.length) notes.push(note(told.within({ count: together(found) })));
    return { line: parts.length ? `${whole} (${listed(parts)})` : whole, notes };
  },

  search_segments: (step, place) => searched(step, place, words.run.told.library),
  search_web: (step, place) => searched(step, place, words.run.told.web),
  search_mcp: (step, place) => searched(step, place, words.run.told.servers),

  grade_segments(step, { steps, at }) {
    const graded = only(step, "sources_graded");
    if (!graded) return { line: "" };
    const { told } = words.run;
    const { kept, of } = counts(steps.slice(0, at + 1)).lastSifted;
    /** @type {Map<string, number>} */
    const reasons = new Map();
    for (const { reason, why } of graded.dropped) {
      const text = sayReason(why, reason);
      reasons.set(text, (reasons.get(text) ?? 0) + 1);
    }
    return {
      line: told.kept({ kept, of }),
      notes: [...reasons].map(([reason, count]) => note(told.dropped({ count, reason }))),
    };
  },

  rewrite_query(step, place) {
    const rewritten = only(step, "query_rewritten");
    const { told } = words.run;
    if (!rewritten) return { line: step.ms === null ? "" : told.nothingElse };
    if (repairs(place)) return { line: told.again({ query: short(rewritten.query) }) };
    return { line: told.reworded({ query: short(rewritten.query) }), notes: rewritten.reason ? [note(sayReason(rewritten.why, rewritten.reason))] : [] };
  },

  generate_answer(step, place) {
    const { told } = words.run;
    const written = all(step, "section_finished");
    const madeUp = written.reduce((sum, section) => sum + section.unknown_ids, 0);
    const notes = madeUp ? [note(told.madeUp({ count: madeUp }), true)] : [];
    const going = written.length ? [note(told.wrote({ count: written.length })), ...notes] : notes;
    if (step.ms === null) return { line: "", notes: going };
    if (written.length) return { line: told.wrote({ count: written.length }), notes };
    return { line: repairs(place) ? told.wroteAgain : told.wroteNothing, notes };
  },

  check_claims(step, place) {
    const { told } = words.run;
    const { repaired, withdrew } = counts([step]);
    const parts = [];
    // The first check of a section happens while the answer is being written.
    const { claims, verdicts } = counts(repairs(place) ? [step] : place.steps.slice(0, place.at + 1));
    if (claims || (!repairs(place) && step.ms !== null)) {
      const counted = countedBy(Object.fromEntries(verdicts));
      parts.push(counted.length ? words.run.colon({ said: told.checked({ count: claims }), more: listed(counted) }) : told.checked({ count: claims }));
    }
    if (repaired) parts.push(told.repaired({ count: repaired }));
    if (withdrew) parts.push(told.withdrew({ count: withdrew }));
    if (!repaired && repairs(place) && step.ms !== null) parts.push(told.unmended);
    return { line: parts[0] ?? "", notes: parts.slice(1).map((part) => note(part)) };
  },

  assess_quality(step, { steps, at }) {
    const assessed = only(step, "answer_assessed");
    if (!assessed) return { line: "" };
    const { line, more } = assessment(assessed, counts(steps.slice(0, at + 1)).verdicts.get("quoted") ?? 0);
    return { line: words.run.told.assessed({ said: line }), notes: more.map((each) => note(each)) };
  },

  answer_directly(step) {
    const { told } = words.run;
    const said = only(step, "sources_graded") ? told.listed : told.replied;
    return { line: all(step, "section_finished").length ? said : "" };
  },
  abstain: (step) => ({ line: all(step, "section_finished").length ? words.run.told.abstained : "" }),
};

/** @param {Step} step @param {Place} place @param {(values: {count: number}) => string} say @returns {Told} */
function searched(step, { steps, at, question }, say) {
  const { told } = words.run;
  const [found, hindered] = [all(step, "sources_found"), only(step, "search_failed")];
  if (!found.length) return { line: hindered ? failure(hindered) : "", failed: hindered !== undefined };
  const known = [
    question,
    ...steps.slice(0, at).flatMap((before) => all(before, "query_rewritten").map((each) => each.query)),
  ];
  const other = found.filter(({ query }) => !known.includes(query)).map(({ query }) => note(told.query({ query: short(query) })));
  const also = [...new Set(found.flatMap((each) => each.also_searched ?? []))];
  const instead = also.length ? [note(told.also({ words: listed(also) }))] : [];
  return { line: say({ count: together(found) }), notes: [...other, ...instead] };
}

/** Count what searches in several wordings found: each tells only what it found best. @param {{count: number}[]} found */
function together(found) {
  return found.reduce((sum, { count }) => sum + count, 0);
}

/**
 * Tell what may be told of any step: what failed, what was left out, what was done instead.
 * @param {RunEvent} event
 * @param {boolean} failed Whether its line says already that it failed.
 * @returns {Note[]}
 */
function aside(event, failed) {
  const { told } = words.run;
  const notes = [];
  if (event.type === "search_failed") {
    const why = [said(event), advice({ code: event.code })].filter(Boolean).join(" ");
    notes.push(note(failed ? why : sentence(failure(event), why), true));
  }
  if (event.type === "sources_found" && event.degraded) notes.push(note(sayReason(event.why, event.degraded), true));
  if (event.type === "sources_disagree") notes.push(note(told.disagree({ reason: disagreement(event) }), true));
  if (event.type === "content_removed") {
    const said = event.kind === "image" ? told.removed.image : told.removed.link;
    notes.push(note(sentence(said, short(event.target)), true));
  }
  if ("fallback" in event && event.fallback) {
    notes.push(note(sayFallback(event.fallback), true));
  }
  return notes.filter((each) => each.text);
}

/** Say what could not be searched. @param {Extract<RunEvent, {type: "search_failed"}>} event */
function failure({ kind, servers }) {
  return words.run.told.failed[servers?.length ? "servers" : kind];
}

/** Whether a step takes part in repairing what was written. @param {Place} place */
function repairs({ steps, at }) {
  return steps.slice(0, at).some((step) => step.name === "check_claims");
}

/** @param {string} text @param {boolean} [grave] */
function note(text, grave = false) {
  return { text, grave };
}

/** @param {string} said @param {string} detail */
function sentence(said, detail) {
  return detail ? words.run.colon({ said, more: detail }) : said;
}

/** @param {string[]} parts */
function listed(parts) {
  return parts.join(words.answer.worth.comma);
}

/** @param {string} text */
function short(text) {
  const characters = [...text];
  return characters.length > LONGEST ? `${characters.slice(0, LONGEST).join("")}…` : text;
}

/**
 * @template {RunEvent["type"]} Type
 * @param {Step} step
 * @param {Type} type
 */
function all(step, type) {
  return /** @type {Extract<RunEvent, {type: Type}>[]} */ (step.told.filter((event) => event.type === type));
}

/**
 * @template {RunEvent["type"]} Type
 * @param {Step} step
 * @param {Type} type
 */
function only(step, type) {
  return all(step, type).at(-1);
}

/** Say what sources contradict each other in: each value that is known, or else the reason. @param {{reason: string, positions?: Wire.Position[]}} event */
function disagreement({ reason, positions = [] }) {
  const values = positions.map(({ value }) => value).filter(Boolean);
  return values.length > 1 ? values.map((value) => `“${value}”`).join(" · ") : (positions.length ? words.run.told.denied : reason);
}

/**
 * Say what an assessment found: in a line, and besides how many statements are what, or that there was nothing to check.
 * @param {Pick<Wire.Assessment, "supported" | "claims" | "reason" | "why">} assessed
 * @param {number} quoted Statements that are.
 */
export function assessment({ supported, claims, reason, why }, quoted) {
  const { told } = words.run;
  const grades = gradesIn(claims, quoted);
  const line = !supported ? told.unsupported : grades.supported || !grades.quoted ? told.supported : told.quoted;
  const counted = countedBy(grades);
  return { line, more: counted.length ? [listed(counted)] : sayReasons(why, reason ? [reason] : []).map((each) => each.text) };
}

/** Count statements in words. @param {Partial<Record<import("./grades.js").Grade, number>>} grades */
function countedBy(grades) {
  const { told } = words.run;
  return Object.entries(told.verdicts).flatMap(([grade, word]) => {
    const count = grades[/** @type {import("./grades.js").Grade} */ (grade)];
    return count ? [told.counted({ count, verdict: word })] : [];
  });
}
