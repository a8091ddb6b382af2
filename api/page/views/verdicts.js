/** A verdict, what has become of a quote, and why: each with a sign and in words. */

import { h } from "../dom.js";
import { reasonOf } from "../text/reasons.js";
import { words } from "../words/index.js";
import { icon } from "./icons.js";

/** @typedef {import("../api/types.js").Verdict} Verdict */
/** @typedef {Exclude<import("../api/types.js").Freshness, "fresh">} Change */

/** @type {Record<Verdict, import("./icons.js").IconName>} */
export const SIGNS = { supported: "check", unverified: "unsure", contradicted: "cross", unsupported: "dash" };
/** @type {Record<Change, import("./icons.js").IconName>} */
export const CHANGES = { moved: "send", changed: "edit", deleted: "trash", withheld: "dash" };

/** Show a verdict. @param {Verdict} verdict */
export function verdictMark(verdict) {
  return h("span", { class: `verdict ${verdict}` }, icon(SIGNS[verdict]), words.proof.verdicts[verdict]);
}

/**
 * Say why a claim has its verdict, each reason apart. What the server says in words not known here stays in English.
 * @param {string[]} reasons
 * @returns {HTMLElement[]}
 */
export function reasonTexts(reasons) {
  return reasons.map((reason) => {
    const known = reasonOf(reason);
    if (!known) return h("span", { lang: "en" }, reason);
    const say = /** @type {(...parts: string[]) => string} */ (words.proof.reasons[known.name]);
    return h("span", null, say(...known.parts));
  });
}

/** Give what has become of a quote, if anything has. @param {import("../api/types.js").Freshness | undefined} freshness @returns {Change | null} */
export function changeOf(freshness) {
  return freshness && freshness !== "fresh" ? freshness : null;
}
