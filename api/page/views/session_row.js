/** A session in the list: to be opened, renamed and deleted. */

import { change, fill, h } from "../dom.js";
import { addressOf } from "../state/app.js";
import { codePointIndex } from "../text/offsets.js";
import { words } from "../words/index.js";
import { titleOf } from "../words/titles.js";
import { icon, iconButton, textButton } from "./icons.js";
import { menuButton } from "./menu.js";

/** @typedef {import("../api/types.js").Session} Session */

const LONGEST = 255;

/**
 * @typedef {object} SessionRow
 * @property {HTMLElement} element
 * @property {(session: Session, current: boolean, answering: boolean, hit?: import("../api/types.js").SessionHit | null) => void} show
 * @property {() => void} focus
 */

/**
 * Make the row of a session.
 * @param {import("../state/app.js").App} app
 * @param {() => void} onDelete Called before the row goes, to put the focus elsewhere.
 * @returns {SessionRow}
 */
export function sessionRow(app, onDelete) {
  /** @type {Session | null} */
  let shown = null;
  const name = h("span", { class: "name", dir: "auto" });
  const dot = h(
    "span",
    {
      class: "dot",
      role: "img",
      "aria-label": words.sessions.answering,
      title: words.sessions.answering,
      hidden: true,
    },
  );
  const found = h("span", { class: "found-text", dir: "auto", hidden: true });
  const link = h("a", { class: "open", onclick }, name, dot, found);
  const more = menuButton("", "more", () => [
    { text: shown?.pinned ? words.ways.unpin : words.ways.pin, icon: "pin", act: pin },
    { text: words.sessions.rename, icon: "edit", act: rename },
    { text: words.sessions.delete, icon: "trash", danger: true, act: confirm },
  ]);
  change(more, { tabindex: -1 }); // the list is one stop, and this is beside its row
  const element = h("li", { class: "session", onkeydown: aside }, link, more);

  function pin() {
    if (shown) void app.pinSession(shown.session_id, !shown.pinned).then(() => link.focus());
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
      h(
        "button",
        { class: "quiet", type: "submit", "aria-label": words.sessions.save, title: words.sessions.save },
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

  function confirm() {
    if (!shown) return;
    const { session_id } = shown;
    const cancel = textButton("small", back, words.page.cancel);
    const question = h("p", null, words.sessions.confirm(titleOf(shown)));
    const remove = textButton("small danger", () => void goOn(), words.sessions.delete);
    const onkeydown = (/** @type {KeyboardEvent} */ event) => event.key === "Escape" && (event.stopPropagation(), back());
    fill(
      element,
      h(
        "div",
        { class: "confirm", role: "group", "aria-label": question.textContent, onkeydown },
        question,
        cancel,
        remove,
      ),
    );
    cancel.focus();

    async function goOn() {
      remove.disabled = true;
      onDelete();
      if (!(await app.deleteSession(session_id))) back();
    }
  }

  return {
    element,
    focus: () => link.focus(),
    show(session, current, answering, hit = null) {
      if (session !== shown) {
        const title = titleOf(session);
        fill(name, title);
        change(link, { href: addressOf(session.session_id), title });
        change(more, { "aria-label": words.sessions.menu(title), title: words.sessions.menu(title) });
        shown = session;
      }
      change(link, { "aria-current": current && "page" });
      element.classList.toggle("current", current);
      dot.hidden = !answering;
      found.hidden = hit === null;
      fill(found, hit && marked(hit));
    },
  };
}

/** Mark in an excerpt what was found. @param {import("../api/types.js").SessionHit} hit */
function marked({ excerpt, start, end }) {
  const at = codePointIndex(excerpt);
  const [before, within] = [at(start), at(end)];
  return [excerpt.slice(0, before), h("mark", null, excerpt.slice(before, within)), excerpt.slice(within)];
}
