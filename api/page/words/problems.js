/** What went wrong, in words. */

import { words } from "./index.js";

const BUSY = new Set([502, 503, 504]);

/**
 * Say what a problem is; where the reply was not the server's own, or none at all, nobody else says it.
 * @param {{code: string, message: string, status?: number}} problem
 */
export function said({ code, message, status = 0 }) {
  const { notices } = words;
  if (code === "unreachable") return notices.unreachable;
  const known = of(words.problems, code);
  if (known) return known;
  if (code !== "unexpected") return message || code;
  if (status === 413) return notices.tooLarge;
  if (status === 429) return notices.tooMany;
  return BUSY.has(status) ? notices.unavailable : message ? notices.unexpectedStatus({ status: message }) : notices.unexpected;
}

/** Say what can be done about a problem; nothing where nobody knows. @param {{code: string, suggestion?: string}} problem */
export function advice({ code, suggestion }) {
  return of(words.suggestions, code) ?? suggestion ?? "";
}

/** @param {Readonly<Record<string, string>>} texts @param {string} code */
function of(texts, code) {
  return Object.hasOwn(texts, code) ? texts[code] : undefined;
}
