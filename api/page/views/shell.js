/** The frame of the page: the line above the conversation, and below it sessions, conversation and documents. */

import { change, h } from "../dom.js";
import { ROOMY } from "../state/app.js";
import { chooseTheme, theme, THEMES } from "../state/theme.js";
import { choose, language, LANGUAGES, words } from "../words/index.js";
import { titleOf } from "../words/titles.js";
import { composer } from "./composer.js";
import { conversationView } from "./conversation.js";
import { icon, iconButton, textButton } from "./icons.js";
import { libraryPlace, readerPlaces } from "./later.js";
import { lock } from "./lock.js";
import { menuButton } from "./menu.js";
import { connection, notices, offlineBar } from "./notices.js";
import { sessionsView } from "./sessions.js";
import { shortcuts, showShortcuts, skips } from "./shortcuts.js";
import { sessionMenu } from "./taking.js";

/** Make the line. @param {App} app */
function topbar(app) {
  const title = h("h1", { class: "title", dir: "auto" });
  app.conversation.session.watch((session) => {
    title.textContent = session ? titleOf(session) : words.page.name;
    title.title = title.textContent;
  });
  const opener = iconButton("menu", words.sessions.open, () => app.sessionsOpen.set(true), "quiet narrow-only");
  change(opener, { "aria-controls": "sessions" });
  app.sessionsOpen.watch((open) => change(opener, { "aria-expanded": String(open) }));
  const shown = h("span", { class: "wide-only" }, words.shelf.label);
  const documents = textButton("quiet", () => app.toggleLibrary(), icon("book"), shown);
  change(documents, { "aria-controls": "shelf" });
  app.libraryOpen.watch((open) => change(documents, { "aria-expanded": String(open) }));
  const menu = menuButton(words.page.menu, "settings", () => settings(app));
  return h("header", { class: "topbar" }, opener, title, documents, sessionMenu(app), menu);
}

/** @param {App} app @returns {(import("./menu.js").Action | import("./menu.js").Choice)[]} */
function settings(app) {
  const { offline } = app;
  const { themes, theme: look, language: tongue } = words.page;
  const languages = /** @type {[typeof language, string][]} */ (Object.entries(LANGUAGES));
  const { keep, not, label } = words.offline;
  return [
    {
      label: look,
      options: THEMES.map((each) => ({ text: themes[each], checked: each === theme(), act: () => chooseTheme(each) })),
    },
    ...(offline.possible ? [{
      label,
      options: [false, true].map((on) => ({ text: on ? keep : not, checked: on === offline.chosen, act: () => void offline.choose(on) })),
    }] : []),
    {
      label: tongue,
      options: languages.map(([lang, text]) => {
        const checked = lang === language;
        return { text, lang, checked, act: () => void (checked || choose(lang)) };
      }),
    },
    { text: words.ways.shortcuts.open, icon: "keys", act: showShortcuts },
    ...(app.key.value ? [{ text: words.lock.forget, icon: /** @type {const} */ ("out"), act: () => void app.forgetKey() }] : []),
  ];
}

/** Make all that the page shows. @param {App} app @returns {Node[]} */
export function shell(app) {
  const { place: aside, bar } = readerPlaces(app);
  const main = h("main", { class: "middle" }, topbar(app), offlineBar(app), connection(app), conversationView(app), bar, composer(app));
  const sessions = sessionsView(app);
  const scrim = h("div", { class: "scrim", onclick: () => (app.sessionsOpen.set(false), ROOMY.matches || app.hideLibrary()) });
  const skip = skips(app);
  shortcuts(app);
  const documents = libraryPlace(app);
  const frame = h("div", { class: "frame" }, sessions, scrim, main, aside, documents);
  app.reading.watch((reading) => frame.classList.toggle("reading", reading !== null));
  shelfDrawer(app, frame, [main, sessions, aside, skip]);
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
  app.locked.watch((locked) => {
    for (const each of [frame, skip]) each.inert = locked;
    frame.hidden = skip.hidden = locked;
  });
  return [skip, frame, notices(app), lock(app)];
}

/** Show the documents beside the conversation or, where there is no room, as a drawer above all else.
 * @param {App} app @param {HTMLElement} frame @param {HTMLElement[]} others What can't be reached while it is open: the first is the main part. */
function shelfDrawer(app, frame, others) {
  /** What had the focus when it was opened. @type {Element | null} */
  let before = null;
  app.libraryOpen.watch((open) => {
    const drawer = open && !ROOMY.matches;
    const was = frame.classList.contains("shelf-drawer");
    const closed = was && !drawer;
    if (drawer && !was) before = document.activeElement;
    frame.classList.toggle("shelf-open", open);
    frame.classList.toggle("shelf-drawer", drawer);
    for (const each of others) each.inert = drawer;
    if (closed && before instanceof HTMLElement) before.focus();
    else if (closed) others[0]?.querySelector("button")?.focus();
  });
  app.reading.watch((reading) => reading && !ROOMY.matches && app.hideLibrary());
}
