/** The list of sessions by when they were last used: the pinned ones, today's, yesterday's, the last days', then by months. */

import { change, fill, h } from "../dom.js";
import { addressOf } from "../state/app.js";
import { codePointIndex } from "../text/offsets.js";
import { day, moment } from "../words/format.js";
import { words } from "../words/index.js";
import { titleOf } from "../words/titles.js";
import { icon, iconButton } from "./icons.js";
import { menuButton } from "./menu.js";
import { roving } from "./roving.js";
import { titleForm } from "./title_form.js";

const RECENT_DAYS = 7;
const LONGEST = 255;
const LEAD = 16; // letters before what was found

/** Make the list of sessions.
 * @param {App} app @param {() => void} onEmpty Called where the focus has no row to go to. */
export function sessionGroups(app, onEmpty) {
  const rows = /** @type {Map<string, ReturnType<typeof sessionRow>>} */ (new Map());
  const groups = /** @type {Map<string, {list: HTMLElement, element: HTMLElement}>} */ (new Map());
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
      const wanted = /** @type {Map<string, HTMLElement[]>} */ (new Map());
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

/** Make the row of a session.
 * @param {App} app @param {() => void} onDelete Called before the row goes, to put the focus elsewhere. */
function sessionRow(app, onDelete) {
  let shown = /** @type {Session | null} */ (null);
  const name = h("span", { class: "name", dir: "auto" });
  const answers = words.sessions.answering;
  const dot = h("span", { class: "dot", role: "img", "aria-label": answers, title: answers, hidden: true });
  const found = h("span", { class: "found-text", dir: "auto", hidden: true });
  const link = h("a", { class: "open", onclick }, name, dot, found);
  const more = menuButton("", "more", () => [
    { text: shown?.pinned ? words.ways.unpin : words.ways.pin, icon: "pin", act: () => shown && pin(shown) },
    { text: words.sessions.rename, icon: "edit", act: rename },
    { text: words.sessions.choose, icon: "check", act: () => shown && app.sessions.tick(shown.session_id) },
    { text: words.sessions.delete, icon: "trash", danger: true, act: remove },
  ]);
  change(more, { tabindex: -1 }); // the list is one stop, and this is beside its row
  const tick = h("input", { type: "checkbox", onchange: () => shown && app.sessions.tick(shown.session_id) });
  const ticked = h("span", { class: "name", dir: "auto" });
  const choice = h("label", { class: "open" }, tick, ticked);
  const element = h("li", { class: "session", onkeydown: aside }, link, more);

  /** @param {Session} session */
  const pin = ({ session_id, pinned }) => app.attempt(() => app.sessions.pin(session_id, !pinned)).then(() => link.focus());

  /** The session that is on show already is no further step. @param {MouseEvent} event */
  function onclick(event) {
    if (link.hash !== location.hash) return;
    event.preventDefault();
    app.sessionsOpen.set(false);
  }

  /** @param {KeyboardEvent} event */
  function aside(event) {
    const [onward, back] = getComputedStyle(element).direction === "rtl" ? [link, more] : [more, link];
    const to = { ArrowRight: onward, ArrowLeft: back }[event.key];
    if (!to || event.target === to || !(event.target === link || event.target === more)) return;
    event.preventDefault();
    to.focus();
  }

  function back() {
    fill(element, link, more);
    more.focus();
  }

  function rename() {
    if (!shown) return;
    const { session_id } = shown;
    const { save, title: label } = words.sessions;
    const buttons = [
      h("button", { class: "quiet", type: "submit", "aria-label": save, title: save }, icon("check")),
      iconButton("close", words.page.cancel, back, "quiet"),
    ];
    const keep = (/** @type {string} */ title) => app.renameSession(session_id, title);
    const { form, input } = titleForm({ label, before: titleOf(shown), longest: LONGEST }, keep, back, ...buttons);
    fill(element, form);
    input.select();
  }

  function remove() {
    if (!shown) return;
    onDelete();
    void app.deleteSessions([shown.session_id]);
  }

  return {
    element,
    focus: () => (choice.isConnected ? tick : link).focus(),
    /** `chosen` is null where none are chosen.
     * @param {Session} session @param {boolean} current @param {boolean} answering @param {boolean | null} chosen @param {SessionHit | null} hit */
    show(session, current, answering, chosen, hit) {
      if (session !== shown) {
        const title = titleOf(session);
        for (const each of [name, ticked]) fill(each, title);
        change(link, { href: addressOf(session.session_id), title: `${title} · ${moment(session.updated_at)}` });
        change(more, { "aria-label": words.sessions.menu({ title }), title: words.sessions.menu({ title }) });
        shown = session;
      }
      if (choice.isConnected !== (chosen !== null)) {
        const focused = element.contains(document.activeElement);
        if (chosen === null) fill(element, link, more);
        else fill(element, choice);
        if (focused) this.focus();
      }
      tick.checked = chosen ?? false;
      change(link, { "aria-current": current && "page" });
      element.classList.toggle("current", current);
      dot.hidden = !answering;
      found.hidden = hit === null;
      fill(found, hit && marked(hit));
    },
  };
}

/** Mark in an excerpt what was found. @param {SessionHit} hit */
function marked({ excerpt, start, end }) {
  const at = codePointIndex(excerpt);
  const [before, within] = [at(start), at(end)];
  // What was found is to be seen, and not only what the line begins with.
  const from = before > LEAD ? excerpt.indexOf(" ", before - LEAD) + 1 : 0;
  const lead = from && from <= before ? `…${excerpt.slice(from, before)}` : excerpt.slice(0, before);
  return [lead, h("mark", null, excerpt.slice(before, within)), excerpt.slice(within)];
}
