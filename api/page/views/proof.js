/** What a popover says: the quotes of a source that prove a claim, or what a verdict means and why it was given. */

import { h } from "../dom.js";
import { landing, originalAddress } from "../text/addresses.js";
import { gradeOf } from "../text/grades.js";
import { highlighted } from "../text/highlighted.js";
import { number } from "../words/format.js";
import { words } from "../words/index.js";
import { KINDS, pathOf, saidPlace } from "./answer_sources.js";
import { icon, textButton } from "./icons.js";
import { quotedText } from "./passage.js";
import { CHANGES, SIGNS, changeOf, reasonTexts, verdictMark } from "./verdicts.js";

/** @typedef {import("../api/types.js").Citation} Citation */
/** @typedef {import("../api/types.js").Claim} Claim */
/** @typedef {import("../api/types.js").Source} Source */

const AWAY = { target: "_blank", rel: "noopener noreferrer nofollow" };

/**
 * Show how one source bears a claim.
 * @param {Claim} claim
 * @param {Citation[]} citations Of that source.
 * @param {Source | undefined} source
 * @param {() => void} read
 * @param {boolean} isShown Whether the answer shows all of the quote: then what in it answers best is enough.
 * @returns {HTMLElement[]}
 */
export function sourceProof(claim, citations, source, read, isShown) {
  const changes = [...new Set(citations.map((citation) => changeOf(citation.freshness)))].flatMap((change) => change ?? []);
  const origins = [...new Set(citations.map((citation) => citation.origin))];
  const places = citations.map((citation) => {
    const entry = { ...citation, page_idx: citation.page_idx ?? source?.page_idx ?? null };
    return saidPlace(entry, words.proof.page);
  });
  const place = [
    ...new Set(source ? citations.map((citation) => pathOf(source, citation)) : []),
    ...new Set(places),
  ];
  const shown = /** @type {(HTMLElement | null)[]} */ ([
    h("p", { class: "title", dir: "auto" }, source?.title ?? ""),
    place.some((part) => part) ? h("p", { class: "place", dir: "auto" }, place.filter((part) => part).join(" · ")) : null,
    h("div", { class: "said" }, verdictMark(gradeOf(claim)), reasonList(claim)),
    decidedBy(claim),
    ...citations.flatMap((citation) => [
      around(citation),
      citation.quote ? h("blockquote", { dir: "auto" }, h("q", null, isShown ? highlighted(citation).best : quotedText(citation))) : null,
    ]),
    ...changes.map((change) => h(
      "p",
      { class: `since ${change}` },
      icon(CHANGES[change]),
      h("span", null, words.proof.since[change]),
    )),
    h("ul", { class: "facts" },
      source && source.kind !== "search" && h("li", null, icon(KINDS[source.kind]), words.proof.kinds[source.kind]),
      origins.map((origin) => h("li", null, words.proof.origins[origin]))),
    actions(source, citations[0]?.anchor, changes.includes("deleted") || changes.includes("withheld") ? null : read),
  ]);
  return shown.flatMap((part) => part ?? []);
}

/** Show what a quote hangs on in its document: the term that it defines, the header of its row. @param {Citation} citation */
function around({ context }) {
  return context?.length
    ? h("ul", { class: "around" }, context.map(({ role, text }) => h("li", { class: role, dir: "auto" }, text)))
    : null;
}

/** Say what a verdict means, and why a claim has it. @param {Claim} claim */
export function verdictProof(claim) {
  const parts = [h("p", { class: "said" }, verdictMark(claim.verdict)), h("p", null, words.proof.means[claim.verdict])];
  return [...parts, reasonList(claim), decidedBy(claim)].flatMap((part) => part ?? []);
}

/** Say by whom a claim was judged. @param {import("../api/types.js").JudgeMark} judge */
function judgedBy({ model, exam }) {
  return exam ? words.proof.judged(model, number(exam.right), number(exam.of)) : words.proof.unexamined(model);
}

/** Say who decided on a claim: a comparison of the texts, or a judge and how it did in its exam, if it took one. @param {Claim} claim */
function decidedBy(claim) {
  const { by, judge } = claim;
  if (gradeOf(claim) === "quoted") return h("p", { class: "by" }, words.proof.means.quoted);
  if (!by && !judge) return null;
  return h("p", { class: "by" }, judge ? judgedBy(judge) : words.proof.compared);
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
    return h(
      "li",
      { class: verdict },
      icon(SIGNS[verdict]),
      h("p", null, h("strong", null, word), why.flatMap((reason) => [" ", reason])),
    );
  }));
}

/** @param {Claim} claim */
function reasonList(claim) {
  return claim.reasons.length ? h("ul", { class: "reasons" }, reasonTexts(claim).map((reason) => h("li", null, reason))) : null;
}

/** @param {Source | undefined} source @param {string | undefined} anchor @param {(() => void) | null} read */
function actions(source, anchor, read) {
  const original = landing(originalAddress(source?.url, new URL(document.baseURI)), anchor);
  if (!read && !original) return null;
  return h("div", { class: "ways" },
    read && textButton("primary small", read, icon("book"), words.proof.read),
    original && h("a", { class: "button quiet small", href: original, ...AWAY }, words.proof.original, icon("out")));
}
