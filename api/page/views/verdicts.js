/** A verdict, what has become of a quote, and why: each with a sign and in words. */

import { h } from "../dom.js";
import { sayReasons } from "../text/reasons.js";
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
