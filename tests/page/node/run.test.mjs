import assert from "node:assert/strict";
import { test } from "node:test";

import { fold, newRun } from "../../../api/page/state/run.js";
import { NAMES, eventsOf } from "./golden.mjs";

const RUN = "r1";
const folded = (events, from = newRun(RUN)) => events.reduce(fold, from);

/** Freeze a value, however deep, so that a module that changes it throws. */
function frozen(value) {
  if (value && typeof value === "object" && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(frozen);
  }
  return value;
}

/** Number events anew, as of one run. */
const numbered = (events) =>
  events.map((event, index) => ({ ...event, run_id: RUN, session_id: "s1", seq: index + 1, at: `at ${index + 1}` }));

const told = (...events) => numbered(events);

for (const name of NAMES) {
  test(`${name}: cut anywhere and joined again, the view is the same`, () => {
    const events = eventsOf(name);
    const whole = folded(events);
    for (let cut = 0; cut <= events.length; cut += 1) {
      for (const again of [0, 1, 3, cut]) {
        const before = folded(events.slice(0, cut));
        assert.deepEqual(folded(events.slice(Math.max(0, cut - again)), before), whole);
      }
    }
  });

  test(`${name}: folding leaves what it was given as it was`, () => {
    let run = frozen(newRun(RUN));
    for (const event of eventsOf(name)) run = frozen(fold(run, frozen(event)));
    assert.equal(run.status, "finished");
  });
}

test("every kind of event changes what is shown, but for corrections: the revised section itself is shown", () => {
  let run = newRun(RUN);
  for (const event of eventsOf("events").filter(({ type }) => type !== "correction")) {
    const next = fold(run, event);
    const { seq: _, ...shown } = next;
    const { seq: __, ...before } = run;
    assert.notDeepEqual(shown, before, event.type);
    run = next;
  }
});

test("an event of a kind to come changes nothing but the place in the stream", () => {
  const run = folded(eventsOf("answered").slice(0, 7));
  const unknown = { ...eventsOf("answered")[0], type: "weather_changed", seq: run.seq + 1, weather: "rain" };
  assert.deepEqual(fold(run, unknown), { ...run, seq: run.seq + 1 });
});

test("what is the same stays the same object", () => {
  const events = eventsOf("answered");
  let run = newRun(RUN);
  for (const event of events) {
    const next = fold(run, event);
    assert.equal(fold(next, event), next, "an event that was had is nothing new");
    if (event.type === "text_delta") {
      assert.equal(next.steps, run.steps);
      assert.equal(next.answer.sources, run.answer.sources);
    }
    if (["step_finished", "retrieval_decided", "sources_found"].includes(event.type)) assert.equal(next.answer, run.answer);
    run = next;
  }
});

for (const name of ["answered", "small_talk", "abstained"]) {
  test(`${name}: what was streamed is what the answer says at its end`, () => {
    const events = eventsOf(name);
    const end = events.at(-1);
    const streamed = folded(events.slice(0, -1)).answer;
    assert.equal(streamed.outcome, null);
    assert.deepEqual(streamed.sections.map((section) => section.text), end.message.sections.map((each) => each.text));
    assert.deepEqual(streamed.sections.map((section) => section.sourceIds), end.message.sections.map((each) => each.source_ids));
    const { answer, status, spent, endedAt } = folded(events);
    assert.deepEqual(
      [status, answer.outcome, answer.stopReason, spent, endedAt],
      ["finished", end.outcome, end.stop_reason, end.spent, end.at],
    );
    assert.deepEqual(answer.sections.map((section) => section.text), streamed.sections.map((section) => section.text));
    assert.deepEqual(answer.sources, end.message.sources);
    assert.deepEqual(answer.nearest, end.message.nearest ?? []);
    assert.deepEqual(answer.sections.flatMap((section) => section.claims ?? []), end.message.claims ?? []);
  });
}

test("a failure says what and keeps what was shown", () => {
  const run = folded(eventsOf("failed"));
  assert.deepEqual(
    [run.status, run.answer.outcome, run.failure.code, run.failure.retryable],
    ["finished", "failed", "model_refused", false],
  );
  assert.equal(run.question, "How many days of annual leave does an employee get?");
  assert.deepEqual(run.steps.map((step) => step.name), ["decide_retrieval", "search_segments", "grade_segments", "generate_answer"]);
});

test("a step that is taken twice is there twice, each with what it told", () => {
  const run = folded(eventsOf("abstained"));
  const searched = run.steps.filter((step) => step.name === "search_segments");
  assert.deepEqual(searched.map((step) => step.told.map((event) => event.query)), [
    ["Who won the chess championship of 1972?"],
    ["won chess championship 1972"],
  ]);
  assert.ok(run.steps.every((step) => step.ms !== null));
});

test("steps that go on side by side each note what is theirs", () => {
  const run = folded(
    told(
      { type: "step_started", step: "search_segments" },
      { type: "step_started", step: "search_web" },
      { type: "sources_found", kind: "search", query: "q", count: 1, degraded: null },
      { type: "sources_found", kind: "web", query: "q", count: 2, degraded: null },
      { type: "step_finished", step: "search_segments", ms: 5 },
      { type: "search_failed", kind: "web", code: "web_unavailable", message: "" },
      { type: "step_finished", step: "search_web", ms: 7 },
    ),
  );
  assert.deepEqual(
    run.steps.map((step) => [step.name, step.ms, step.told.map((event) => event.kind)]),
    [
      ["search_segments", 5, ["search"]],
      ["search_web", 7, ["web", "web"]],
    ],
  );
});

