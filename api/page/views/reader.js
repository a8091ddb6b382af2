/** The document beside the answer, at the quote: as it is or as text. */

import { Problem } from "../api/problem.js";
import { change, fill, h } from "../dom.js";
import { DocumentTexts } from "../state/document.js";
import { citationOf } from "../text/deep_links.js";
import { passagesOf } from "../text/passages.js";
import { words } from "../words/index.js";
import { advice, said } from "../words/problems.js";
import { guideFold } from "./offers.js";
import { icon, iconButton, textButton } from "./icons.js";
import { readerLinks, readerPassages } from "./reader_head.js";
import { askable, MOST } from "./reader_selection.js";
import { sheet, toDocument } from "./reader_sheet.js";
import { readerViews } from "./reader_views.js";

/**
 * What the reader stands in: the page, or the page of a signed link.
 * @typedef {object} Host
 * @property {Client} client
 * @property {Cell<Reading | null>} reading
 * @property {(reading: Reading) => void} read
 * @property {() => Element | null} pressed Gives what had the focus when a document was opened.
 * @property {() => void} refused Called where credentials are wanted.
 * @property {((text: string, title: string) => void) | null} ask Asks about a passage; null where nothing can be asked.
 * @property {(text: string, documentId: string) => void} [pin] Pins a passage to a note.
 * @property {{app: App, bar: HTMLElement} | null} page Offers guides to documents, and leads back
 * to them from a bar; null where nothing can be asked.
 */

/** Put the reader, which shows what `reading` names, into its place.
 * @param {Host} app @param {HTMLElement} place Where it is to stand. */
