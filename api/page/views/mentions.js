/** What is typed behind an "@" in the question: documents and collections so called, one of which is then asked alone. */

import { orNull } from "../api/problem.js";
import { change, fill, h } from "../dom.js";
import { collectionsOf } from "../state/collections.js";
import { words } from "../words/index.js";
import { icon } from "./icons.js";

/** @typedef {{id: string, name: string, facts: string, sign: IconName, tick: () => Promise<unknown>}} Option */

const TYPING_MS = 150; // that a search waits for the next letter
const MOST = 8;
/** Behind a letter of a name it is an address; other writings have no spaces between words. */
const MENTION = /(?<![\w.+-])@([^@\n]{0,60})$/;

/** Make the list for a field. @param {App} app @param {import("./question_field.js").QuestionField} field */
export function mentionList(app, field) {
  const said = words.collections.mention;
  const { selection } = app;
  const collections = collectionsOf(app);
  const list = h("ul", { class: "mentions", id: "mentions", role: "listbox", "aria-label": said.label, hidden: true });
  const status = h("p", { class: "seen-by-readers-only", role: "status" });
  field.text.after(list, status);
  let options = /** @type {Option[]} */ ([]);
  let active = 0;
  /** Where the "@" is that was put away, or nothing. */
  let refused = -1;
  let turn = 0;
  /** Whether the list is yet to be made for what stands there now. */
  let looking = false;
  /** What was chosen last, as long as it is asked alone. */
  let told = "";
  for (const cell of [selection.pages, selection.collections]) cell.watch(() => {
    const there = selection.has(told) || selection.collections.value.some((each) => each.collection_id === told);
    if (told && !there) status.textContent = told = "";
  });
  change(field.text, { "aria-autocomplete": "list", "aria-haspopup": "listbox" });
  field.text.addEventListener("input", () => void look());
  field.text.addEventListener("blur", close);
  // A press must not take the focus away, or the list would be gone before it counts.
  list.addEventListener("pointerdown", (event) => event.preventDefault());
  list.addEventListener("click", (event) => {
    const at = [...list.children].findIndex((each) => each.contains(/** @type {Node} */ (event.target)));
    if (at >= 0) choose(at);
  });
  void collections.refresh().then(() => look());

  /** What is being typed behind an "@", and where that is. */
  function mentioned() {
    const { value, selectionStart, selectionEnd } = field.text;
    const found = selectionStart === selectionEnd ? MENTION.exec(value.slice(0, selectionStart)) : null;
    return found && { from: found.index, to: selectionStart, typed: (found[1] ?? "").trim() };
  }

  /** Make the list. @param {string} [key] Was pressed for what is yet to be found, and counts then. */
  async function look(key) {
    const here = mentioned();
    const mine = (turn += 1);
    looking = false;
    if (here && here.from === refused) return;
    refused = -1;
    if (!here) return close();
    looking = true;
    if (!key) await new Promise((resolve) => setTimeout(resolve, TYPING_MS));
    if (mine !== turn) return;
    const found = await orNull(app.client.documents({ lasting: true, q: here.typed || null, limit: MOST }));
    if (mine !== turn) return;
    looking = false;
    const wanted = here.typed.toLocaleLowerCase();
    const chosen = new Set(selection.collections.value.map((each) => each.collection_id));
    const sets = collections.list.value.filter(({ collection_id, name }) => !chosen.has(collection_id) && name.toLocaleLowerCase().includes(wanted));
    options = [
      ...sets.map((each) => /** @type {Option} */ ({
        id: each.collection_id, name: each.name, facts: `${said.collection} · ${words.collections.holds({ count: each.documents })}`, sign: "set",
        tick: () => selection.tickCollection(each, true),
      })),
      ...(found?.documents ?? []).filter((each) => !selection.has(each.document_id)).map((each) => /** @type {Option} */ ({
        id: each.document_id, name: each.title, facts: each.file_name, sign: "page", tick: () => selection.add(each),
      })),
    ].slice(0, MOST);
    active = 0;
    show();
    status.textContent = options.length ? said.found({ count: options.length }) : here.typed ? said.none : "";
    told = "";
    if (key && options.length) choose(0);
    else if (key === "Enter") field.text.form?.requestSubmit();
  }

  function show() {
    list.hidden = !options.length;
    fill(list, options.map(({ name, facts, sign }, at) => h(
      "li",
      { role: "option", id: `mention-${at}`, "aria-selected": String(at === active) },
      icon(sign),
      h("span", { class: "name", dir: "auto" }, name),
      h("span", { class: "muted" }, h("bdi", null, facts === name ? "" : facts)),
    )));
    const shown = options.length > 0;
    change(field.text, { "aria-controls": shown && "mentions", "aria-activedescendant": shown && `mention-${active}` });
    list.children[active]?.scrollIntoView({ block: "nearest" });
  }

  function close() {
    turn += 1;
    looking = false;
    options = [];
    show();
    status.textContent = "";
  }

  /** @param {number} at */
  function choose(at) {
    const here = mentioned();
    const option = options[at];
    if (!here || !option) return close();
    const { value } = field.text;
    const before = value.slice(0, here.from);
    // Within a sentence the name stays as words of it; at its head it only says where to look.
    const put = before.trim() ? `${option.name} ` : "";
    field.write(before + put + value.slice(here.to).trimStart());
    field.text.setSelectionRange((before + put).length, (before + put).length);
    close();
    status.textContent = said.chosen({ name: option.name });
    void app.attempt(option.tick);
    told = option.id;
  }

  return {
    /** Do what a key means in the list. @param {KeyboardEvent} event @returns {boolean} Whether it means anything. */
    press(event) {
      if (event.shiftKey || event.ctrlKey || event.metaKey || event.altKey) return false;
      if (looking && (event.key === "Enter" || (event.key === "Tab" && !list.hidden))) {
        void look(event.key);
        return true;
      }
      if (list.hidden) return false;
      const step = { ArrowDown: 1, ArrowUp: options.length - 1 }[event.key];
      if (step) {
        active = (active + step) % options.length;
        show();
      } else if (event.key === "Enter" || event.key === "Tab") choose(active);
      else if (event.key === "Escape") {
        refused = mentioned()?.from ?? -1;
        close();
      } else return false;
      return true;
    },
  };
}
