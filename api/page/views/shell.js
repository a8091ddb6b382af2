/** The page's frame: sessions to the left, the conversation in the middle, the document that is read to the right. */

import { h } from "../dom.js";
import { composer } from "./composer.js";
import { connection } from "./connection.js";
import { conversationView } from "./conversation.js";
import { libraryPlace, lockPlace, readerPlace } from "./later.js";
import { notices } from "./notices.js";
import { offlineBar } from "./offline.js";
import { sessionsView } from "./sessions.js";
import { shortcuts } from "./shortcuts.js";
import { skips } from "./skips.js";
import { topbar } from "./topbar.js";

/** Make all that the page shows. @param {import("../state/app.js").App} app @returns {Node[]} */
export function shell(app) {
  const main = h("main", { class: "middle" }, topbar(app), offlineBar(app), connection(app), conversationView(app), composer(app));
  const sessions = sessionsView(app);
  const scrim = h("div", { class: "scrim", onclick: () => app.sessionsOpen.set(false) });
  const aside = readerPlace(app);
  const skip = skips(app);
  shortcuts(app);
  const frame = h("div", { class: "frame" }, sessions, scrim, main, aside);
  app.reading.watch((reading) => frame.classList.toggle("reading", reading !== null));
  app.sessionsOpen.watch((open) => {
    for (const each of [main, aside, skip]) each.inert = open;
    const closing = frame.classList.contains("sessions-open") && !open;
    frame.classList.toggle("sessions-open", open);
    if (open) sessions.querySelector("button")?.focus();
    if (closing) main.querySelector("button")?.focus();
  });
  // Wherever the focus is: some browsers take it out of the page behind the last button.
  addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !event.defaultPrevented) app.sessionsOpen.set(false);
  });
  let width = innerWidth;
  addEventListener("resize", () => {
    // A drawer is one for the width that it was opened in; a keyboard on the screen takes of the height.
    if (innerWidth !== width) app.sessionsOpen.set(false);
    width = innerWidth;
  });
  const dialog = libraryPlace(app);
  app.locked.watch((locked) => {
    for (const each of [frame, skip, dialog]) each.inert = locked;
    frame.hidden = skip.hidden = locked;
    if (locked) app.libraryOpen.set(false);
  });
  return [skip, frame, dialog, notices(app), lockPlace(app)];
}
