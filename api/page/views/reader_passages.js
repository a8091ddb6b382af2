/** The quotes of an answer in the document that is read: one after the other, and what has become of each. */

import { change, fill, h } from "../dom.js";
import { words } from "../words/index.js";
import { iconButton } from "./icons.js";

/** @typedef {import("../text/passages.js").Passage} Passage */

/**
 * Make the row that goes from quote to quote, and the note on the one that is looked at.
 * @param {{go: (step: 1 | -1) => void, ask: ((quote: string) => void) | null}} act
 */
export function readerPassages(act) {
  const previous = iconButton("back", words.reader.previous, () => act.go(-1));
  const next = iconButton("next", words.reader.next, () => act.go(1));
  const place = h("span", { class: "which", role: "status" });
  const ask = h("button", { class: "quiet small ask-quote", onclick: () => quote && act.ask?.(quote), hidden: !act.ask },
    words.reader.askQuote,
  );
  const row = h("div", { class: "passages", role: "group", "aria-label": words.reader.quotes },
    previous,
    place,
    next,
    ask,
  );
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
      fill(note, noteOn(current));
    },

    /** Say that the quote which an address names is not there any more. */
    tellChanged() {
      fill(note, h("p", null, words.reader.standing.changed));
      note.hidden = false;
    },
  };
}

/** @param {Passage} passage */
function noteOn({ standing, quote }) {
  if (standing === "here") return [];
  const said = h("p", null, words.reader.standing[standing]);
  return standing === "moved" ? [said] : [
    said,
    h("p", { class: "muted" }, words.reader.given),
    h("blockquote", { class: "given" }, quote),
  ];
}
