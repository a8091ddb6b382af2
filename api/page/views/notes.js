/** The notes: a list of them, and one of them to be read, edited, put in order, shared and exported. */

import { fill, h } from "../dom.js";
import { readable } from "../text/reading.js";
import { words } from "../words/index.js";
import { openDialog } from "./dialog.js";
import { icon, textButton } from "./icons.js";
import { menuButton } from "./menu.js";
import { noteEntry, written } from "./notes_entry.js";
import { showNotes } from "./notes_place.js";
import { saveFile, savingActions } from "./taking.js";

const PAUSE = 1000; // milliseconds after the last key
const LISTED = 50;

/**
 * Open them.
 * @param {App} app
 * @param {string} id Of one of them; "" for the list.
 * @param {(dialog: HTMLElement) => void} drawn Called once it is there.
 */
export function notes(app, id, drawn) {
  const body = h("div", { class: "note" });
  const dialog = openDialog(words.notes.label, { class: "notes" }, body);
  void app.attempt(async () => {
    await readable();
    if (id) await one(app, dialog, body, id);
    else await list(app, body);
    drawn(dialog);
  }).then((done) => done || dialog.close());
  return dialog;
}

/** @param {App} app @param {HTMLElement} body */
async function list(app, body) {
  const said = words.notes;
  const rows = h("ul", null);
  const more = textButton("small", () => void app.attempt(read), words.sessions.more);
  let cursor = /** @type {string | null} */ (null);

  async function read() {
    const asked = new URLSearchParams(cursor ? { cursor } : {});
    const { notes: found, next_cursor: next } = await app.client.json(`api/notes?${asked}`, { list: "notes" });
    rows.append(...found.map(row));
    cursor = next;
    more.hidden = !cursor;
  }

  /** @param {Wire.NoteSummary} note */
  function row({ note_id: id, title, entries, shared }) {
    return h("li", null,
      h("button", { class: "quiet", onclick: () => showNotes(app, id) },
        h("strong", { dir: "auto" }, title),
        h("span", { class: "muted" }, [said.entries({ count: entries }), shared && said.shared].filter(Boolean).join(" · ")),
      ),
    );
  }

  const begin = textButton("primary", () => void app.attempt(async () => {
    const made = await app.client.json("api/notes", { method: "POST", json: { title: said.begin } });
    showNotes(app, made.note_id);
  }), icon("add"), said.begin);
  await read();
  fill(body, begin, rows.childElementCount ? rows : h("p", { class: "muted" }, said.none), more);
}

