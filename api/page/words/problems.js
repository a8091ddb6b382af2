/** What went wrong, in words. */

import { words } from "./index.js";

const BUSY = new Set([502, 503, 504]);

/**
 * Say what a problem is; where the reply was not the server's own, or none at all, nobody else says it.
 * @param {import("../api/client.js").Problem} problem
 */
export function said({ code, message, status }) {
  const { notices } = words;
  if (code === "unreachable") return notices.unreachable;
  if (code !== "unexpected") return message || code;
  if (status === 413) return notices.tooLarge;
  if (status === 429) return notices.tooMany;
  return BUSY.has(status) ? notices.unavailable : notices.unexpected(message);
}
