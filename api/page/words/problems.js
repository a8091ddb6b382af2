/** What went wrong, in words. */

import { words } from "./index.js";

/** Say what a problem is; where there was no reply, there is nobody else to say it. @param {import("../api/client.js").Problem} problem */
export function said(problem) {
  if (problem.code === "unreachable") return words.notices.unreachable;
  return problem.message || problem.code;
}
