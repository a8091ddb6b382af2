import assert from "node:assert/strict";
import { test } from "node:test";

import { fold, newRun } from "../../../api/page/state/run.js";
import { liveTurn } from "../../../api/page/state/turns.js";
import { doingNow, summaryOf, took, total } from "../../../api/page/text/summing.js";
import { tellStep } from "../../../api/page/text/telling.js";
import { words } from "../../../api/page/words/index.js";
import { NAMES, eventsOf } from "./golden.mjs";

const said = words.run.told;
const NO_WEB = `${words.problems.web_unavailable} ${words.suggestions.web_unavailable}`;
const QUESTION = "When does leave lapse?";
const step = (name, ...told) => ({ name, ms: 5, told });
const going = (name, ...told) => ({ name, ms: null, told });
const tell = (...steps) => tellStep(steps, steps.length - 1, QUESTION);
const line = (...steps) => tell(...steps).line;
const texts = (...steps) => tell(...steps).notes.map((note) => note.text);
const grave = (...steps) => tell(...steps).notes.filter((note) => note.grave).map((note) => note.text);

const decided = (more) => ({ type: "retrieval_decided", needs_retrieval: true, reason: "", standalone_question: QUESTION, intent: "content_query", fallback: null, ...more });
const found = (more) => ({ type: "sources_found", kind: "search", query: QUESTION, count: 10, degraded: null, ...more });
const graded = (kept, ...reasons) => ({
  type: "sources_graded",
  sources: Array.from({ length: kept }, (_, index) => ({ segment_id: `kept:${index}` })),
  dropped: reasons.map((reason, index) => ({ segment_id: `dropped:${index}`, reason })),
  fallback: null,
});
const claims = (...grades) => grades.map((grade) => (grade === "quoted" ? { verdict: "supported", by: "text" } : { verdict: grade, by: "judge" }));
const checked = (...verdicts) => ({ type: "section_checked", section_index: 0, claims: claims(...verdicts), fallback: null });
const revised = (text) => ({ type: "section_revised", section_index: 0, text, source_ids: [], claims: [] });

test("a decision, and how the question was understood", () => {
  assert.equal(line(step("decide_retrieval", decided())), "Decided to search");
  assert.deepEqual(texts(step("decide_retrieval", decided())), []);
  assert.deepEqual(texts(step("decide_retrieval", decided({ standalone_question: "Why?", reason: "a follow-up" }))), ["Understood as “Why?”", "a follow-up"]);
  assert.equal(line(step("decide_retrieval", decided({ needs_retrieval: false, intent: "small_talk" }))), said.talk);
  assert.equal(line(step("decide_retrieval", decided({ needs_retrieval: false }))), said.directly);
  assert.equal(line(going("decide_retrieval")), "Understanding the question…");
});

test("selected pages: whole, in part, and those that were not read", () => {
  const page = { document_id: "d", title: "Handbook", segments: 3, of: 10 };
  const loaded = { type: "pages_loaded", used: [page, page], cut: [page], unused: ["x"] };
  assert.equal(line(step("load_selected_pages", loaded)), `${said.pages({ count: 3 })} (${said.partly({ count: 1 })}, ${said.unread({ count: 1 })})`);
  assert.deepEqual(texts(step("load_selected_pages", loaded)), ["“Handbook”: 3 of 10 passages"]);
  const within = found({ kind: "page", count: 4 });
  assert.deepEqual(texts(step("load_selected_pages", within, { ...loaded, cut: [] })), [said.within({ count: 4 })]);
  assert.equal(line(step("load_selected_pages", { ...loaded, used: [], cut: [], unused: [] })), "Read the marked passage");
});

