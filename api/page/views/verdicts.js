/** What is told of a claim, what has become of a quote, and why: each with a sign and in words. */

import { h } from "../dom.js";
import { sayReasons } from "../text/reasons.js";
import { words } from "../words/index.js";
import { icon } from "./icons.js";

/** @typedef {import("../text/grades.js").Grade} Grade */
/** @typedef {Exclude<import("../api/types.js").Freshness, "fresh">} Change */

/** @type {Record<Grade, IconName>} */
export const SIGNS = { supported: "check", quoted: "quote", checked: "unsure", unverified: "unsure", contradicted: "cross", unsupported: "dash" };
/** @type {Record<Change, IconName>} */
export const CHANGES = { moved: "send", changed: "edit", deleted: "trash", withheld: "dash" };

/** Show what is told of a claim. @param {Grade} grade */
export function verdictMark(grade) {
  return h("span", { class: `verdict ${grade}` }, icon(SIGNS[grade]), words.proof.verdicts[grade]);
}

/**
 * Say why a claim has its verdict, each reason apart. What the server says in words not known here stays in English.
 * @param {{reasons: string[], why?: import("../api/types.js").Why[]}} claim
 * @returns {HTMLElement[]}
 */
export function reasonTexts({ reasons, why }) {
  return sayReasons(why, reasons).map(({ text, known }) => h("span", known ? { dir: "auto" } : { lang: "en", dir: "auto" }, text));
}

/** Give what has become of a quote, if anything has. @param {import("../api/types.js").Freshness | undefined} freshness @returns {Change | null} */
export function changeOf(freshness) {
  return freshness && freshness !== "fresh" ? freshness : null;
}
