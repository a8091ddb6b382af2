/** What an answer had to do without, in plain words. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { limitsOf } from "../../../api/page/views/answer_limits.js";
import { en } from "../../../api/page/words/en.js";

const step = (name, ...told) => ({ name, ms: 5, told });
const limits = (...steps) => limitsOf(steps, en.answer.limits);
const failed = { type: "search_failed", kind: "web", code: "web_unavailable", message: "No reply." };

test("a failed search is said once, however often it was tried", () => {
  assert.deepEqual(limits(step("search_web", failed), step("search_web", failed)), ["The web could not be searched."]);
});

test("pages that were cut are named, and those that were not read are counted", () => {
  const whole = { document_id: "d", title: "Leave", segments: 4, of: 4 };
  const cut = { document_id: "e", title: "Handbook", segments: 3, of: 10 };
  const loaded = { type: "pages_loaded", used: [whole], cut: [cut], unused: ["x"] };
  assert.deepEqual(limits(step("load_selected_pages", loaded)), [
    "“Handbook” was read only in part: 3 of 10 segments.",
    "1 selected page was not read: not found, or no room was left.",
  ]);
});

test("a run that lacked nothing says nothing", () => {
  const found = { type: "sources_found", kind: "web", query: "leave", count: 3, degraded: null };
  assert.deepEqual(limits(step("search_web", found), step("load_selected_pages", { type: "pages_loaded", used: [], cut: [], unused: [] })), []);
});
