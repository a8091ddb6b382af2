/** What stands behind a claim: its mark, a numbered marker for each source that bears it, and a sign where it is not proven. */

import { h } from "../dom.js";
import { gradeOf } from "../text/grades.js";
import { numbersOf } from "../text/numbering.js";
import { number } from "../words/format.js";
import { words } from "../words/index.js";
import { icon } from "./icons.js";
import { passageIn } from "./passage.js";
import { sourceProof, verdictProof } from "./proof.js";
import { CHANGES, SIGNS, changeOf } from "./verdicts.js";

/** @typedef {import("../api/types.js").Citation} Citation */
/** @typedef {import("../api/types.js").Claim} Claim */
/** @typedef {import("../state/run.js").Answer} Answer */
/** What a claim stands on now: it is asked for when something is shown, so that it is never what it was before.
 * @typedef {() => {claim: Claim, answer: Answer}} Standing */

/**
 * Make the marker of a source of a claim. A click with the mouse reads the document; anything else shows the proof.
 * @param {import("../state/app.js").App} app
 * @param {import("./popover.js").Popover} popover
 * @param {number} index Of the source.
 * @param {Standing} standing
 * @param {HTMLElement[]} pieces Of the claim.
 */
export function marker(app, popover, index, standing, pieces) {
  const { claim, answer } = standing();
  const own = claim.citations.filter((citation) => citation.source_index === index);
  const change = changeOf(own.find((citation) => changeOf(citation.freshness))?.freshness);
  const title = titleOf(answer, index);
  const grade = gradeOf(claim);
  const said = [words.proof.verdicts[grade], change && words.proof.fresh[change]].filter((word) => word).join(", ");
  const shown = number(numbersOf(answer).get(index) ?? index);
  const sign = change ? CHANGES[change] : grade === "supported" ? SIGNS.supported : null;
  const button = h(
    "button",
    {
      type: "button",
      class: `marker ${grade} ${change ?? ""}`.trim(),
      "aria-label": words.proof.marker(shown, title, said),
    },
    h("span", null, shown),
    sign && icon(sign),
  );
  const read = () => popover.read(button, readingOf(index, standing()));
  return popover.explain(button, {
    pieces,
    label: words.proof.label(shown),
    press: read,
    parts() {
      const { claim, answer } = standing();
      const citations = claim.citations.filter((citation) => citation.source_index === index);
      const isShown = passageIn({ claims: [claim] }, answer) !== null;
      return sourceProof(claim, citations, answer.sources.find((source) => source.index === index), read, isShown);
    },
  });
}

/**
 * Make the sign of a claim that is not proven; it says why.
 * @param {import("./popover.js").Popover} popover
 * @param {Standing} standing
 * @param {HTMLElement[]} pieces
 */
export function badge(popover, standing, pieces) {
  const { verdict } = standing().claim;
  const word = words.proof.verdicts[verdict];
  const button = h(
    "button",
    { type: "button", class: `marker sign ${verdict}`, "aria-label": words.proof.badge(word) },
    icon(SIGNS[verdict]),
  );
  return popover.explain(button, { pieces, label: word, press: null, parts: () => verdictProof(standing().claim) });
}

/**
 * Point the reader to a source's quote for a claim, among all quotes of the answer in that document.
 * @param {number} index
 * @param {{claim: Claim, answer: Answer}} standing
 * @returns {import("../state/app.js").Reading | null}
 */
function readingOf(index, { claim, answer }) {
  const wanted = claim.citations.find((citation) => citation.source_index === index);
  if (!wanted) return null;
  const all = answer.sections.flatMap((section) => (section.claims ?? []).flatMap((each) => each.citations));
  const own = new Map([[placeOf(wanted), wanted]]);
  for (const citation of all) {
    const place = placeOf(citation);
    if (citation.document_id === wanted.document_id && !own.has(place)) own.set(place, citation);
  }
  const citations = [...own.values()].sort((one, other) => one.start - other.start || one.end - other.end);
  return { documentId: wanted.document_id, title: titleOf(answer, index), citations, at: citations.indexOf(wanted) };
}

/** @param {Citation} citation */
function placeOf({ start, end }) {
  return `${start} ${end}`;
}

/** @param {Answer} answer @param {number} index */
function titleOf(answer, index) {
  return answer.sources.find((source) => source.index === index)?.title ?? "";
}
