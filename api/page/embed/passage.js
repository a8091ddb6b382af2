/** The passages of an answer in other people's pages, each with the way to the site's own page. */

import { h } from "../dom.js";
import { highlighted, highlightIn } from "../text/highlighted.js";
import { addressOf, leadOn } from "./landing.js";

/** @typedef {import("../text/highlighted.js").Quoted} Quoted */
/** @typedef {import("../text/markup.js").Dress} Dress */

/** @type {typeof import("../text/markup.js") | null} */
let markup = null;

/**
 * Fetch what reads Markdown, once somebody asks; where a policy keeps it away, texts are shown as they are written.
 * @param {URL} home Where the server is, which fills in the version: a script of another origin imports by whole addresses.
 */
export async function readable(home) {
  markup ??= await import(new URL("page/{version}/embed_markup.js", home).href).catch(() => null);
}

/** Make what shows passages. @param {import("./main.js").Setting} setting */
export function passages({ words, site }) {
  /** Write a text in Markdown, whose links to the site stay in place.
   * @param {string} text @param {boolean} growing @param {Dress} [dress] */
  function written(text, growing, dress) {
    if (!markup) return [h("p", { dir: "auto" }, text)];
    const blocks = markup.render(text, { growing, ...(dress ? { dress } : {}) });
    for (const link of blocks.flatMap((block) => [...block.querySelectorAll("a")])) leadOn(link, site);
    return blocks;
  }

  return {
    written,

    /**
     * Name a source and the headings above a place in it, as a link where its document has an address.
     * @param {Source | undefined} source
     * @param {{anchor?: string, heading_path?: string[]}} place
     * @param {Quoted} quoted
     */
    wayTo(source, place, quoted) {
      const names = [source?.title, ...(place.heading_path ?? [])];
      const path = names.filter((name, at) => name && name !== names[at - 1]).join(" › ");
      const href = source ? addressOf(source, place, highlighted(quoted).best, site) : "";
      if (!href) return h("cite", { dir: "auto" }, path);
      return leadOn(h("a", { href, rel: "noopener", dir: "auto" }, path), site);
    },

    /** Show a passage as Markdown, marked what answers best in it. @param {string} text @param {Quoted} quoted */
    quoted(text, { start, quote, highlight }) {
      const span = highlight && { start: highlight.start - start, end: highlight.end - start };
      const best = span && highlightIn(text, quote, span);
      let says = words.best;
      const wrap = () => {
        const mark = h("mark", { "data-says": says });
        says = "";
        return mark;
      };
      return h("blockquote", null, written(text, false, { spans: best ? [best] : [], wrap, behind: () => [] }));
    },

    /** Show a quote word for word, marked what bears the statement. @param {Quoted} quoted */
    marked(quoted) {
      const { before, best, after } = highlighted(quoted);
      const mark = before || after ? h("mark", { "data-says": words.best }, best) : best;
      return h("blockquote", { dir: "auto" }, before, mark, after);
    },
  };
}
