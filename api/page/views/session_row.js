/** A session in the list: to be opened, renamed, deleted, or chosen with others. */

import { change, fill, h } from "../dom.js";
import { addressOf } from "../state/app.js";
import { codePointIndex } from "../text/offsets.js";
import { moment } from "../words/format.js";
import { words } from "../words/index.js";
import { titleOf } from "../words/titles.js";
import { icon, iconButton } from "./icons.js";
import { menuButton } from "./menu.js";

const LONGEST = 255;
const LEAD = 16; // letters before what was found

/**
 * @typedef {object} SessionRow
 * @property {HTMLElement} element
 * @property {(session: Session, current: boolean, answering: boolean, chosen: boolean | null, hit: SessionHit | null) => void} show
 *   `chosen` is null where none are chosen.
 * @property {() => void} focus
 */

/**
 * Make the row of a session.
 * @param {App} app
 * @param {() => void} onDelete Called before the row goes, to put the focus elsewhere.
 * @returns {SessionRow}
 */
export function sessionRow(app, onDelete) {
  /** @type {Session | null} */
  let shown = null;
  const name = h("span", { class: "name", dir: "auto" });
  const answers = words.sessions.answering;
  const dot = h("span", { class: "dot", role: "img", "aria-label": answers, title: answers, hidden: true });
  const found = h("span", { class: "found-text", dir: "auto", hidden: true });
  const link = h("a", { class: "open", onclick }, name, dot, found);
  const more = menuButton("", "more", () => [
    { text: shown?.pinned ? words.ways.unpin : words.ways.pin, icon: "pin", act: pin },
    { text: words.sessions.rename, icon: "edit", act: rename },
    { text: words.sessions.choose, icon: "check", act: () => shown && app.sessions.tick(shown.session_id) },
    { text: words.sessions.delete, icon: "trash", danger: true, act: remove },
  ]);
  change(more, { tabindex: -1 }); // the list is one stop, and this is beside its row
  const tick = h("input", { type: "checkbox", onchange: () => shown && app.sessions.tick(shown.session_id) });
  const ticked = h("span", { class: "name", dir: "auto" });
  const choice = h("label", { class: "open" }, tick, ticked);
  const element = h("li", { class: "session", onkeydown: aside }, link, more);

  function pin() {
    const session = shown;
    if (session) void app.attempt(() => app.sessions.pin(session.session_id, !session.pinned)).then(() => link.focus());
  }

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
    const before = titleOf(shown);
    const input = h(
      "input",
      { type: "text", maxlength: LONGEST, required: true, "aria-label": words.sessions.title, ".value": before },
    );
    const form = h(
      "form",
      {
        class: "rename",
        onsubmit: save,
        onkeydown: (event) => event.key === "Escape" && (event.stopPropagation(), back()),
      },
      input,
      h("button", { class: "quiet", type: "submit", "aria-label": words.sessions.save, title: words.sessions.save },
        icon("check"),
      ),
      iconButton("close", words.page.cancel, back, "quiet"),
    );
    fill(element, form);
    input.select();

    /** @param {SubmitEvent} event */
    async function save(event) {
      event.preventDefault();
      const title = input.value.trim();
      if (!title) return change(input, { "aria-invalid": "true" });
      if (title === before || (await app.renameSession(session_id, title))) back();
      else input.focus();
    }
  }

  function remove() {
    if (!shown) return;
    onDelete();
    void app.deleteSessions([shown.session_id]);
  }

  return {
    element,
    focus: () => (choice.isConnected ? tick : link).focus(),
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
