/** A question and its answer: what it was asked with, its versions, and the way to ask it in other words. */

import { change, fill, h } from "../dom.js";
import { isLive } from "../state/turns.js";
import { words } from "../words/index.js";
import { answerView } from "./answer.js";
import { fieldsAgain } from "./answer_outcome.js";
import { icon, iconButton, textButton } from "./icons.js";
import { goToQuestion, questionField } from "./question_field.js";
import { runPanel } from "./run_panel.js";
import { versionSwitch } from "./versions.js";

let turns = 0;
const LONG = 600; // characters, beyond which a question is shown in part

/** Make the view of a turn; `leave` is called where it is not shown any more.
 * @param {App} app @returns {TurnView & {leave: () => void}} */
export function turnView(app) {
  const name = `turn-${(turns += 1)}`;
  const question = questionView(app, name);
  const answer = answerView(app);
  const panel = runPanel(app);
  const going = h("div", null, panel.element);
  const element = h("article", { class: "turn", "aria-labelledby": name }, question.element, going, answer.element);

  /** Have the run's line above the answer while it goes on, and below it from then on. @param {HTMLElement} place */
  function move(place) {
    if (panel.element.parentElement === place) return;
    const focused = panel.element.contains(document.activeElement) ? document.activeElement : null;
    place.append(panel.element);
    if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
  }

  return {
    element,
    show(turn, answering = false) {
      question.show(turn, answering);
      panel.show(turn);
      move(isLive(turn.run) ? going : answer.account);
      answer.show(turn, answering);
      element.classList.toggle("live", isLive(turn.run));
    },
    leave: panel.leave,
  };
}

/** Make the view of a question. @param {App} app @param {string} name Id of the heading. @returns {TurnView} */
function questionView(app, name) {
  let shown = /** @type {Turn | null} */ (null);
  const heading = h("h2", { class: "question", id: name, dir: "auto" });
  const more = textButton("quiet small more", unfold, words.conversation.more);
  change(more, { "aria-expanded": "false", "aria-controls": name });
  const asked = h("div", { class: "asked-with" });
  const edit = iconButton("edit", words.conversation.edit, open);
  const versions = versionSwitch(app, words.conversation.versions.question);
  const actions = h("div", { class: "actions" }, versions.element, edit);
  const element = h("header", { class: "asked" }, heading, more, asked, actions);
  const field = questionField(
    { "aria-label": words.conversation.editing, enterkeyhint: "send" },
    { send: save, escape: () => (close(), true), changed: () => (again.disabled = !field.question()) },
  );
  const again = textButton("primary small", save, words.conversation.save);
  const choices = h("div", { class: "choices" }, field.limit, textButton("small", close, words.page.cancel), again);
  const form = h("div", { class: "editing", role: "group", "aria-label": words.conversation.edit }, field.text, choices);

  function unfold() {
    const long = heading.classList.toggle("long");
    fill(more, long ? words.conversation.more : words.conversation.less);
    change(more, { "aria-expanded": String(!long) });
  }

  function open() {
    if (!shown) return;
    heading.classList.add("seen-by-readers-only");
    fill(element, heading, form);
    field.write(shown.question);
    field.text.focus();
    field.text.setSelectionRange(shown.question.length, shown.question.length);
  }

  function close() {
    if (!form.isConnected) return;
    heading.classList.remove("seen-by-readers-only");
    fill(element, heading, more, asked, actions);
    edit.focus();
  }

  function save() {
    const question = field.question();
    if (!question || !shown?.questionId || edit.hidden) return;
    const { questionId, pageIds, collectionIds, collectedIds, selectedText } = shown;
    close();
    goToQuestion();
    void app.conversation.ask({
      ...fieldsAgain(app, shown),
      question,
      edit: questionId,
      page_ids: pageIds.filter((id) => !collectedIds.includes(id)),
      ...(collectionIds.length && { collection_ids: collectionIds }),
      ...(selectedText !== null && { selected_text: selectedText }),
    });
  }

  /** @param {Turn} turn */
  function showAskedWith(turn) {
    const known = [turn.answer?.sources ?? [], turn.answer?.nearest ?? [], app.selection.pages.value].flat();
    const titles = turn.pageIds.map((id) => known.find((each) => each.document_id === id)?.title).filter(Boolean);
    const pages = [words.conversation.pages({ count: turn.pageIds.length }), titles.join(", ")].filter(Boolean).join(" · ");
    const label = h("span", { class: "seen-by-readers-only" }, `${words.conversation.passage}: `);
    fill(
      asked,
      turn.pageIds.length > 0 && h("p", { class: "chip" }, icon("page"), h("span", null, pages)),
      turn.selectedText && h("blockquote", { class: "passage" }, label, turn.selectedText),
    );
  }

  return {
    element,
    show(turn, answering = false) {
      if (turn.question !== shown?.question) {
        fill(heading, turn.question);
        more.hidden = turn.question.length <= LONG;
        heading.classList.toggle("long", !more.hidden);
        heading.classList.toggle("wordy", turn.question.length > 160);
      }
      const alike = turn.pageIds === shown?.pageIds && turn.selectedText === shown.selectedText;
      if (!alike || turn.answer?.sources !== shown?.answer?.sources) showAskedWith(turn);
      shown = turn;
      versions.show(turn.questionVersions, turn.questionId, answering);
      edit.hidden = answering || turn.questionId === null;
      actions.hidden = edit.hidden && versions.element.hidden;
      if (edit.hidden && form.isConnected) close();
    },
  };
}

