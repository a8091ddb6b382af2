/** Ways past what stands before: to the question, to the latest answer, to its sources. One stop for the Tab key. */

import { change, h } from "../dom.js";
import { words } from "../words/index.js";
import { textButton } from "./icons.js";
import { goToQuestion } from "./question_field.js";
import { roving } from "./roving.js";

/** Go to the latest answer. */
export function goToAnswer() {
  const answer = [...document.querySelectorAll(".turn .answer")].at(-1);
  if (!(answer instanceof HTMLElement)) return;
  change(answer, { tabindex: -1 });
  answer.focus();
  answer.scrollIntoView({ block: "nearest" });
}

/** Go to the sources of the latest answer, which stand in its run's account. */
export function goToSources() {
  const account = [...document.querySelectorAll(".turn")].at(-1)?.querySelector(".run");
  if (!(account instanceof HTMLDetailsElement)) return;
  account.open = true;
  account.querySelector("summary")?.focus();
}

/** Go to the next marker of the conversation, or the one before. @param {1 | -1} by */
export function goToMarker(by) {
  const markers = [...document.querySelectorAll(".turn .answer .marker")];
  const here = document.activeElement;
  const at = markers.findIndex((each) => each === here);
  const behind = (/** @type {Element} */ each) =>
    Boolean((here?.compareDocumentPosition(each) ?? 0) & Node.DOCUMENT_POSITION_FOLLOWING);
  const from = at >= 0 || !here?.closest(".turn") ? at : markers.findIndex(behind) - (by > 0 ? 1 : 0);
  const next = at < 0 && from < 0 ? markers.at(by > 0 ? 0 : -1) : markers.at((from + by) % markers.length);
  if (next instanceof HTMLElement) next.focus();
}

/** Make the links. @param {App} app */
export function skips(app) {
  const question = h("a", { class: "skip", href: "#question", onclick: toQuestion }, words.page.skip);
  const answer = textButton("skip", goToAnswer, words.ways.skips.answer);
  const sources = textButton("skip", goToSources, words.ways.skips.sources);
  const label = words.ways.skips.label;
  const row = h("div", { class: "skips", role: "toolbar", "aria-label": label }, question, answer, sources);
  app.conversation.turns.watch((turns) => {
    const last = turns.at(-1)?.answer ?? null;
    answer.hidden = last === null || last.outcome === null;
    sources.hidden = answer.hidden || !last?.sources.length;
  });
  roving(row, ".skip");
  return h("section", { "aria-label": label }, row);
}

/** The address names the session, so the link must not change it. @param {Event} event */
function toQuestion(event) {
  event.preventDefault();
  goToQuestion();
}
