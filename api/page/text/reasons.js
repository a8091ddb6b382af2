/** Why something is so, in the reader's language: said anew from the code and the parts that the server sends. */

import { number, percent } from "../words/format.js";
import { words } from "../words/index.js";
import { advice, said } from "../words/problems.js";

/** @typedef {{text: string, known: boolean}} Said `known` is false of what stays as the server says it. */

/** Numbers of these are shares of a whole. */
const SHARES = new Set(["closest_sentence", "below_threshold", "below_reranker"]);

/**
 * Say each reason. One without words here stays as the server says it, in English or in a model's own words.
 * @param {Wire.Why[] | undefined} why
 * @param {string[]} [texts] What the server says without codes, as one of another time does.
 * @returns {Said[]}
 */
export function sayReasons(why, texts = []) {
  if (!why?.length || why.length < texts.length) return texts.filter(Boolean).map((text) => ({ text, known: false }));
  return why.map(({ code, parts, text }) => {
    const known = /** @type {Record<string, string | ((values: any) => string)>} */ (words.reasons);
    if (!Object.hasOwn(known, code)) return { text, known: false };
    const say = known[code];
    return { text: typeof say === "function" ? say(partsOf(code, parts)) : say ?? text, known: true };
  });
}

/** Say reasons in one line. @param {Wire.Why[] | undefined} why @param {string} [text] */
export function sayReason(why, text = "") {
  return sayReasons(why, text ? [text] : []).map((each) => each.text).join(" ");
}

/** Say what failed and what was done instead. @param {Wire.Failure} fallback */
export function sayFallback({ code, message, suggestion, why }) {
  const failed = said({ code, message: "" });
  if (failed === code) return [sayReason(why, message), suggestion].filter(Boolean).join(" ");
  return [failed, sayReason(why), advice({ code })].filter(Boolean).join(" ");
}

/** @param {string} code @param {(string | number)[]} parts */
function partsOf(code, parts) {
  if (code === "differs") return [change(parts.map(String))];
  const written = parts.map((part) => (typeof part === "string" ? part : SHARES.has(code) ? percent(part) : number(part)));
  return code === "repair" ? [written.join(words.answer.worth.comma)] : written;
}

/** Write what differs in signs that need no translation: what the source says, and what the answer says instead. @param {string[]} sides */
function change([left = "", added = ""]) {
  return !left ? `+“${added}”` : added ? `“${left}” → “${added}”` : `−“${left}”`;
}
