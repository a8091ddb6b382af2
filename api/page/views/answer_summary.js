/** The line over an answer, and what has become of its quotes. */

import { h } from "../dom.js";
import { worthOf } from "../text/worth.js";
import { language, words } from "../words/index.js";
import { icon } from "./icons.js";

/** Say what an answer is worth. @param {Answer} answer */
export function worthLine(answer) {
  const worth = worthOf(answer);
  return worth && h("p", { class: `worth ${worth.sign ?? ""}`.trim() }, worth.sign && icon(worth.sign), h("strong", { dir: "auto" }, worth.line));
}

/** Say how many quotes do not stand where they stood. @param {Answer} answer */
export function changesSince(answer) {
  const counts = { moved: 0, changed: 0, deleted: 0, withheld: 0 };
  const seen = new Set();
  for (const section of answer.sections) {
    for (const { document_id, start, end, freshness } of (section.claims ?? []).flatMap((claim) => claim.citations)) {
      const quote = `${document_id} ${start} ${end}`;
      if (!freshness || freshness === "fresh" || seen.has(quote)) continue;
      seen.add(quote);
      counts[freshness] += 1;
    }
  }
  const parts = /** @type {const} */ (["moved", "changed", "deleted", "withheld"])
    .filter((kind) => counts[kind])
    .map((kind) => words.answer.changes[kind]({ count: counts[kind] }));
  if (!parts.length) return null;
  const list = new Intl.ListFormat(language, { type: "unit" }).format(parts);
  return h("p", { class: "since" }, icon("unsure"), h("span", null, `${words.answer.since} ${list}`));
}
