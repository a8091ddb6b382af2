/** How a run ended, where that is not simply an answer: an abstention, a stop, a failure, a limit. */

import { fill, h } from "../dom.js";
import { isLive } from "../state/turns.js";
import { hasBearing } from "../text/worth.js";
import { language, words } from "../words/index.js";
import { advice, said } from "../words/problems.js";
import { icon, textButton } from "./icons.js";
import { goToQuestion } from "./question_field.js";

/** What is said otherwise where the library was not searched. */
const WITHOUT_LIBRARY = /** @type {const} */ (["nothing_found", "search_failed", "nothing_relevant", "insufficient_evidence", "claims_not_supported"]);
/** What is said of a question that nothing was searched for. */
const UNSEARCHED = ["library_not_allowed", "library_empty"];

/** Make the view of how a run ended. @param {App} app @returns {TurnView} */
export function outcomeView(app) {
  const element = h("div", { class: "outcomes" });
  let shown = "";
  return {
    element,
    show(turn, answering = false) {
      const { answer, questionId, run } = turn;
      const now = JSON.stringify([answer?.outcome, answer?.stopReason, questionId, run?.failure?.code, run?.status, answering]);
      if (now === shown) return;
      shown = now;
      fill(element, outcomeOf(app, turn, answering));
    },
  };
}

/** @param {App} app @param {Turn} turn @param {boolean} answering */
function outcomeOf(app, turn, answering) {
  const { answer, run } = turn;
  if (isLive(run)) return null;
  if (!answer || answer.outcome === "failed") return failed(app, turn, answering);
  const why = reasonOf(answer.stopReason);
  if (answer.outcome === "abstained") {
    const isNear = answer.stopReason === "nothing_relevant" && hasBearing(answer); // the line above says so
    const box = h("div", { class: "panel calm" }, answer.refusal ? refusalLines(answer.refusal, isNear ? "" : why) : null);
    if (answer.stopReason !== "library_empty") return box;
    box.append(textButton("primary", () => app.showLibrary(), icon("book"), words.conversation.library));
    return box;
  }
  if (answer.outcome === "cancelled") {
    const kept = answer.sections.some((section) => section.text);
    const rest = kept ? words.answer.cancelledKept : words.answer.cancelledEmpty;
    return panel("calm", "stop", why || words.answer.cancelled, rest);
  }
  if (answer.stopReason === "answer_complete" || !why) return null;
  return h("p", { class: "stop-reason muted" }, icon("unsure"), why);
}

/** @param {App} app @param {Turn} turn @param {boolean} answering */
function failed(app, turn, answering) {
  const failure = turn.run?.failure ?? null;
  const { questionId } = turn;
  const why = failure ? said(failure) : words.answer.unanswered;
  const box = panel("bad", "cross", words.answer.failed, why, failure ? advice(failure) : "");
  if (answering || questionId === null || failure?.retryable === false) return box;
  box.append(textButton("primary small", () => regenerate(app, turn, questionId), icon("again"), words.page.retry));
  return box;
}

/** Have a question answered anew, with what it was asked with and with where the next one would be looked for.
 * @param {App} app @param {Turn} turn @param {string} id Of the answer, or of a question that got none. */
export function regenerate(app, turn, id) {
  goToQuestion();
  void app.conversation.ask({ ...fieldsAgain(app, turn), regenerate: id });
}

/** Give the fields that a turn's question is asked again with, but for what it was asked of. @param {App} app @param {Turn} turn @returns {NewRun} */
export function fieldsAgain(app, { pageIds, collectionIds, selectedText }) {
  const { page_ids: _pages, collection_ids: _sets, selected_text: _passage, only_selected_pages: only, ...fields } = app.selection.fields();
  const isLimited = pageIds.length + collectionIds.length > 0 || selectedText !== null;
  return { ...fields, only_selected_pages: only === true && isLimited };
}

/** @param {string} kind @param {IconName} name @param {string} title @param {...(string | undefined)} lines */
function panel(kind, name, title, ...lines) {
  const shown = lines.filter((line) => line).map((line) => h("p", null, withCode(line ?? "")));
  return h("div", { class: `panel ${kind}` }, h("p", { class: "outcome" }, icon(name), h("strong", null, title)), shown);
}

/** Say why a run ended, where its reason is one that is known. @param {string | null} stopReason */
export function reasonOf(stopReason) {
  return /** @type {Record<string, string>} */ (words.answer.stopReasons)[stopReason ?? ""] ?? "";
}

/** Say why there is no answer and what was searched for.
 * @param {Wire.Refusal} refusal @param {string} why As the stop reason says it. @returns {HTMLElement[]} */
function refusalLines({ code, tried = [], library, written_in: languages = [], notices = [], missing_page: missing }, why) {
  const { refusal } = words.apart;
  if (missing) {
    const [page, pages] = [String(missing.page), String(missing.pages)];
    return [h("p", null, missing.title ? refusal.noPageOf({ page, pages, title: missing.title }) : refusal.noPage({ page, pages }))];
  }
  const beside = WITHOUT_LIBRARY.find((each) => each === code);
  const found = !library && beside ? refusal.withoutLibrary[beside] : why;
  const reason = notices.includes("quotes_only") ? refusal.quotesOnly : found;
  const searched = UNSEARCHED.includes(code) ? [] : tried.filter(Boolean);
  const lines = reason ? [h("p", null, reason)] : [];
  if (searched.length) {
    const queries = searched.map((query) => h("q", { dir: "auto" }, query));
    lines.push(h("p", { class: "muted" }, refusal.searched, " ", queries.flatMap((query, at) => (at ? [" · ", query] : [query]))));
  }
  if (languages.length) {
    const names = new Intl.DisplayNames(language, { type: "language" });
    const named = languages.map((code) => names.of(code) ?? code);
    lines.push(h("p", null, refusal.writtenIn({ languages: new Intl.ListFormat(language).format(named) })));
  }
  if (notices.includes("add_model")) lines.push(h("p", { class: "muted" }, refusal.addModel));
  return lines;
}

/** Make the panel of a question that could not be asked. @param {App} app */
export function failureView(app) {
  const { conversation } = app;
  const element = h("div", { class: "failure", role: "alert" });
  conversation.failure.watch((failure) => {
    element.hidden = !failure;
    if (!failure) return fill(element);
    const { problem, again, ask } = failure;
    if (problem.status === 401) app.locked.set(true);
    const title = ask?.regenerate ? words.answer.failed : ask ? words.conversation.failed : "";
    const dismiss = textButton("quiet small", () => conversation.failure.set(null), words.conversation.dismiss);
    fill(
      element,
      title && h("p", { class: "outcome" }, icon("cross"), h("strong", null, title)),
      h("p", null, withCode(said(problem))),
      advice(problem) && h("p", { class: "muted" }, withCode(advice(problem))),
      h("p", { class: "choices" }, again && textButton("primary small", again, icon("again"), words.page.retry), dismiss),
    );
  });
  return element;
}

/** Show what a message puts between backticks as code. @param {string} message */
export function withCode(message) {
  return message.split(/`([^`]+)`/).map((part, at) => (at % 2 ? h("code", null, part) : part));
}
