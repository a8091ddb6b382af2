/** The sessions, to open one, to find one, or to begin another. On narrow windows they are a drawer. */

import { change, fill, h } from "../dom.js";
import { logOut } from "../state/account.js";
import { addressed } from "../state/app.js";
import { words } from "../words/index.js";
import { said } from "../words/problems.js";
import { icon, iconButton, textButton } from "./icons.js";
import { menuButton } from "./menu.js";
import { followNotes, showNotes } from "./notes_place.js";
import { sessionGroups } from "./session_groups.js";

const TYPING_MS = 200; // that a search waits for the next letter

/** Make the part of the page where the sessions are. @param {App} app */
export function sessionsView(app) {
  const { sessions, cursor, failure, found, answering, chosen, leaving } = app.sessions;
  const begin = textButton("begin", () => ((location.hash = ""), app.sessionsOpen.set(false)), icon("add"), words.sessions.begin);
  const notes = textButton("quiet begin", () => showNotes(app), icon("pin"), words.notes.label);
  followNotes(app);
  const { search: label } = words.sessions;
  const search = h("input", { type: "search", "aria-label": label, placeholder: label, oninput, onkeydown });
  const status = h("p", { class: "session-status muted", role: "status" });
  const groups = sessionGroups(app, () => begin.focus());
  const choosing = choosingBar(app, groups.leave);
  const again = textButton("small", () => void retry(), words.page.retry);
  const failed = h("div", { class: "failed", role: "alert" });
  const readMore = () => void (found.value ? app.sessions.findMore() : app.sessions.readMore());
  const more = textButton("quiet small more", readMore, words.sessions.more);
  const close = iconButton("close", words.page.close, () => app.sessionsOpen.set(false), "quiet drawer-only");
  const head = h("div", { class: "sessions-head" }, h("p", { class: "brand" }, words.page.name), close);
  const field = h("div", { class: "search" }, icon("search"), search);
  const top = h("div", { class: "sessions-top" }, head, workspaceChooser(app), begin, notes, field, status, choosing);
  const element = h("nav", { class: "sessions", id: "sessions", "aria-label": words.sessions.label, onkeydown: put },
    top,
    h("div", { class: "sessions-list" }, groups.element, failed, more),
    accountLine(app),
  );

  let typing = 0;

  /** @param {KeyboardEvent} event */
  function put(event) {
    if (event.key !== "Escape" || !chosen.value) return;
    event.preventDefault(); // the drawer stays
    chosen.set(null);
  }

  function oninput() {
    clearTimeout(typing);
    typing = setTimeout(() => void app.sessions.find(search.value.trim()), search.value.trim() ? TYPING_MS : 0);
    show();
  }

  /** @param {KeyboardEvent} event */
  function onkeydown(event) {
    if (event.key !== "ArrowDown" || event.isComposing) return;
    event.preventDefault();
    /** @type {HTMLElement | null} */ (groups.element.querySelector(".session :is(a, [type=checkbox])"))?.focus();
  }

  function retry() {
    if (search.value.trim()) return app.sessions.find(search.value.trim());
    return sessions.value === null ? app.sessions.read() : app.sessions.readMore();
  }

  function show() {
    const term = search.value.trim();
    const looked = term ? found.value : null;
    if (!term || looked?.sessions) {
      const shown = (looked?.sessions ?? sessions.value ?? []).filter((each) => !leaving.value.has(each.session_id));
      const current = app.conversation.session.value?.session_id ?? addressed();
      groups.show(shown, current, looked?.hits ?? null);
    }
    more.hidden = !(term ? looked?.cursor : cursor.value) || failure.value !== null;
    const why = failure.value && h("p", { class: "muted" }, said(failure.value));
    fill(failed, why && [h("p", null, words.sessions.failed), why, again]);
    fill(status, told(term, looked));
  }

  /** @param {string} term @param {import("../state/session_list.js").Found | null} looked */
  function told(term, looked) {
    if (failure.value) return null;
    if (sessions.value === null) return words.sessions.loading;
    if (term) return looked?.sessions && looked.wanted === term ? words.sessions.found({ count: looked.sessions.length }) : words.sessions.searching;
    return sessions.value.length ? null : words.sessions.none;
  }

  for (const cell of [sessions, cursor, failure, found, answering, chosen, leaving, app.conversation.session]) {
    /** @type {Cell<unknown>} */ (cell).watch(show);
  }
  return element;
}

/**
 * Make the bar of what is done with the sessions that are chosen.
 * @param {App} app
 * @param {(going: ReadonlySet<string>) => void} leave Called before they go, to put the focus elsewhere.
 */
function choosingBar(app, leave) {
  const { chosen } = app.sessions;
  const told = h("p", { role: "status" });
  const remove = textButton("small danger", go, words.sessions.delete);
  const cancel = textButton("small", () => chosen.set(null), words.page.cancel);
  const bar = h("div", { class: "session-choosing", role: "group", "aria-label": words.sessions.choose, hidden: true }, told, remove, cancel);

  function go() {
    const going = chosen.value ?? new Set();
    leave(going);
    chosen.set(null);
    void app.deleteSessions([...going]);
  }

  chosen.watch((ticked) => {
    bar.hidden = ticked === null;
    remove.disabled = !ticked?.size;
    fill(told, ticked && words.sessions.chosen({ count: ticked.size }));
  });
  return bar;
}

/** Make what says which workspace is on show and chooses another, where there are several. @param {App} app */
function workspaceChooser(app) {
  const { known } = app.workspaces;
  const name = h("p", { dir: "auto" });
  const button = menuButton(words.sessions.workspaces, "down", () => [
    {
      label: words.sessions.workspaces,
      options: known.value.names.map((each) => ({
        text: each,
        checked: each === known.value.current,
        act: () => void (each === known.value.current || app.workspaces.choose(each)),
      })),
    },
  ]);
  const element = h("div", { class: "workspace" }, name, button);
  known.watch(({ names, current }) => {
    element.hidden = names.length < 2;
    name.textContent = name.title = current;
    change(button, { "aria-label": words.sessions.workspace({ name: current }) });
  });
  return element;
}

/** Make the line of who is logged in; whoever brought a key, or is alone on this machine, knows. @param {App} app */
function accountLine(app) {
  const name = h("p", { dir: "auto" });
  const leave = textButton("quiet small", () => void app.attempt(() => logOut(app)), words.account.logOut);
  const element = h("div", { class: "account", role: "group", "aria-label": words.account.label }, name, leave);
  app.person.watch((person) => {
    leave.hidden = person?.by !== "login";
    element.hidden = leave.hidden && person?.by !== "proxy";
    name.textContent = name.title = person?.name ?? "";
  });
  return element;
}
