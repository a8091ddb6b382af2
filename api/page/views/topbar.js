/** The line above the conversation: what the session is called, and the way to sessions, library and settings. */

import { change, h } from "../dom.js";
import { chooseTheme, theme, THEMES } from "../state/theme.js";
import { choose, language, LANGUAGES, words } from "../words/index.js";
import { titleOf } from "../words/titles.js";
import { icon, iconButton } from "./icons.js";
import { menuButton } from "./menu.js";
import { sessionMenu } from "./taking.js";
import { showShortcuts } from "./shortcuts.js";

/** @typedef {import("../words/index.js").Language} Language */

/** Make the line. @param {App} app */
export function topbar(app) {
  const title = h("h1", { class: "title", dir: "auto" });
  app.conversation.session.watch((session) => {
    title.textContent = session ? titleOf(session) : words.page.name;
    title.title = title.textContent;
  });
  const opener = iconButton("menu", words.sessions.open, () => app.sessionsOpen.set(true), "quiet narrow-only");
  change(opener, { "aria-controls": "sessions" });
  app.sessionsOpen.watch((open) => change(opener, { "aria-expanded": String(open) }));
  const documents = h("button", { class: "quiet", "aria-controls": "shelf", onclick: () => app.toggleLibrary() },
    icon("book"),
    h("span", { class: "wide-only" }, words.shelf.label),
  );
  app.libraryOpen.watch((open) => change(documents, { "aria-expanded": String(open) }));
  return h("header", { class: "topbar" },
    opener, title, documents, sessionMenu(app),
    menuButton(words.page.menu, "settings", () => settings(app)),
  );
}

/** @param {App} app @returns {(import("./menu.js").Action | import("./menu.js").Choice)[]} */
function settings(app) {
  const languages = /** @type {[Language, string][]} */ (Object.entries(LANGUAGES));
  return [
    {
      label: words.page.theme,
      options: THEMES.map((each) => ({
        text: words.page.themes[each],
        checked: each === theme(),
        act: () => chooseTheme(each),
      })),
    },
    ...(app.offline.possible ? [keeping(app)] : []),
    {
      label: words.page.language,
      options: languages.map(([each, text]) => ({
        text,
        lang: each,
        checked: each === language,
        act: () => void (each === language || choose(each)),
      })),
    },
    { text: words.ways.shortcuts.open, icon: /** @type {const} */ ("keys"), act: () => showShortcuts() },
    ...(app.key.value ? [{ text: words.lock.forget, icon: /** @type {const} */ ("out"), act: () => void app.forgetKey() }] : []),
  ];
}

/** @param {App} app @returns {import("./menu.js").Choice} */
function keeping({ offline }) {
  return {
    label: words.offline.label,
    options: [false, true].map((on) => ({
      text: on ? words.offline.keep : words.offline.not,
      checked: on === offline.chosen,
      act: () => void offline.choose(on),
    })),
  };
}
