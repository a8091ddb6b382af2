/** The page's frame: sessions to the left, the conversation in the middle, the document that is read to the right. */

import { h } from "../dom.js";
import { words } from "../words/index.js";
import { composer } from "./composer.js";
import { conversationView } from "./conversation.js";
import { library } from "./library.js";
import { notices } from "./notices.js";
import { reader } from "./reader.js";
import { sessionsView } from "./sessions.js";
import { topbar } from "./topbar.js";

/** @param {import("../state/app.js").App} app @returns {Node[]} */
export function shell(app) {
  const main = h("main", { class: "middle" }, topbar(app), conversationView(app), composer(app));
  const frame = h("div", { class: "frame" }, sessionsView(app), main, reader(app));
  app.reading.watch((reading) => frame.classList.toggle("reading", reading !== null));
  app.sessionsOpen.watch((open) => frame.classList.toggle("sessions-open", open));
  return [h("a", { class: "skip", href: "#question" , onclick: toQuestion }, words.page.skip), frame, library(app), notices(app)];
}

/** The address names the session, so the link must not change it. @param {Event} event */
function toQuestion(event) {
  event.preventDefault();
  document.getElementById("question")?.focus();
}