test("searches, what hindered them, and those that failed", () => {
  assert.equal(line(step("search_segments", found())), said.library({ count: 10 }));
  assert.deepEqual(texts(step("search_segments", found({ query: "lapse", degraded: "By words alone." }))), ["For “lapse”", "By words alone."]);
  const both = step("search_segments", found({ count: 6 }), found({ query: "lapse leave", count: 4 }));
  assert.equal(line(both), said.library({ count: 10 }));
  assert.deepEqual(texts(both), ["For “lapse leave”"]);
  assert.equal(line(step("search_web", found({ kind: "web", count: 1 }))), "Asked the web: 1 result");
  const failed = { type: "search_failed", kind: "web", code: "web_unavailable", message: "No answer." };
  assert.equal(line(step("search_web", failed)), said.failed.web);
  assert.deepEqual(grave(step("search_web", failed)), [NO_WEB]);
  assert.ok(tell(step("search_web", failed)).failed);
  const pages = step("load_selected_pages", { ...failed, kind: "page" }, { type: "pages_loaded", used: [{}], cut: [], unused: [] });
  assert.equal(line(pages), "Read 1 selected document");
  assert.deepEqual(grave(pages), [`${said.failed.page}: ${NO_WEB}`]);
});

test("what was kept is counted by round, what was left out by reason", () => {
  const first = step("grade_segments", graded(2, "weak", "weak", "other"));
  assert.equal(line(first), "Kept 2 of 5");
  assert.deepEqual(texts(first), ["2 left out: weak", "1 left out: other"]);
  assert.equal(line(first, step("grade_segments", graded(3, "weak"))), "Kept 1 of 2");
  assert.equal(line(step("grade_segments", graded(0, "weak"))), "Kept none of 1");
  assert.equal(line(step("grade_segments", graded(0))), "Nothing to sift");
});

test("another wording, and a second look for what failed", () => {
  const rewritten = { type: "query_rewritten", query: "carry over", reason: "broader", attempt: 1, fallback: null };
  assert.equal(line(step("rewrite_query", rewritten)), "Tried another wording: “carry over”");
  assert.deepEqual(texts(step("rewrite_query", rewritten)), ["broader"]);
  assert.equal(line(step("check_claims"), step("rewrite_query", rewritten)), said.again({ query: "carry over" }));
  assert.equal(line(step("rewrite_query")), said.nothingElse);
  assert.deepEqual(texts(step("rewrite_query", rewritten), step("search_segments", found({ query: "carry over" }))), []);
});

test("writing, and what was left out of it", () => {
  const written = { type: "section_finished", section_index: 0, text: "", source_ids: [], unknown_ids: 1 };
  const removed = { type: "content_removed", section_index: 0, kind: "link", target: `//${"e".repeat(300)}` };
  assert.equal(line(step("generate_answer", written, written)), "Wrote 2 sections");
  assert.deepEqual(grave(step("generate_answer", written, removed)), [
    said.madeUp({ count: 1 }),
    `${said.removed.link}: //${"e".repeat(158)}…`,
  ]);
  assert.equal(line(going("generate_answer", written)), "Writing the answer…");
  assert.deepEqual(texts(going("generate_answer", { ...written, unknown_ids: 0 })), ["Wrote 1 section"]);
  assert.equal(line(step("generate_answer")), said.wroteNothing);
  assert.equal(line(step("check_claims"), step("generate_answer")), said.wroteAgain);
});

test("checks, repairs and withdrawals", () => {
  const other = { ...checked("contradicted", "supported"), section_index: 1 };
  const check = step("check_claims", checked("supported", "supported"), other);
  assert.equal(line(check), "Checked 4 statements: 3 supported, 1 contradicted");
  const copied = checked("quoted", "quoted");
  assert.equal(line(step("check_claims", copied)), "Checked 2 statements: 2 quoted", "words are proven, not that they bear one out");
  const assessed = { type: "answer_assessed", supported: true, claims: { supported: 2 }, reason: "", why: [] };
  const told = (...told) => [line(...told), ...texts(...told)];
  assert.deepEqual(told(step("check_claims", copied), step("assess_quality", assessed)), ["Assessed: word for word in its sources", "2 quoted"]);
  assert.deepEqual(told(check, step("assess_quality", assessed)), ["Assessed: held up by its sources", "2 supported"]);
  assert.equal(line(step("check_claims", checked())), "No statement to check");
  const written = step("generate_answer", checked("unverified", "supported"), checked("supported", "supported"));
  assert.equal(line(written, step("check_claims")), "Checked 2 statements: 2 supported", "a judge's word replaces code's");
  assert.equal(line(check, step("check_claims", revised("Better."))), "Rewrote 1 section");
  const both = [check, step("check_claims", revised("Better."), revised(""))];
  assert.deepEqual([line(...both), ...texts(...both)], ["Rewrote 1 section", "Took out 1 section"]);
  assert.equal(line(check, step("check_claims")), said.unmended);
});

