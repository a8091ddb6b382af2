/** The card of a document: its title, which is changed in its place, how it begins, what is in it, who added it and when. */

import { orNull } from "../api/problem.js";
import { fill, h } from "../dom.js";
import { moment } from "../words/format.js";
import { words } from "../words/index.js";
import { openDialog } from "./dialog.js";
import { placeList } from "./offers.js";
import { icon, textButton } from "./icons.js";
import { formatOf } from "./shelf_row.js";
import { titleForm } from "./title_form.js";

const LONGEST = 500;
const WIDTH = 220; // pixels of the picture, of the layout
const FINE = 2;

/**
 * Show the card of a document.
 * @param {App} app
 * @param {Shelf} shelf
 * @param {ShelfActions} actions
 * @param {Wire.Document} document
 */
export async function shelfCard(app, shelf, actions, document) {
  const said = words.collections.card;
  const { document_id, original, media_type, page_count, file_name, folder, updated_at, created_at } = document;
  const gone = new AbortController();
  /** The list as it is behind a new title, by which it may stand elsewhere. @type {Promise<unknown> | null} */
  let renamed = null;
  const picture = h("div", { class: "picture" });
  const facts = h("dl", null);
  const inside = h("div", { class: "inside" });
  const act = (/** @type {() => void} */ doing) => () => {
    dialog.close();
    doing();
  };
  const buttons = h("div", { class: "doing" },
    textButton("primary small", act(() => actions.read(document)), icon("book"), said.read),
    textButton("small", act(() => void app.attempt(() => app.selection.save([{ document_id, title: document.title, tokens: document.tokens, gone: false }], []))), icon("only"), said.alone),
    textButton("small writes", () => rename(), icon("edit"), said.rename),
    textButton("small danger writes", act(() => void actions.delete([document])), icon("trash"), words.shelf.delete),
  );
  const about = h("div", { class: "about" }, facts, buttons);
  const dialog = openDialog(document.title, { class: "card", closedby: "any" }, h("div", { class: "first" }, picture, about), inside);
  dialog.classList.toggle("read-only", Boolean(app.person.value?.scopes && !app.person.value.scopes.includes("write")));
  dialog.addEventListener("close", () => {
    gone.abort();
    const { activeElement: back, body } = dialog.ownerDocument;
    void renamed?.then(() => [back, body].includes(dialog.ownerDocument.activeElement) && !app.reading.value && actions.find(document_id));
  });
  const close = app.reading.watch((reading) => reading && dialog.close());
  dialog.addEventListener("close", () => close?.());
  tell("");

  const { signal } = gone;
  const [versions, guide] = await Promise.all([
    orNull(app.client.json(`api/documents/${document_id}/versions`, { list: "versions", signal })),
    orNull(app.client.guide(document_id)),
    media_type.includes("pdf") && original ? draw() : null,
  ]);
  if (signal.aborted) return;
  tell(versions?.versions.at(-1)?.changed_by ?? "");
  const begins = guide?.sentences.map((each) => each.text).join(" ");
  if (!picture.firstChild && begins) fill(picture, h("q", { dir: "auto" }, begins));
  if (guide && guide.outline.length > 1) {
    fill(inside, h("h3", null, said.contents), placeList(app, { ...guide, title: document.title }, "outline", guide.outline));
  }

  /** Say who added it, once that is known. @param {string} who */
  function tell(who) {
    const by = !who ? "" : who === app.person.value?.user ? said.you : who;
    const kind = [formatOf(media_type), page_count ? said.pages({ count: page_count }) : ""].filter(Boolean).join(" · ");
    /** @type {[string, string][]} */
    const told = [
      [said.kind, kind],
      [said.file, [folder, file_name].filter(Boolean).join("/")],
      [said.added, by ? said.by({ when: moment(created_at), who: by }) : moment(created_at)],
      [said.changed, updated_at === created_at ? "" : moment(updated_at)],
    ];
    fill(facts, told.filter(([, value]) => value).map(([name, value]) => h("div", null, h("dt", null, name), h("dd", { dir: "auto" }, value))));
  }

  /** Draw the first page of a PDF file. */
  async function draw() {
    try {
      const { openPdf } = await import("./pdf_file.js");
      const file = await openPdf(app.client, document, signal, () => undefined);
      const page = await file.getPage(1);
      const plain = page.getViewport({ scale: 1 });
      const viewport = page.getViewport({ scale: (WIDTH * FINE) / plain.width });
      const canvas = h("canvas", { width: Math.ceil(viewport.width), height: Math.ceil(viewport.height), role: "img", "aria-label": said.page });
      await page.render({ canvas, viewport, background: "#ffffff" }).promise;
      if (!signal.aborted) fill(picture, canvas);
    } catch {
      // How it begins is shown in its place.
    }
  }

  function rename() {
    const button = h("button", { type: "submit", class: "primary small" }, words.collections.save);
    const { form, input } = titleForm({ label: said.title, before: document.title, longest: LONGEST }, keep, back, button);
    dialog.querySelector("header h2")?.replaceWith(form);
    input.select();

    /** @param {string} title */
    function back(title) {
      form.replaceWith(h("h2", null, title));
      buttons.querySelectorAll("button")[2]?.focus();
    }
  }

  /** @param {string} title */
  function keep(title) {
    return app.attempt(async () => {
      document = { ...document, ...(await app.client.json(`api/documents/${document_id}`, { method: "PATCH", json: { title } })) };
      dialog.setAttribute("aria-label", title);
      app.libraryChanged();
      renamed = Promise.all([shelf.refresh(), app.selection.check()]);
    });
  }
}
