/** Why a claim has its verdict: in a box below its sentence, or below its section. */

import { h } from "../dom.js";
import { number } from "../words/format.js";
import { words } from "../words/index.js";
import { icon } from "./icons.js";
import { SIGNS, reasonTexts, verdictMark } from "./verdicts.js";

/** Say what a verdict means, and why a claim has it. @param {Claim} claim */
export function verdictProof(claim) {
  return h(
    "div",
    { class: "passage-card why", role: "group", "aria-label": words.proof.verdicts[claim.verdict], tabindex: -1 },
    h("p", null, verdictMark(claim.verdict), " ", words.proof.means[claim.verdict]),
    reasonList(claim),
    decidedBy(claim),
  );
}

/** Say by whom a claim was judged. @param {import("../api/types.js").JudgeMark} judge */
export function judgedBy({ model, exam }) {
  return exam ? words.proof.judged(model, number(exam.right), number(exam.of)) : words.proof.unexamined(model);
}

/** Say who decided on a claim: a comparison of the texts, or a judge and how it did in its test, if it took one. @param {Claim} claim */
function decidedBy({ by, judge }) {
  return by || judge ? h("p", { class: "by" }, judge ? judgedBy(judge) : words.proof.compared) : null;
}

/**
 * Say below a section what is wrong with those of its claims that failed, the same reasons once.
 * @param {Claim[]} claims
 */
export function faultList(claims) {
  /** @type {Map<string, {claim: Claim, count: number}>} */
  const faults = new Map();
  for (const claim of claims) {
    if (claim.verdict !== "contradicted" && claim.verdict !== "unsupported") continue;
    const fault = [claim.verdict, ...claim.reasons].join("\n");
    faults.set(fault, { claim, count: (faults.get(fault)?.count ?? 0) + 1 });
  }
  if (!faults.size) return null;
  return h("ul", { class: "faults" }, [...faults.values()].map(({ claim, count }) => {
    const { verdict, reasons } = claim;
    const why = reasons.length ? reasonTexts(claim) : [h("span", null, words.proof.means[verdict])];
    const word = words.proof.fault(words.proof.verdicts[verdict], count);
    return h("li", { class: verdict },
      icon(SIGNS[verdict]),
      h("p", null, h("strong", null, word), why.flatMap((reason) => [" ", reason])),
    );
  }));
}

/** @param {Claim} claim */
function reasonList(claim) {
  return claim.reasons.length ? h("ul", { class: "reasons" }, reasonTexts(claim).map((reason) => h("li", null, reason))) : null;
}
