/** The ways in which a document can be looked at: as it is, where the page can show that, and as text. */

import { Problem } from "../api/problem.js";
import { change, fill, h } from "../dom.js";
import { languageOf } from "../text/languages.js";
import { words } from "../words/index.js";
import { readerSelection } from "./reader_selection.js";
import { readerText } from "./reader_text.js";

/** @typedef {"pdf" | "layout" | "sheets"} Kind */

const OF_PDF = /Exception$|^FormatError$/; // names of what PDF.js throws
const SHEETS = /spreadsheet|ms-excel|\bcsv\b|tab-separated/;
const LAID_OUT = /markdown|mdx|html|x-rst|wordprocessing|ms-word|opendocument\.(?:text|presentation)|presentation|powerpoint|epub|rtf|ipynb|rfc822|mbox/;

/** Tell how a document can be shown, but as text. @param {Wire.Document} document @returns {Kind | null} */
export function kindOf({ media_type: type, original }) {
  if (type === "application/pdf") return original ? "pdf" : null;
  if (SHEETS.test(type)) return "sheets";
  return LAID_OUT.test(type) || languageOf(type) ? "layout" : null;
}

/**
 * Make the place of a document in the reader.
 * @param {Client} client
 * @param {((text: string) => void) | null} ask Asks about a text that is selected; null where nothing can be asked.
 * @param {(text: string) => void} [pin] Pins it to a note.
 */
export function readerViews(client, ask, pin) {
  const text = readerText();
  const views = /** @type {Partial<Record<Kind, Promise<View>>>} */ ({});
  const failed = h("p", { class: "fallback", role: "status", hidden: true });
  const element = h("div", { class: "views" }, failed, text.element);
  const choice = h("div", { class: "ways", role: "group", "aria-label": words.viewer.as, hidden: true });
  const asItIs = way(words.viewer.document, false);
  const asText = way(words.viewer.text, true);
  const tools = h("span", { class: "tools" });
  fill(choice, asItIs, asText, tools);
  let wantsText = false; // as the reader chose last, whichever document it was
  let kind = /** @type {Kind | null} */ (null);
  let content = /** @type {Content | null} */ (null);
  /** What each view shows. @type {Map<View, Content>} */
  const showing = new Map();
  let passages = /** @type {Passage[]} */ ([]);
  let current = /** @type {Passage | null} */ (null);
  /** @type {View} */
  let view = text;
  /** Ends when another document is shown. */
  let lasting = new AbortController();
  /** Ends when something else is looked at. */
  let scrolling = new AbortController();
  /** The view of the document as it is, once it is wanted. @type {Promise<View | null> | null} */
  let loading = null;
  selectable(text);

  /** @param {string} name @param {boolean} text */
  function way(name, text) {
    return h("button", { class: "small", "aria-pressed": String(text), onclick: () => choose(text) }, name);
  }

  /** @param {View} view */
  function selectable(view) {
    const scroller = view.scroller ?? view.element;
    if (ask) scroller.append(readerSelection(scroller, view.segments, ask, view.between ?? "", pin));
    return view;
  }

  /** @param {boolean} text */
  function choose(text) {
    wantsText = text;
    if (!text && kind && content && !loading) loading = load(kind, content.document, lasting.signal);
    void use(text ? null : kind);
  }

  const makers = {
    pdf: async () => (await import("./reader_pdf.js")).readerPdf(client, (error) => fallBack(error)),
    layout: async () => (await import("./reader_layout.js")).readerLayout(client),
    sheets: async () => (await import("./reader_sheets.js")).readerSheets(client),
  };

  /** @param {Kind} wanted @returns {Promise<View>} */
  function made(wanted) {
    return (views[wanted] ??= makers[wanted]().then(selectable, (error) => {
      delete views[wanted]; // the next call asks again
      throw error;
    }));
  }

  /** Show the document this way, null as text. @param {Kind | null} wanted */
  async function use(wanted) {
    const { signal } = lasting;
    const chosen = wanted ? await loading : text;
    if (signal.aborted || !chosen || !content) return;
    if (chosen !== view) {
      const focused = element.contains(document.activeElement);
      view = chosen;
      fill(element, failed, view.element);
      if (focused) (view.scroller ?? view.element).focus({ preventScroll: true });
      fill(tools, ...(view.tools ?? []));
    }
    change(asItIs, { "aria-pressed": String(view !== text) });
    change(asText, { "aria-pressed": String(view === text) });
    if (showing.get(view) !== content) {
      const shown = content;
      view.element.setAttribute("aria-busy", "true");
      try {
        const built = view.show(shown, signal);
        showing.set(view, shown);
        if (view !== text) await built;
      } catch (error) {
        showing.delete(view);
        if (!signal.aborted) fallBack(error);
        return;
      } finally {
        if (!signal.aborted) view.element.removeAttribute("aria-busy");
      }
    }
    if (!signal.aborted) point(passages, current);
  }

  /** Show the text where the document can't be shown. @param {unknown} error */
  function fallBack(error) {
    fill(failed, words.viewer.failed);
    failed.hidden = false;
    choice.hidden = true;
    kind = null;
    void use(null);
    if (!(error instanceof Problem) && !OF_PDF.test(/** @type {Error} */ (error).name)) throw error;
  }

  /** @param {Passage[]} marked @param {Passage | null} most @param {number} [top] How far down one was before. */
  function point(marked, most, top) {
    [passages, current] = [marked, most];
    if (!content || showing.get(view) !== content) return;
    scrolling.abort();
    scrolling = new AbortController();
    view.mark(passages, current);
    if (top === undefined && current?.parts.length) void view.reveal(current, scrolling.signal);
    else (view.scroller ?? view.element).scrollTop = top ?? 0;
  }

  return {
    element,
    choice,
    point,

    /** What scrolls, and gets the focus. */
    get scroller() {
      return view.scroller ?? view.element;
    },

    /** Show nothing, or this in the place of a document. @param {string} [instead] */
    clear(instead = "") {
      lasting.abort();
      scrolling.abort();
      loading = null;
      [content, passages, current, kind] = [null, [], null, null];
      showing.clear();
      failed.hidden = choice.hidden = true;
      view = text;
      fill(element, failed, text.element);
      text.clear(instead);
    },

    /** Fetch what shows pages, for a document that is not known yet but has some. */
    expectPages() {
      if (!wantsText) void made("pdf").catch(() => undefined); // what fails is told when it is needed
    },

    /** Begin what takes time of a document that is about to be shown.
     * @param {Wire.Document} document */
    prepare(document) {
      lasting.abort();
      lasting = new AbortController();
      kind = kindOf(document);
      choice.hidden = kind === null;
      loading = kind && !wantsText ? load(kind, document, lasting.signal) : null;
    },

    /** Show a document. @param {Content} shown */
    show(shown) {
      content = shown;
      return use(wantsText ? null : kind);
    },
  };

  /** @param {Kind} wanted @param {Wire.Document} document @param {AbortSignal} signal @returns {Promise<View | null>} */
  async function load(wanted, document, signal) {
    try {
      const view = await made(wanted);
      if (!signal.aborted) view.prepare?.(document, signal);
      return view;
    } catch (error) {
      if (!(error instanceof TypeError)) throw error; // the browser's word for a module that did not come
      fallBack(new Problem("unreachable", ""));
      return null;
    }
  }
}