const started = (index) => ({ type: "section_started", section_index: index, fallback: null });
const text = (index, delta) => ({ type: "text_delta", section_index: index, delta });
const written = (index, words) => ({
  type: "section_finished", section_index: index, text: words, source_ids: [`d:${index}`], unknown_ids: 0,
});
const claim = (words, verdict = "supported") => ({ start: 0, end: words.length, text: words, verdict, reasons: [], citations: [] });
const checked = (index, claims) => ({ type: "section_checked", section_index: index, claims, fallback: null });
const texts = (run) => run.answer.sections.map((section) => section.text);

test("after a crash only the sections that stand are kept, with their verdicts", () => {
  const before = told(
    { type: "step_started", step: "generate_answer" },
    { type: "thinking_delta", delta: "Hm" },
    started(0), text(0, "First."), written(0, "First."), checked(0, [claim("First.")]),
    started(1), text(1, "Second."), written(1, "Second."), checked(1, [claim("Second.")]),
    started(2), text(2, "Thi"),
  );
  const events = numbered([...before, { type: "run_resumed", attempt: 2, sections: [0] }]);
  const run = folded(events);
  assert.deepEqual([run.status, run.attempt, run.thinking], ["running", 2, ""]);
  assert.deepEqual(texts(run).filter((each) => each), ["First."]);
  assert.deepEqual(run.answer.sections[0].claims, [claim("First.")]);
  for (const section of run.answer.sections.slice(1)) assert.deepEqual([section.done, section.claims], [false, null]);
  assert.deepEqual(run.steps, []);
  const after = numbered([...events, { type: "step_started", step: "generate_answer" }, started(1), text(1, "Other."), written(1, "Other.")]);
  assert.deepEqual(texts(folded(after)).filter((each) => each), ["First.", "Other."]);
});

test("nothing is there twice after a crash in any place", () => {
  const events = told(
    { type: "run_started", question: "q", message_id: "m", family: "llm", model: "any", budget: { model_calls: 8, tokens: null } },
    { type: "step_started", step: "generate_answer" },
    started(0), text(0, "Fir"), text(0, "st."), written(0, "First."),
    { type: "content_removed", section_index: 0, kind: "link", target: "https://elsewhere.test" },
    { type: "step_finished", step: "generate_answer", ms: 1 },
    { type: "step_started", step: "check_claims" },
    checked(0, [claim("First.")]),
    { type: "sources_disagree", segment_ids: ["a:0", "b:0"], reason: "25 and 30" },
    { type: "step_finished", step: "check_claims", ms: 2 },
    { type: "step_started", step: "assess_quality" },
    { type: "step_finished", step: "assess_quality", ms: 3 },
  );
  const whole = folded(events);
  const begins = events.flatMap((event, index) => (event.type === "step_started" ? [index] : []));
  for (let crash = 2; crash <= events.length; crash += 1) {
    // The step is taken again, even where it had told its end, and its sections stand where it came behind theirs.
    const again = begins.findLast((begin) => begin < crash);
    const stand = again === begins[0] ? [] : [0];
    const cut = [...events.slice(0, crash), { type: "run_resumed", attempt: 2, sections: stand }];
    const run = folded(numbered([...cut, ...events.slice(again)]));
    assert.deepEqual(run.answer, whole.answer, `cut off at ${crash}`);
    const ended = events[crash - 1].type === "step_finished" ? 1 : 0;
    assert.equal(run.steps.length, whole.steps.length + ended, `cut off at ${crash}`);
    assert.ok(run.steps.every((step) => step.ms !== null));
  }
});

test("a disagreement of a step that is taken again is not shown unless it is told again", () => {
  const events = told(
    { type: "step_started", step: "check_claims" },
    { type: "sources_disagree", segment_ids: ["a:0", "b:0"], reason: "25 and 30" },
    { type: "run_resumed", attempt: 2, sections: [] },
  );
  assert.deepEqual(folded(events).answer.disagreements, []);
});

test("a section that was revised remembers how it read at first, and a withdrawn one is empty", () => {
  const revise = (words) => ({ type: "section_revised", section_index: 0, text: words, source_ids: [], claims: [claim(words)] });
  const events = told(started(0), text(0, "Wrong."), written(0, "Wrong."), checked(0, [claim("Wrong.", "contradicted")]), revise("Right."));
  const [section] = folded(events).answer.sections;
  assert.deepEqual([section.text, section.before, section.claims[0].text], ["Right.", "Wrong.", "Right."]);
  const [gone] = folded(numbered([...events, revise("")])).answer.sections;
  assert.deepEqual([gone.text, gone.before], ["", "Wrong."]);
});

test("a revision is remembered when the run has ended", () => {
  const message = { answer: "Right.", sections: [{ text: "Right.", source_ids: [] }], citations: [], sources: [] };
  const events = told(
    started(0), written(0, "Wrong."),
    { type: "section_revised", section_index: 0, text: "Right.", source_ids: [], claims: [] },
    { type: "run_finished", outcome: "answered", stop_reason: "answer_complete", message, spent: {} },
  );
  assert.equal(folded(events).answer.sections[0].before, "Wrong.");
});

test("sections may come in any order", () => {
  assert.deepEqual(texts(folded(told(started(2), text(2, "c"), started(0), text(0, "a"), started(1)))), ["a", "", "c"]);
});

test("a run that waits says where in the line", () => {
  const waiting = told({ type: "queued", position: 2 }, { type: "queued", position: 1 });
  const run = folded(waiting);
  assert.deepEqual([run.status, run.position, run.runId], ["queued", 1, RUN]);
});
