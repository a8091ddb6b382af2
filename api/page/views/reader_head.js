/** What stands above a document: what it is, where else it can be read, and its quotes, one after the other. */

import { Problem } from "../api/problem.js";
import { change, fill, h } from "../dom.js";
import { originalAddress } from "../text/addresses.js";
import { addressOfQuote } from "../text/deep_links.js";
import { languageOf } from "../text/languages.js";
import { partOf } from "../text/places.js";
import { remarkOf } from "../text/said_of_files.js";
import { words } from "../words/index.js";
import { said } from "../words/problems.js";
import { icon, iconButton, textButton } from "./icons.js";
import { keep } from "./taking.js";

// Letters that turn what follows them around, so that a name could seem to end otherwise; and those of paths.
const UNFIT = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\\/:*?"<>|]/gu;
const AWAY = { target: "_blank", rel: "noopener noreferrer" };

/** Make the row that goes from quote to quote, and the note on the one that is looked at.
 * @param {{go: (step: 1 | -1) => void, ask: ((quote: string) => void) | null}} act */
export function readerPassages(act) {
  const previous = iconButton("back", words.reader.previous, () => act.go(-1));
  const next = iconButton("next", words.reader.next, () => act.go(1));
  const place = h("span", { class: "which", role: "status" });
  const ask = textButton("quiet small ask-quote", () => quote && act.ask?.(quote), words.reader.askQuote);
  ask.hidden = !act.ask;
  const row = h("div", { class: "passages", role: "group", "aria-label": words.reader.quotes }, previous, place, next, ask);
  const note = h("div", { class: "note", role: "status" });
  let quote = "";
  return {
    row,
    note,

    /** @param {Passage[]} passages @param {Passage | null} current */
    show(passages, current) {
      row.hidden = !current;
      note.hidden = !current || current.standing === "here";
      if (!current) return;
      const at = passages.indexOf(current);
      quote = current.quote;
      fill(place, words.reader.place({ at: at + 1, of: passages.length }));
      change(previous, { "aria-disabled": at === 0 && "true" });
      change(next, { "aria-disabled": at === passages.length - 1 && "true" });
      if (current.standing === "here") return;
      const given = [h("p", { class: "muted" }, words.reader.given), h("blockquote", { class: "given" }, quote)];
      fill(note, h("p", null, words.reader.standing[current.standing]), current.standing === "moved" ? [] : given);
    },

    /** Say that the quote which an address names is not there any more. */
    tellChanged() {
      fill(note, h("p", null, words.reader.standing.changed));
      note.hidden = false;
    },
  };
}

/** Make the line that says it. @param {Client} client */
export function readerLinks(client) {
  const element = h("p", { class: "about", hidden: true });
  return {
    element,

    /** @param {Content} content @param {Passage | null} current What is looked at. */
    show({ document, raw }, current) {
      const { document_id: id, page_count: pages, media_type, url, left_out = [], original, file_name = "" } = document;
      const language = languageOf(media_type, file_name);
      const address = originalAddress(url, client.home);
      const [part] = current?.parts ?? [];
      const segment = raw.segments[part?.segment ?? 0];
      const start = (segment?.start ?? 0) + [...(segment?.text.slice(0, part?.from ?? 0) ?? "")].length;
      const quoted = current && part && !current.whole && addressOfQuote({ document_id: id, start, quote: current.quote });
      const own = quoted || `#/documents/${id}${part && segment ? `?segment=${segment.segment_index}` : ""}`;
      fill(
        element,
        language && h("span", null, language),
        pages && h("span", null, words.reader[`${partOf(media_type)}s`]({ count: pages })),
        address && h("a", { href: address, ...AWAY }, words.reader.original, icon("out")),
        !client.isLink && h("a", { href: new URL(own, client.home).href, ...AWAY }, words.reader.tab, icon("out")),
        original && download(document),
        left_out.map((omission) => h("span", { class: "omission" }, remarkOf(omission))),
      );
      element.hidden = false;
    },

    hide() {
      element.hidden = true;
    },
  };

  /** Make the button that keeps the file. @param {Wire.Document} document */
  function download({ document_id: id, original, title }) {
    const failed = h("span", { class: "omission", role: "alert" });
    const button = textButton("link", () => void fetchFile(), words.viewer.download, icon("download"));

    async function fetchFile() {
      change(button, { "aria-disabled": "true" });
      fill(failed);
      try {
        // It ends as it seems to.
        const name = (original?.name || title).replace(UNFIT, "_").replace(/^\.+/, "") || "document";
        await keep(await client.send(`api/documents/${id}/original`), name);
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        fill(failed, said(error));
      } finally {
        change(button, { "aria-disabled": null });
      }
    }
    return h("span", null, button, failed);
  }
}