/** @param {App} app @param {HTMLDialogElement} dialog @param {HTMLElement} body @param {string} id */
async function one(app, dialog, body, id) {
  const said = words.notes;
  const path = `api/notes/${id}`;
  const administers = app.person.value?.scopes?.includes("admin") ?? false;
  const back = textButton("quiet small", () => showNotes(app), icon("back"), said.all);
  /** What was typed and is not saved yet. @type {Wire.NoteChange} */
  let typed = {};
  let pause = 0;
  const leave = () => void save(true);
  addEventListener("pagehide", leave);
  dialog.addEventListener("close", () => {
    removeEventListener("pagehide", leave);
    void save();
  }, { once: true });
  await read();

  /** Save what is typed in a while, if no more comes. @param {Wire.NoteChange} change */
  function keep(change) {
    typed = { ...typed, ...change };
    clearTimeout(pause);
    pause = setTimeout(() => void save(), PAUSE);
  }

  async function save(isLeaving = false) {
    clearTimeout(pause);
    const json = typed;
    typed = {};
    if (!Object.keys(json).length) return;
    const done = await app.attempt(() => app.client.send(path, { method: "PATCH", json, keepalive: isLeaving }));
    if (!done) typed = { ...json, ...typed };
  }

  /** @param {number} [at] Which entry is to have the focus. */
  async function read(at = -1) {
    const { note, entries } = await app.client.json(path, { list: "entries" });
    const shown = entries.map((entry, place) => noteEntry(app, entry, note.is_own && {
      up: place > 0 && (() => void move(place, -1)),
      down: place < entries.length - 1 && (() => void move(place, 1)),
      remove: () => void change(() => app.client.send(`${path}/entries/${entry.entry_id}`, { method: "DELETE" }), Math.max(0, place - 1)),
    }));
    /** @param {number} place @param {number} by */
    function move(place, by) {
      const order = entries.map((each) => each.entry_id);
      order.splice(place + by, 0, ...order.splice(place, 1));
      return change(() => send({ order }), place + by);
    }
    fill(
      body,
      h("div", { class: "tools" }, back, menuButton(said.save, "take", () => savingActions((format) => void saveFile(app, `${path}/export`, format))), (note.is_own || administers) && deleting()),
      ...(note.is_own ? fields(note) : [h("h3", { dir: "auto" }, note.title), note.text && written(note.text)]),
      (note.is_own || administers) && sharing(note),
      shown.length ? h("ol", { class: "entries" }, shown) : h("p", { class: "muted" }, said.empty),
    );
    if (at >= 0) (shown[at] ?? back).querySelector("button")?.focus();
  }

  /** @param {Wire.NoteSummary} note */
  function fields({ title, text }) {
    const name = h("input", { type: "text", class: "name", maxlength: 255, dir: "auto", "aria-label": said.title, ".value": title });
    name.oninput = () => keep({ title: name.value.trim() || title });
    name.onchange = () => {
      name.value = name.value.trim() || title;
      void save();
    };
    const area = h("textarea", { rows: 3, maxlength: 20_000, dir: "auto", "aria-label": said.text, placeholder: said.text, ".value": text });
    area.oninput = () => keep({ text: area.value.trim() });
    area.onchange = () => void save();
    return [name, area];
  }

  /** @param {Wire.NoteSummary} note */
  function sharing({ shared, is_own: isOwn }) {
    const box = h("input", { type: "checkbox", checked: shared });
    box.onchange = () => void change(async () => {
      await send({ shared: box.checked });
      if (!isOwn) showNotes(app); // whoever ended that another's is shared reads it no more
    });
    return h("label", { class: "choice" }, box, said.share);
  }

  function deleting() {
    const button = textButton("quiet small danger", () => {
      if (button.textContent !== said.sure) return fill(button, said.sure);
      typed = {};
      void app.attempt(() => app.client.send(path, { method: "DELETE" })).then((done) => done && showNotes(app));
    }, icon("trash"), said.delete);
    return button;
  }

  /** @param {Wire.NoteChange} json */
  const send = (json) => app.client.send(path, { method: "PATCH", json });

  /** @param {() => Promise<unknown>} act @param {number} [at] Which entry is to have the focus then; without it nothing is drawn anew. */
  async function change(act, at) {
    await app.attempt(async () => {
      await save(); // what is drawn anew is what is stored
      await act();
      if (at !== undefined) await read(at);
    });
  }
}

/** Pin something to a note that is asked for; where there is none yet, to a new one.
 * @param {App} app @param {Wire.Pin} what */
export async function pin(app, what) {
  const said = words.notes;
  await app.attempt(async () => {
    const { notes } = await app.client.json(`api/notes?limit=${LISTED}`, { list: "notes" });
    const own = notes.filter((/** @type {Wire.NoteSummary} */ each) => each.is_own);
    if (!own.length) return begin();
    const dialog = openDialog(said.pinTo, { closedby: "any", class: "notes" });
    /** @param {() => Promise<void>} act */
    const choose = (act) => () => (dialog.close(), void app.attempt(act));
    dialog.append(h("ul", null,
      h("li", null, h("button", { class: "quiet", onclick: choose(begin) }, icon("add"), said.begin)),
      own.map((/** @type {Wire.NoteSummary} */ note) =>
        h("li", null, h("button", { class: "quiet", dir: "auto", onclick: choose(() => add(note)) }, icon("pin"), note.title))),
    ));
  });

  async function begin() {
    const note = await app.client.json("api/notes", { method: "POST", json: { entry: what } });
    tell(note.title, `api/notes/${note.note_id}`);
  }

  /** @param {Wire.NoteSummary} note */
  async function add({ note_id: id, title }) {
    const path = `api/notes/${id}/entries`;
    const { entry_id: entry } = await app.client.json(path, { method: "POST", json: what });
    tell(title, `${path}/${entry}`);
  }

  /** @param {string} title @param {string} made What is deleted by the way back. */
  function tell(title, made) {
    const undo = () => void app.attempt(() => app.client.send(made, { method: "DELETE" }));
    app.notice.set({ kind: "done", text: said.pinned({ title }), undo });
  }
}