test("disagreements and fallbacks are never passed over", () => {
  const disagree = { type: "sources_disagree", segment_ids: ["a", "b"], reason: "25 or 30" };
  assert.deepEqual(grave(step("check_claims", checked("supported"), disagree)), ["Sources disagree: 25 or 30"]);
  const fallback = { code: "of_a_plugin", message: "Kept by score.", suggestion: "Ask again." };
  for (const name of ["decide_retrieval", "grade_segments", "rewrite_query", "check_claims", "assess_quality", "abstain", "unheard_of"]) {
    assert.deepEqual(grave(step(name, { type: "section_started", section_index: 0, fallback })), ["Kept by score. Ask again."]);
  }
});

test("a step of a later release is named as it is", () => {
  assert.equal(line(going("summon_experts")), "summon_experts");
});

test("what is going on is told in one line", () => {
  const run = newRun("r1", QUESTION);
  assert.equal(doingNow(run), "Asking…");
  assert.equal(doingNow({ ...run, position: 1 }), "Waiting: next in line");
  assert.equal(doingNow({ ...run, position: 2 }), "Waiting: 2nd in line");
  assert.equal(doingNow({ ...run, status: "running" }), "Working…");
  const steps = [step("decide_retrieval"), going("search_segments"), going("search_web")];
  assert.equal(doingNow({ ...run, status: "running", steps }), "Searching the library… Asking the web…");
});

test("a run is summed up in one line, from its steps or from what was stored", () => {
  const steps = [
    step("search_segments", found()),
    step("grade_segments", graded(1, ..."123456")),
    step("grade_segments", graded(4, ..."123456")),
    step("check_claims", checked("supported", "contradicted")),
    step("check_claims", revised("Better.")),
  ];
  const run = { ...newRun("r1", QUESTION), status: "finished", steps };
  run.answer = { ...run.answer, outcome: "answered", sources: [{}, {}] };
  assert.equal(summaryOf(liveTurn(run), run), "Searched · kept 4 of 10 · checked 2 statements · rewrote 1");
  run.answer.sections = [{ claims: claims("supported") }, { claims: null }];
  assert.equal(summaryOf({ ...liveTurn(run), run: null }, null), "Kept 2 sources");
  assert.equal(summaryOf({ ...liveTurn(run), answer: null, run: null }, null), "Ended without an answer");
});

test("the title is no part of what the steps took", () => {
  const spent = { generate_answer: { calls: 2, tokens: 50, ms: 10 }, title: { calls: 1, tokens: 7, ms: 99 } };
  assert.deepEqual(total(spent), { calls: 2, tokens: 50, ms: 10 });
  const turn = { ...liveTurn(newRun("r1")), spent };
  assert.equal(took(turn, null, 0), 10);
  assert.equal(took(turn, { ...newRun("r1"), startedAt: "2026-01-01T00:00:00.000Z" }, Date.parse("2026-01-01T00:00:02.500Z")), 2500);
});

for (const name of NAMES) {
  test(`${name}: every step has something to say`, () => {
    const run = eventsOf(name).reduce(fold, newRun("r1"));
    run.steps.forEach((_, at) => assert.ok(tellStep(run.steps, at, run.question).line));
    assert.ok(summaryOf(liveTurn(run), run));
  });
}
