/** What sessions are called. */

import { words } from "./index.js";

const UNTITLED = "New Chat"; // what the service calls a session until its first question is asked

/** Give the title of a session. @param {import("../api/types.js").Session} session */
export function titleOf(session) {
  return session.title === UNTITLED ? words.sessions.untitled : session.title;
}
