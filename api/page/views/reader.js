/** The document beside the answer: its text by segments, scrolled to the quote. */

import { Problem } from "../api/client.js";
import { change, fill, h } from "../dom.js";
import { DocumentTexts } from "../state/document.js";
import { passagesOf } from "../text/passages.js";
import { words } from "../words/index.js";
import { advice, said } from "../words/problems.js";
import { iconButton } from "./icons.js";
import { goToQuestion } from "./question_field.js";
import { readerLinks } from "./reader_links.js";
import { readerPassages } from "./reader_passages.js";
import { askable, MOST, readerSelection } from "./reader_selection.js";
import { sheet } from "./reader_sheet.js";
import { readerText } from "./reader_text.js";

/** @typedef {import("../state/app.js").Reading} Reading */
/** @typedef {import("../text/passages.js").Passage} Passage */

/**
 * Put the reader, which shows what `reading` names, into its place.
 * @param {import("../state/app.js").App} app
 * @param {HTMLElement} place Where it is to stand.
 */
export function reader(app, place) {
  const texts = new DocumentTexts(app.client);
  const title = h("h2", { class: "title", dir: "auto" });
  const links = readerLinks(app);
  const quotes = readerPassages({ go, ask });
  const text = readerText();
  text.element.append(readerSelection(text.element, text.segments, ask));
  const failed = h("div", { class: "failed", role: "alert", hidden: true });
  const close = iconButton("close", words.reader.close, () => app.reading.set(null), "quiet close");
  const header = h(
    "header",
    null,
    h("div", { class: "top" }, title, close),
    links.element,
    quotes.row,
    quotes.note,
    failed,
  );
  const element = h(
    "section",
    { class: "reader", role: "complementary", "aria-label": words.reader.label, hidden: true, onkeydown },
    header,
    text.element,
  );
  place.append(element);
  const pane = sheet(element, text.element);
  /** What is on show. @type {import("../state/document.js").Content | null} */
  let content = null;
  /** @type {Passage[]} */
  let passages = [];
  let reads = new AbortController();

  app.reading.watch((reading) => {
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
    if (content?.document.document_id === reading.documentId) point(reading);
    else forget();
    if (["deleted", "withheld"].includes(reading.citations[reading.at]?.freshness ?? "")) return gone(reading);
    text.element.setAttribute("aria-busy", "true");
    try {
      const read = await texts.read(reading.documentId, signal);
      if (!signal.aborted) show(read, reading);
    } catch (error) {
      if (!signal.aborted) fail(error, reading);
    } finally {
      if (!signal.aborted) text.element.removeAttribute("aria-busy");
    }
  }

  /** @param {import("../state/document.js").Content} read @param {Reading} reading */
  function show(read, reading) {
    name(read.raw.title || reading.title);
    if (read.raw === content?.raw) return;
    const { segments } = read.raw;
    content = read;
    links.show(read, segments[0]?.segment_index ?? 0);
    void text.show(segments, read.document.media_type);
    point(reading);
  }

  /** Show what is looked at of the text on show. @param {Reading} reading */
  function point(reading) {
    passages = passagesOf(content?.raw.segments ?? null, reading.citations);
    const current = passages.find((passage) => passage.citations.includes(reading.at)) ?? null;
    quotes.show(passages, current);
    text.mark(passages, current);
    const [first] = current?.parts ?? [];
    if (content && first) links.show(content, content.raw.segments[first.segment]?.segment_index ?? 0);
    if (current && first) void text.reveal(current);
    else text.element.scrollTop = 0;
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
    text.clear(words.reader.opening);
  }

  /** @param {Reading} reading */
  function gone(reading) {
    forget();
    point(reading);
    text.clear(passages.length ? "" : words.reader.standing.gone);
  }

  /** @param {unknown} error @param {Reading} reading */
  function fail(error, reading) {
    if (!(error instanceof Problem)) throw error;
    if (error.status === 404) return gone(reading);
    if (error.status === 401) app.locked.set(true);
    forget();
    text.clear("");
    const again = h(
      "button",
      { type: "button", class: "small", onclick: () => app.read({ ...reading }) },
      words.page.retry,
    );
    fill(
      failed,
      h("p", null, words.reader.failed),
      h("p", { class: "muted" }, said(error)),
      advice(error) && h("p", { class: "muted" }, advice(error)),
      again,
    );
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
    const reading = app.reading.value;
    if (!reading) return;
    const asked = [...askable(passage)].slice(0, MOST).join("");
    app.selection.passage.set({ text: asked, title: title.textContent ?? "" });
    if (pane.narrow()) app.reading.set(null);
    goToQuestion();
  }

  /** @param {KeyboardEvent} event */
  function onkeydown(event) {
    if (event.key !== "Escape" || event.defaultPrevented) return;
    event.preventDefault();
    const selection = getSelection();
    if (selection && !selection.isCollapsed && element.contains(selection.anchorNode)) selection.removeAllRanges();
    else app.reading.set(null);
  }
}
