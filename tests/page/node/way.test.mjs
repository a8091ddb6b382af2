import assert from "node:assert/strict";
import { test } from "node:test";

import { END, START } from "../../../api/page/state/graph.js";
import { fold, newRun } from "../../../api/page/state/run.js";
import { wayOf } from "../../../api/page/state/graph.js";
import { NAMES, eventsOf } from "./golden.mjs";
import { drawn } from "./graphs.mjs";

const graph = drawn();
const went = (names, run = { ended: true, complete: true }) =>
  wayOf(graph, names.map((name) => ({ name, ms: 1, told: [] })), run);
const along = (...names) => names.slice(1).map((name, at) => `${names[at]} ${name}`);
const taken = (way) => [...way.taken].sort();

test("small talk goes straight to the end", () => {
  const way = went(["decide_retrieval", "answer_directly"]);
  assert.deepEqual(taken(way), along(START, "decide_retrieval", "answer_directly", END).sort());
});

test("searches that go on side by side all lead on", () => {
  const way = went(["decide_retrieval", "load_selected_pages", "search_segments", "grade_segments", "generate_answer", "check_claims", "assess_quality"]);
  assert.deepEqual(way.stations[1], ["load_selected_pages", "search_segments"]);
  for (const edge of along("decide_retrieval", "load_selected_pages", "grade_segments")) assert.ok(way.taken.has(edge));
  for (const edge of along("decide_retrieval", "search_segments", "grade_segments")) assert.ok(way.taken.has(edge));
  assert.ok(!way.taken.has("decide_retrieval search_web"));
});

test("another wording is a loop that is counted", () => {
  const way = went(["decide_retrieval", "search_segments", "grade_segments", "rewrite_query", "search_segments", "grade_segments", "abstain"]);
  assert.equal(way.visits.get("grade_segments"), 2);
  for (const edge of along("grade_segments", "rewrite_query", "search_segments")) assert.ok(way.taken.has(edge));
  assert.ok(way.taken.has(`abstain ${END}`));
  assert.ok(!way.taken.has("grade_segments generate_answer"));
});

test("what a run is at is current, until it has ended", () => {
  const steps = [{ name: "decide_retrieval", ms: 2, told: [] }, { name: "search_segments", ms: null, told: [] }];
  const now = wayOf(graph, steps, { ended: false, complete: false });
  assert.deepEqual([...now.current], ["search_segments"]);
  assert.deepEqual(taken(now), along(START, "decide_retrieval", "search_segments").sort());
  assert.equal(wayOf(graph, steps, { ended: true, complete: false }).current.size, 0);
});

test("a step that was begun again is no edge to itself", () => {
  const way = went(["decide_retrieval", "decide_retrieval", "answer_directly"]);
  assert.deepEqual(way.stations, [["decide_retrieval"], ["answer_directly"]]);
  assert.equal(way.visits.get("decide_retrieval"), 2);
});

test("nodes that are not known are passed over", () => {
  const way = went(["decide_retrieval", "something_new", "search_segments"]);
  assert.equal(way.visits.get("something_new"), 1);
  assert.deepEqual(taken(way), along(START, "decide_retrieval", "search_segments").sort());
});

for (const name of NAMES) {
  test(`${name}: the way hangs together`, () => {
    const run = eventsOf(name).reduce(fold, newRun("r1"));
    const way = wayOf(graph, run.steps, { ended: true, complete: run.answer.outcome === "answered" });
    for (const [at, station] of way.stations.entries()) {
      for (const node of station) {
        const from = at ? way.stations[at - 1] : [START];
        assert.ok(from.some((each) => way.taken.has(`${each} ${node}`)), `${from} to ${node}`);
      }
    }
  });
}
