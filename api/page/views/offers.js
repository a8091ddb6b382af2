/** What is offered to go on with: questions that were asked and answered before, and guides to documents. */

import { orNull, Problem } from "../api/problem.js";
import { fill, h } from "../dom.js";
import { isLive } from "../state/turns.js";
import { words } from "../words/index.js";
import { said } from "../words/problems.js";
import { icon } from "./icons.js";
import { goToQuestion } from "./question_field.js";

/** @typedef {Wire.GuideSentence | Wire.GuideHeading} Place */

let lists = 0;

/**
 * List questions, each to be asked by a press.
 * @param {App} app
 * @param {string} label
 * @param {Wire.ProvenQuestion[]} questions
 * @param {boolean} [titled] Whether to say which document answers each.
 */
export function questionList(app, label, questions, titled = false) {
  const id = `questions-${(lists += 1)}`;
  const rows = questions.map(({ question, title }) => {
    const asked = h("span", { class: "asked", dir: "auto" }, question);
    const from = titled && h("span", { class: "muted", dir: "auto" }, words.ways.fromTitle({ title }));
    return h("li", null, h("button", { onclick: () => (goToQuestion(), app.ask(question)) }, icon("quote"), h("span", null, asked, from)));
  });
  return h("div", { class: "questions" }, h("p", { class: "muted", id }, label), h("ul", { "aria-labelledby": id }, rows));
}

/** Make the fold with the guide to the document that is read. @param {App} app */
export function guideFold(app) {
  const body = h("div", { class: "guide-body" });
  const element = h("details", { class: "guide", ontoggle: open }, h("summary", null, words.ways.guide.label), body);
  let wanted = /** @type {string | null} */ (null);
  /** The document whose guide is on show. @type {string | null} */
  let shown = null;

  async function open() {
    const documentId = wanted;
    if (!element.open || !documentId || documentId === shown) return;
    shown = documentId;
    fill(body, h("p", { class: "muted", role: "status" }, words.ways.guide.reading));
    try {
      const guide = await app.client.guide(documentId);
      if (wanted === documentId) fill(body, contents(app, guide));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (wanted !== documentId) return;
      shown = null;
      fill(body, h("p", { class: "muted", role: "alert" }, said(error)));
    }
  }

  return {
    element,
    /** Be of another document, folded. @param {string} documentId */
    of(documentId) {
      if (documentId === wanted) return;
      wanted = documentId;
      shown = null;
      element.open = false;
      fill(body);
    },
  };
}

/** Tell how a document begins, its contents and what it answers. @param {App} app @param {Wire.Guide} guide */
export function contents(app, guide) {
  const { sentences, outline, questions } = guide;
  const told = [
    sentences.length ? [h("h3", null, words.ways.guide.says), placeList(app, guide, "says", sentences)] : [],
    questions.length ? questionList(app, words.ways.guide.questions, questions) : [],
    outline.length > 1 ? [h("h3", null, words.ways.guide.outline), placeList(app, guide, "outline", outline)] : [],
  ].flat();
  return told.length ? told : h("p", { class: "muted" }, words.ways.guide.none);
}

/**
 * List places of a document, each of which a press shows.
 * @param {App} app
 * @param {{document_id: string, title: string}} document
 * @param {"says" | "outline"} kind
 * @param {Place[]} places
 */
export function placeList(app, { document_id, title }, kind, places) {
  const read = (/** @type {Place} */ place) => () => {
    const segment_id = `${document_id}:${place.segment_index}`;
    const citation = { ...place, segment_id, document_id, quote: place.text, source_index: 0, section_index: -1 };
    app.read({ documentId: document_id, title, citations: [{ ...citation, origin: "matched", verdict: "unverified" }], at: 0 });
  };
  return h("ul", { class: kind }, places.map((place) => {
    const deep = "depth" in place ? `depth-${Math.min(place.depth, 3)}` : null;
    return h("li", { class: deep }, h("button", { class: "quiet", dir: "auto", onclick: read(place) }, place.text));
  }));
}

/** Make the place of questions that follow the last answer. @param {App} app */
export function followUps(app) {
  const { conversation } = app;
  const element = h("div", { class: "follow-ups" });
  /** The answer that they follow. @type {string | null} */
  let shown = null;

  conversation.turns.watch(look);
  conversation.aside.watch(look);

  function look() {
    const last = conversation.turns.value.at(-1);
    const ended = last?.answer?.outcome && !isLive(last.run) && !conversation.aside.value;
    const answerId = ended ? last.answerId : null;
    if (answerId === shown) return;
    shown = answerId;
    fill(element);
    const sessionId = conversation.session.value?.session_id;
    if (answerId && sessionId) void offer(sessionId, answerId);
  }

  /** @param {string} sessionId @param {string} answerId */
  async function offer(sessionId, answerId) {
    const found = await orNull(app.client.followUps(sessionId)); // whoever goes on without them misses nothing
    if (!found || shown !== answerId || found.message_id !== answerId) return;
    const { questions, guides = [] } = found;
    fill(
      element,
      guides.map((each) => h("section", { class: "guide" }, h("h3", { dir: "auto" }, icon("page"), each.title), contents(app, each))),
      questions.length ? questionList(app, words.ways.followUps, questions) : null,
    );
  }
  return element;
}
