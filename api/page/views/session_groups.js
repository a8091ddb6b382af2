/** The list of sessions by day: today's, yesterday's, and those before. */

import { h } from "../dom.js";
import { words } from "../words/index.js";
import { roving } from "./roving.js";
import { sessionRow } from "./session_row.js";

/** @typedef {import("../api/types.js").Session} Session */
/** @typedef {"pinned" | "today" | "yesterday" | "earlier"} Day */

/** @type {Day[]} */
const DAYS = ["pinned", "today", "yesterday", "earlier"];

/**
 * Make the list of sessions.
 * @param {import("../state/app.js").App} app
 * @param {() => void} onEmpty Called where the focus has no row to go to.
 */
export function sessionGroups(app, onEmpty) {
  /** @type {Map<string, import("./session_row.js").SessionRow>} */
  const rows = new Map();
  const groups = DAYS.map((day) => {
    const label = h("p", { class: "day", id: `day-${day}` }, day === "pinned" ? words.ways.pinned : words.sessions[day]);
    const list = h("ul", { "aria-labelledby": label.id });
    return { day, list, element: h("div", { class: "session-group", hidden: true }, label, list) };
  });
  const element = h("div", { class: "session-groups" }, groups.map((group) => group.element));

  const settle = roving(element, ".session .open", { first: ".session .open[aria-current]", vertical: true });

  /** @param {string} sessionId */
  function leave(sessionId) {
    const shown = [...element.querySelectorAll("li")];
    const at = shown.findIndex((each) => each === rows.get(sessionId)?.element);
    const next = shown[at + 1] ?? shown[at - 1];
    const row = [...rows.values()].find((each) => each.element === next);
    if (row) row.focus();
    else onEmpty();
  }

  return {
    element,
    /** @param {Session[]} sessions @param {string | null} current @param {ReadonlySet<string>} answering @param {Map<string, import("../api/types.js").SessionHit> | null} [hits] Of a search. */
    show(sessions, current, answering, hits = null) {
      const now = new Date();
      /** @type {Record<Day, HTMLElement[]>} */
      const wanted = { pinned: [], today: [], yesterday: [], earlier: [] };
      for (const session of sessions) {
        const { session_id } = session;
        const row = rows.get(session_id) ?? sessionRow(app, () => leave(session_id));
        rows.set(session_id, row);
        row.show(session, session_id === current, answering.has(session_id), hits?.get(session_id) ?? null);
        wanted[session.pinned && !hits ? "pinned" : dayOf(new Date(session.updated_at), now)].push(row.element);
      }
      for (const group of groups) {
        arrange(group.list, wanted[group.day]);
        group.element.hidden = wanted[group.day].length === 0;
      }
      settle();
    },
  };
}

/** @param {Date} when @param {Date} now @returns {Day} */
function dayOf(when, now) {
  const midnight = new Date(now.getFullYear(), now.getMonth(), now.getDate());
  if (when >= midnight) return "today";
  midnight.setDate(midnight.getDate() - 1);
  return when >= midnight ? "yesterday" : "earlier";
}

/** Put the children in order and move none that need not move: what is moved loses the focus. @param {Element} list @param {Element[]} wanted */
function arrange(list, wanted) {
  const kept = new Set(wanted);
  for (const child of [...list.children]) if (!kept.has(child)) child.remove();
  wanted.forEach((child, at) => list.children[at] !== child && list.insertBefore(child, list.children[at] ?? null));
}
