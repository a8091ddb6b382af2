/** The sessions, to open one, to find one, or to begin another. On narrow windows they are a drawer. */

import { fill, h } from "../dom.js";
import { addressed } from "../state/app.js";
import { words } from "../words/index.js";
import { said } from "../words/problems.js";
import { titleOf } from "../words/titles.js";
import { icon, iconButton } from "./icons.js";
import { accountPlace } from "./later.js";
import { sessionGroups } from "./session_groups.js";
import { workspaceChooser } from "./workspaces.js";

/** Make the part of the page where the sessions are. @param {import("../state/app.js").App} app */
export function sessionsView(app) {
  const { sessions, cursor, failure, loading, answering } = app.sessions;
  const begin = h("button", { class: "begin", type: "button", onclick: leave }, icon("add"), words.sessions.begin);
  const search = h(
    "input",
    { type: "search", "aria-label": words.sessions.search, placeholder: words.sessions.search, oninput },
  );
  const status = h("p", { class: "session-status muted", role: "status" });
  const groups = sessionGroups(app, () => begin.focus());
  const again = h("button", { class: "small", type: "button", onclick: () => void retry() }, words.page.retry);
  const failed = h("div", { class: "failed", role: "alert" });
  const more = h(
    "button",
    { class: "quiet small more", type: "button", onclick: () => void app.sessions.readMore() },
    words.sessions.more,
  );
  const close = iconButton("close", words.page.close, () => app.sessionsOpen.set(false), "quiet drawer-only");
  const head = h("div", { class: "sessions-head" }, h("p", { class: "brand" }, words.page.name), close);
  const top = h(
    "div",
    { class: "sessions-top" },
    head,
    workspaceChooser(app),
    begin,
    h("div", { class: "search" }, icon("search"), search),
    status,
  );
  const element = h(
    "nav",
    { class: "sessions", id: "sessions", "aria-label": words.sessions.label },
    top,
    h("div", { class: "sessions-list" }, groups.element, failed, more),
    accountPlace(app),
  );

  function leave() {
    location.hash = "";
    app.sessionsOpen.set(false);
  }

  function oninput() {
    if (search.value.trim()) void app.sessions.readAll();
    else app.sessions.stopReading();
    show();
  }

  function retry() {
    return sessions.value === null ? app.sessions.read() : app.sessions.readMore();
  }

  function show() {
    const term = folded(search.value.trim());
    const all = sessions.value ?? [];
    const found = term ? all.filter((session) => folded(titleOf(session)).includes(term)) : all;
    groups.show(found, app.conversation.session.value?.session_id ?? addressed(), answering.value);
    more.hidden = Boolean(term) || !cursor.value || failure.value !== null;
    fill(
      failed,
      failure.value && [h("p", null, words.sessions.failed), h("p", { class: "muted" }, said(failure.value)), again],
    );
    fill(status, told(term, found.length));
  }

  /** @param {string} term @param {number} found */
  function told(term, found) {
    if (failure.value) return null;
    if (sessions.value === null) return words.sessions.loading;
    if (term) return loading.value ? words.sessions.searching : words.sessions.found(found);
    return sessions.value.length ? null : words.sessions.none;
  }

  for (const cell of [sessions, cursor, failure, loading, answering, app.conversation.session]) {
    /** @type {import("../state/cell.js").Cell<unknown>} */ (cell).watch(show);
  }
  return element;
}

/** Fold what a search does not tell apart: case and accents. @param {string} text */
function folded(text) {
  return text.normalize("NFD").replace(/\p{M}/gu, "").replaceAll("đ", "d").replaceAll("Đ", "D").toLowerCase();
}
