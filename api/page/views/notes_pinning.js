/** Pinning an answer, a part of it, or marked words of a document: which note they go to, and the way back. */

import { fill, h } from "../dom.js";
import { words } from "../words/index.js";
import { openDialog } from "./dialog.js";
import { icon } from "./icons.js";

const LISTED = 50;

/**
 * Pin something to a note that is asked for; where there is none yet, to a new one.
 * @param {App} app
 * @param {Wire.Pin} what
 */
export async function pin(app, what) {
  const said = words.notes;
  await app.attempt(async () => {
    const { notes } = await app.client.json(`api/notes?limit=${LISTED}`, { list: "notes" });
    const own = notes.filter((/** @type {Wire.NoteSummary} */ each) => each.is_own);
    if (!own.length) return begin();
    const dialog = openDialog(said.pinTo, { closedby: "any", class: "notes" });
    /** @param {() => Promise<void>} act */
    const choose = (act) => () => (dialog.close(), void app.attempt(act));
    const list = h("ul", null);
    fill(
      list,
      h("li", null, h("button", { class: "quiet", onclick: choose(begin) }, icon("add"), said.begin)),
      own.map((/** @type {Wire.NoteSummary} */ note) =>
        h("li", null, h("button", { class: "quiet", dir: "auto", onclick: choose(() => add(note)) }, icon("pin"), note.title)),
      ),
    );
    dialog.append(list);
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
