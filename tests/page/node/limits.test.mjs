/** What an answer had to do without, in plain words. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { limitsOf } from "../../../api/page/views/answer_limits.js";
import { words } from "../../../api/page/words/index.js";

const step = (name, ...told) => ({ name, ms: 5, told });
const limits = (steps, pages = null) => limitsOf(steps, pages);
const lines = (steps, pages) => limits(steps, pages).map(({ line }) => line);
const failed = { type: "search_failed", kind: "web", code: "web_unavailable", message: "No reply." };

test("a failed search is said once, however often it was tried", () => {
  assert.deepEqual(lines([step("search_web", failed), step("search_web", failed)]), [words.answer.limits.failed.web]);
});

test("a web search that is not set up did not fail: it was not made", () => {
  const missing = { ...failed, code: "web_not_configured" };
  assert.deepEqual(lines([step("search_web", missing)]), [words.answer.limits.failed.noWeb]);
});

const use = (title, segments) => ({ document_id: title, title, segments, of: 10 });

test("documents that were cut are named, and those that were not read are counted", () => {
  assert.deepEqual(lines([], { used: [use("Leave", 10)], cut: [use("Handbook", 3)], unused: ["x"] }), [
    words.answer.limits.part({ title: "Handbook", read: 3, of: 10 }),
    words.answer.limits.unread({ count: 1 }),
  ]);
});

test("of many that were cut, how many is said at once, and each below it", () => {
  const cut = ["A", "B", "C"].map((title) => use(title, 2));
  const [only] = limits([], { used: [use("D", 10)], cut, unused: [] });
  assert.equal(only.line, words.answer.limits.parts({ count: 3, of: 4 }));
  assert.equal(only.each.length, 3);
});

test("a run that lacked nothing says nothing", () => {
  const found = { type: "sources_found", kind: "web", query: "leave", count: 3, degraded: null };
  assert.deepEqual(limits([step("search_web", found)], { used: [], cut: [], unused: [] }), []);
});
