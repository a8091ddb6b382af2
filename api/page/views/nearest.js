/** What came nearest to a question that was refused: passages, in the same form as those of an answer. */

import { fill, h } from "../dom.js";
import { codePoints } from "../text/offsets.js";
import { isReadable, readable, render } from "../text/reading.js";
import { number } from "../words/format.js";
import { words } from "../words/index.js";
import { pointTo } from "./answer_sources.js";
import { dressOfPassage, quotedFrom, quotedText } from "./passage.js";

/** @typedef {import("../state/app.js").App} App */
/** @typedef {import("../api/types.js").Source} Source */
/** @typedef {Pick<import("../api/types.js").ShownPassage, "start" | "quote" | "highlight" | "text">} Shown */

/** List what came nearest to an answer. @param {App} app @param {import("../state/run.js").Answer} answer */
export function nearestList(app, { nearest }) {
  if (!nearest.length) return null;
  return h(
    "section",
    { class: "nearest" },
    h("h3", null, words.answer.nearest),
    h("ul", { class: "sources" }, nearest.map((source) => h("li", { class: "section" }, passageOf(app, source, nearest)))),
  );
}

/** @param {App} app @param {Source} source @param {Source[]} among */
function passageOf(app, source, among) {
  const { document_id: documentId, title, index, excerpt, start } = source;
  const own = among.filter((each) => each.document_id === documentId);
  const read = () => app.read({ documentId, title, citations: own.map(pointTo), at: own.indexOf(source) });
  const shown = number(index);
  const way = h(
    "button",
    { type: "button", class: "marker quoted", "aria-label": words.proof.marker(shown, title, words.proof.read), onclick: read },
    h("span", null, shown),
  );
  return [quotedFrom(way, source, { ...source, ...source.passage }), textOf(source.passage ?? { start, quote: excerpt, text: "" })];
}

/** Show a passage as Markdown, or where there is none as it stands in its document. @param {Shown} passage */
function textOf(passage) {
  const { text } = passage;
  const element = h("div", { class: "text", dir: "auto" });
  const write = () => {
    if (!isReadable()) void readable().then((came) => came && write());
    const dress = dressOfPassage(text, { start: 0, end: codePoints(text) }, passage);
    fill(element, ...render(text, { dress }, write));
  };
  if (text) write();
  else fill(element, h("p", { class: "as-written" }, quotedText(passage)));
  return element;
}