export function reader(app, place) {
  const texts = new DocumentTexts(app.client);
  const title = h("h2", { class: "title", dir: "auto" });
  const links = readerLinks(app.client);
  const guide = app.page && guideFold(app.page.app);
  const quotes = readerPassages({ go, ask: app.ask && ask });
  const { pin } = app;
  const views = readerViews(app.client, app.ask && ask, pin && ((passage) => pin(passage, app.reading.value?.documentId ?? "")));
  const failed = h("div", { class: "failed", role: "alert", hidden: true });
  const close = iconButton("close", words.reader.close, () => app.reading.set(null), "quiet close");
  close.append(icon("back")); // where the answer lies below
  const header = h("header", null,
    h("div", { class: "top" }, title, close),
    links.element, guide?.element, views.choice, quotes.row, quotes.note, failed,
  );
  const attributes = { class: "reader", role: "complementary", "aria-label": words.reader.label, hidden: true };
  const element = h("section", attributes, header, views.element);
  place.append(element);
  // Wherever the focus is; what is all that a page shows is closed from within alone.
  (app.page ? document : element).addEventListener("keydown", (event) => escape(/** @type {KeyboardEvent} */ (event)));
  const pane = sheet(element, () => views.scroller, app.pressed);
  app.page?.bar.append(toDocument(app.page.app, pane.narrow));
  /** What is on show. @type {Content | null} */
  let content = null;
  let passages = /** @type {Passage[]} */ ([]);
  let reads = new AbortController();
  /** What was read last, and how far down each place of a document was left. @type {Reading | null} */
  let before = null;
  const left = /** @type {Map<string, number>} */ (new Map());
  /** Whether a document, or this version of it, is not on show. @param {Wire.Document} document */
  const isNew = ({ document_id: id, updated_at: at }) => content?.document.document_id !== id || content.document.updated_at !== at;

  app.reading.watch((reading) => {
    if (before && content?.document.document_id === before.documentId) left.set(placeOf(before), views.scroller.scrollTop);
    before = reading;
    reads.abort();
    reads = new AbortController();
    if (reading) return void open(reading, reads.signal);
    pane.close();
  });

  /** @param {Reading} reading @param {AbortSignal} signal */
  async function open(reading, signal) {
    pane.open();
    failed.hidden = true;
    name(reading.title);
    guide?.of(reading.documentId);
    if (content?.document.document_id === reading.documentId) point(reading, reading.isReturned ? left.get(placeOf(reading)) : undefined);
    else forget();
    if (["deleted", "withheld"].includes(reading.citations[reading.at]?.freshness ?? "")) return gone(reading);
    if (reading.citations.some(hasPage)) views.expectPages();
    views.element.setAttribute("aria-busy", "true");
    try {
      const read = await texts.read(reading.documentId, signal, (document) => isNew(document) && views.prepare(document));
      if (!signal.aborted) show(read, reading);
    } catch (error) {
      if (!signal.aborted) fail(error, reading);
    } finally {
      if (!signal.aborted) views.element.removeAttribute("aria-busy");
    }
  }

  /** @param {Content} read @param {Reading} reading */
  function show(read, reading) {
    name(read.raw.title || reading.title);
    if (read.raw === content?.raw) return;
    content = read;
    void views.show(read);
    point(reading);
  }

  /** Show what is looked at of the document on show. @param {Reading} reading @param {number} [top] How far down one was. */
  function point({ citations, at, linked }, top) {
    const named = linked && content ? citationOf(linked, content.raw) : null;
    const own = named && named !== "changed" ? [named] : citations;
    passages = passagesOf(content?.raw.segments ?? null, own);
    const current = passages.find((passage) => passage.citations.includes(at)) ?? null;
    quotes.show(passages, current);
    if (named === "changed") quotes.tellChanged();
    if (content) links.show(content, current);
    views.point(passages, current, top);
  }

  /** @param {string} text */
  function name(text) {
    fill(title, text);
    change(title, { title: text });
  }

  function forget() {
    content = null;
    passages = [];
    links.hide();
    quotes.show([], null);
    views.clear(words.reader.opening);
  }

  /** @param {Reading} reading */
  function gone(reading) {
    forget();
    point(reading);
    views.clear(passages.length ? "" : words.reader.standing.gone);
  }

  /** @param {unknown} error @param {Reading} reading */
  function fail(error, reading) {
    if (!(error instanceof Problem)) throw error;
    if (error.status === 404) return gone(reading);
    if (error.status === 401) app.refused();
    forget();
    views.clear();
    const again = textButton("small", () => app.read({ ...reading }), words.page.retry);
    const why = [said(error), advice(error)].filter(Boolean).map((text) => h("p", { class: "muted" }, text));
    fill(failed, h("p", null, words.reader.failed), why, again);
    failed.hidden = false;
  }

  /** Look at the quote before or behind. @param {1 | -1} step */
  function go(step) {
    const reading = app.reading.value;
    if (!reading) return;
    const at = passages.findIndex((passage) => passage.citations.includes(reading.at));
    const [citation] = passages[at + step]?.citations ?? [];
    if (citation !== undefined) app.read({ ...reading, at: citation });
  }

  /** Ask the next question about a passage. @param {string} passage */
  function ask(passage) {
    if (!app.reading.value) return;
    app.ask?.([...askable(passage)].slice(0, MOST).join(""), title.textContent ?? "");
    if (pane.narrow()) app.reading.set(null);
  }

  /** @param {KeyboardEvent} event */
  function escape(event) {
    if (event.key !== "Escape" || event.defaultPrevented || event.isComposing || element.hidden) return;
    if (element.closest("[inert]") || document.querySelector("dialog[open], :popover-open")) return; // it closes those
    event.preventDefault();
    const selection = getSelection();
    if (selection && !selection.isCollapsed && element.contains(selection.anchorNode)) selection.removeAllRanges();
    else app.reading.set(null);
  }
}

/** Name the place of a reading. @param {Reading} reading */
const placeOf = ({ documentId, citations, at, linked }) => JSON.stringify([documentId, linked ?? citations[at]?.start]);

/** Whether a quote is on a page, rather than on a slide or in a sheet. @param {Citation} citation */
const hasPage = ({ page_idx: page, slide, sheet }) => page !== null && slide === undefined && sheet === undefined;
