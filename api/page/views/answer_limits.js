/** What an answer had to do without: a search that failed, documents that were read in part or not at all. */

import { fill, h } from "../dom.js";
import { words } from "../words/index.js";
import { icon } from "./icons.js";

/** @typedef {{line: string, each: string[]}} Limit `each` are the documents that it is about, where there are many. */

const NAMED = 2; // documents that are named at once

/** Say which searches failed, and which selected documents were read in part or not at all, each once.
 * @param {Step[]} steps @param {Wire.PagesRead | null} pages @returns {Limit[]} */
export function limitsOf(steps, pages) {
  const { limits: wording } = words.answer;
  const failures = steps.flatMap((step) => step.told).filter((event) => event.type === "search_failed");
  const unset = failures.filter(({ code }) => code === "web_not_configured");
  const failed = failures.filter((event) => !unset.includes(event))
    .map(({ servers, kind }) => (servers?.length ? wording.failed.servers : wording.failed[kind]));
  const limits = [...new Set(failed)].map((line) => ({ line, each: /** @type {string[]} */ ([]) }));
  if (unset.length) limits.push({ line: wording.failed.noWeb, each: [] });
  if (!pages) return limits;
  const { used, cut, unused } = pages;
  const named = cut.map(({ title, segments, of }) => wording.part({ title, read: segments, of }));
  if (cut.length > NAMED) limits.push({ line: wording.parts({ count: cut.length, of: used.length + cut.length + unused.length }), each: named });
  else limits.push(...named.map((line) => ({ line, each: [] })));
  if (unused.length) limits.push({ line: wording.unread({ count: unused.length }), each: [] });
  return limits;
}

/** Make the view of what an answer had to do without, as far as it is known. @returns {TurnView} */
export function limitsView() {
  const element = h("div", { class: "limits" });
  let shown = "";
  return {
    element,
    show({ run, answer }) {
      const { limits: wording } = words.answer;
      const isOutcome = answer?.stopReason === "search_failed"; // the outcome says it already
      const limits = limitsOf(run?.steps ?? [], answer?.pages ?? run?.answer.pages ?? null)
        .filter(({ line }) => !isOutcome || (line !== wording.failed.web && line !== wording.failed.noWeb));
      if (JSON.stringify(limits) === shown) return;
      shown = JSON.stringify(limits);
      fill(element, limits.map(limitView));
    },
  };
}

/** @param {Limit} limit */
function limitView({ line, each }) {
  if (!each.length) return h("p", { class: "limit" }, icon("unsure"), h("span", { dir: "auto" }, line));
  return h("details", { class: "limit" },
    h("summary", null, icon("unsure"), h("span", null, line)),
    h("ul", null, each.map((text) => h("li", { dir: "auto" }, text))),
  );
}
