/** What is told of a claim, why it has its verdict, and what has become of a quote: each with a sign and in words. */

import { h } from "../dom.js";
import { sayReasons } from "../text/reasons.js";
import { words } from "../words/index.js";
import { icon } from "./icons.js";

/** @typedef {import("../text/grades.js").Grade} Grade */
/** @typedef {Exclude<Wire.Freshness, "fresh">} Change */

/** @type {Record<Grade, IconName>} */
export const SIGNS = { supported: "check", quoted: "quote", checked: "unsure", unverified: "unsure", contradicted: "cross", unsupported: "dash" };
/** @type {Record<Change, IconName>} */
export const CHANGES = { moved: "send", changed: "edit", deleted: "trash", withheld: "dash" };

/** Show what is told of a claim. @param {Grade} grade */
export function verdictMark(grade) {
  return h("span", { class: `verdict ${grade}` }, icon(SIGNS[grade]), words.proof.verdicts[grade]);
}

/** Say why a claim has its verdict, each reason apart. What the server says in words not known here stays in English.
 * @param {{reasons: string[], why?: Wire.Why[]}} claim @returns {HTMLElement[]} */
function reasonTexts({ reasons, why }) {
  return sayReasons(why, reasons).map(({ text, known }) => h("span", known ? { dir: "auto" } : { lang: "en", dir: "auto" }, text));
}

/** Give what has become of a quote, if anything has. @param {Wire.Freshness | undefined} freshness @returns {Change | null} */
export const changeOf = (freshness) => (freshness && freshness !== "fresh" ? freshness : null);

/** Say what a verdict means, and why a claim has it. @param {Claim} claim */
export function verdictProof(claim) {
  const { reasons, by, judge } = claim;
  return h(
    "div",
    { class: "passage-card why", role: "group", "aria-label": words.proof.verdicts[claim.verdict], tabindex: -1 },
    h("p", null, verdictMark(claim.verdict), " ", words.proof.means[claim.verdict]),
    reasons.length > 0 && h("ul", { class: "reasons" }, reasonTexts(claim).map((reason) => h("li", null, reason))),
    (by || judge) && h("p", { class: "by" }, judge ? judgedBy(judge) : words.proof.compared),
  );
}

/** Say by whom a claim was judged. @param {Wire.JudgeMark} judge */
export function judgedBy({ model, exam }) {
  return exam ? words.proof.judged({ model, right: exam.right, of: exam.of }) : words.proof.unexamined({ model });
}

/** Say below a section what is wrong with those of its claims that failed, the same reasons once.
 * @param {Claim[]} claims */
export function faultList(claims) {
  const faults = /** @type {Map<string, {claim: Claim, count: number}>} */ (new Map());
  for (const claim of claims) {
    if (claim.verdict !== "contradicted" && claim.verdict !== "unsupported") continue;
    const fault = [claim.verdict, ...claim.reasons].join("\n");
    faults.set(fault, { claim, count: (faults.get(fault)?.count ?? 0) + 1 });
  }
  if (!faults.size) return null;
  return h("ul", { class: "faults" }, [...faults.values()].map(({ claim, count }) => {
    const { verdict, reasons } = claim;
    const why = reasons.length ? reasonTexts(claim) : [h("span", null, words.proof.means[verdict])];
    const word = words.proof.fault({ verdict: words.proof.verdicts[verdict], count });
    return h("li", { class: verdict },
      icon(SIGNS[verdict]),
      h("p", null, h("strong", null, word), why.flatMap((reason) => [" ", reason])),
    );
  }));
}
