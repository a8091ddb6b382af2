/** What is pinned in a note: what was said, and the quotes that prove it, each with what has become of it since. */

import { h } from "../dom.js";
import { gradeOf } from "../text/grades.js";
import { placeOf } from "../text/places.js";
import { render } from "../text/reading.js";
import { words } from "../words/index.js";
import { pathOf } from "./answer_sources.js";
import { icon } from "./icons.js";
import { menuButton } from "./menu.js";
import { passageText } from "./passage.js";
import { CHANGES, changeOf, verdictMark } from "./verdicts.js";

/**
 * Make an entry.
 * @param {App} app
 * @param {Wire.NoteEntry} entry
 * @param {{up: false | (() => void), down: false | (() => void), remove: () => void} | false} own What its owner may do with it.
 */
export function noteEntry(app, { question, sections, claims, sources }, own) {
  const said = words.notes;
  const title = question || sources.find((each) => each.title)?.title || "…";
  const menu = own && menuButton(said.more({ title }), "more", () => [
    ...(own.up ? [{ text: said.up, act: own.up }] : []),
    ...(own.down ? [{ text: said.down, act: own.down }] : []),
    { text: said.remove, icon: /** @type {const} */ ("trash"), danger: true, act: own.remove },
  ]);
  return h("li", { class: "pinned" },
    h("div", { class: "head" }, h("h3", { dir: "auto" }, title), menu),
    question && sections.flatMap(({ text, passage }) => (passage ? [] : written(text))),
    quotesOf(app, claims, sources),
  );
}

/** Show a text in Markdown as an answer shows it. @param {string} text */
export const written = (text) => h("div", { class: "section" }, h("div", { class: "text", dir: "auto" }, render(text)));

/** List the quotes of claims, each once, with where it stands; a press reads it there.
 * @param {App} app @param {Wire.SectionClaim[]} claims @param {Wire.Source[]} sources */
export function quotesOf(app, claims, sources) {
  const seen = new Set();
  return claims.flatMap((claim) => claim.citations.flatMap((citation) => {
    const { document_id: documentId, start, end, quote } = citation;
    const key = `${documentId}:${start}-${end}`;
    if (seen.has(key)) return [];
    seen.add(key);
    const change = changeOf(citation.freshness);
    const source = sources.find((each) => each.index === citation.source_index) ?? sources.find((each) => each.document_id === documentId);
    const place = source && quote ? [source.title, pathOf(source, citation), placeOf(citation)].filter(Boolean).join(" · ") : "";
    const read = () => app.read({ documentId, title: source?.title ?? "", citations: [citation], at: 0 });
    return [h("figure", { class: "quote section" },
      quote && h("blockquote", { dir: "auto" }, passageText(citation)),
      h("figcaption", null,
        verdictMark(gradeOf(claim)),
        place && h("button", { class: "link", title: words.notes.read, dir: "auto", onclick: read }, place),
        change && h("span", { class: `since ${change}` }, icon(CHANGES[change]), words.proof.since[change]),
      ),
    )];
  }));
}
