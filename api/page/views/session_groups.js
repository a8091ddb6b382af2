/** The list of sessions by when they were last used: the pinned ones, today's, yesterday's, the last days', then by months. */

import { h } from "../dom.js";
import { day } from "../words/format.js";
import { words } from "../words/index.js";
import { roving } from "./roving.js";
import { sessionRow } from "./session_row.js";

const RECENT_DAYS = 7;

/**
 * Make the list of sessions.
 * @param {App} app
 * @param {() => void} onEmpty Called where the focus has no row to go to.
 */
export function sessionGroups(app, onEmpty) {
  /** @type {Map<string, import("./session_row.js").SessionRow>} */
  const rows = new Map();
  /** @type {Map<string, {list: HTMLElement, element: HTMLElement}>} */
  const groups = new Map();
  const element = h("div", { class: "session-groups" });
  const settle = roving(element, ".session > a, .session [type=checkbox]", { first: ".session > [aria-current]", vertical: true });

  /** @param {string} name */
  function groupOf(name) {
    const known = groups.get(name);
    if (known) return known;
    const label = h("p", { class: "day", id: `sessions-${groups.size}` }, name);
    const list = h("ul", { "aria-labelledby": label.id });
    const group = { list, element: h("div", { class: "session-group" }, label, list) };
    groups.set(name, group);
    return group;
  }

  /** Put the focus on a row that stays when these go. @param {ReadonlySet<string>} going */
  function leave(going) {
    const shown = [...element.querySelectorAll("li")];
    const staying = [...rows].filter(([id]) => !going.has(id)).map(([, row]) => row);
    const last = Math.max(...[...going].map((id) => shown.findIndex((each) => each === rows.get(id)?.element)));
    const next = [...shown.slice(last), ...shown.slice(0, last).reverse()];
    const row = next.map((each) => staying.find((other) => other.element === each)).find(Boolean);
    if (row) row.focus();
    else onEmpty();
  }

  return {
    element,
    leave,
    /** @param {Session[]} sessions @param {string | null} current @param {Map<string, SessionHit> | null} [hits] Of a search. */
    show(sessions, current, hits = null) {
      const { answering, chosen } = app.sessions;
      const now = new Date();
      /** @type {Map<string, HTMLElement[]>} */
      const wanted = new Map();
      for (const session of sessions) {
        const { session_id: id } = session;
        const row = rows.get(id) ?? sessionRow(app, () => leave(new Set([id])));
        rows.set(id, row);
        row.show(session, id === current, answering.value.has(id), chosen.value?.has(id) ?? null, hits?.get(id) ?? null);
        const name = session.pinned && !hits ? words.ways.pinned : nameOf(new Date(session.updated_at), now);
        wanted.set(name, [...(wanted.get(name) ?? []), row.element]);
      }
      for (const [name, list] of wanted) arrange(groupOf(name).list, list);
      arrange(element, [...wanted.keys()].map((name) => groupOf(name).element));
      settle();
    },
  };
}

/** Name the time that a session was last used in. @param {Date} when @param {Date} now */
function nameOf(when, now) {
  const { today, yesterday, recent } = words.sessions;
  const daysAgo = (/** @type {number} */ days) => new Date(now.getFullYear(), now.getMonth(), now.getDate() - days);
  if (when >= daysAgo(0)) return today;
  if (when >= daysAgo(1)) return yesterday;
  if (when >= daysAgo(RECENT_DAYS)) return recent;
  return day(`${when.getFullYear()}-${when.getMonth() + 1}`);
}

/** Put the children in order and move none that need not move: what is moved loses the focus. @param {Element} list @param {Element[]} wanted */
function arrange(list, wanted) {
  const kept = new Set(wanted);
  for (const child of [...list.children]) if (!kept.has(child)) child.remove();
  wanted.forEach((child, at) => list.children[at] !== child && list.insertBefore(child, list.children[at] ?? null));
}
