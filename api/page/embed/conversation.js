/** The questions and answers of one visitor: asked one after another in a session that nobody else sees listed. */

import { Problem } from "../api/problem.js";
import { askQuestion, joinRun } from "../api/following.js";
import { fill, h } from "../dom.js";
import { answerOf, fold, newRun } from "../state/run.js";
import { cleaned } from "../text/question.js";
import { answerView } from "./answer.js";
import { readable } from "./passage.js";

const KEPT = "citewell.session"; // in the tab's own store, where the site's owner wants it
const REFUSED = new Set(["not_authenticated", "not_permitted", "unreachable", "unexpected"]);

/**
 * Make the view of a conversation: what was said, above the field for the next question.
 * @param {import("./main.js").Setting} setting
 */
export function conversation(setting) {
  const { words, client, questions, kept } = setting;
  let session = "";
  /** @type {AbortController | null} */
  let asking = null;
  let runId = "";
  const log = h("div", { class: "log", tabindex: -1 });
  const status = h("p", { class: "status", role: "status" });
  const named = { "aria-label": words.field, placeholder: words.field, dir: "auto" };
  const field = h("textarea", { ...named, rows: 1, maxlength: 4000, onkeydown: typed });
  const send = h("button", { type: "submit", class: "send", "aria-label": words.send }, "➜");
  const form = h("form", { onsubmit: sent }, field, send);
  const over = h("button", { type: "button", class: "quiet", onclick: startOver }, words.over);
  const element = h("div", { class: "conversation" }, log, status, form);

  /** @param {KeyboardEvent} event */
  function typed(event) {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit();
  }

  /** @param {SubmitEvent} event Of the button, which stops an answer, or of Enter, which does not. */
  function sent(event) {
    event.preventDefault();
    const question = cleaned(field.value).trim();
    if (asking) event.submitter && stop();
    else if (question) {
      field.value = "";
      void ask(question);
    }
  }

  function stop() {
    if (runId) void client.cancelRun(runId).catch(() => undefined);
    else {
      asking?.abort();
      status.textContent = words.stopped;
    }
  }

  /** @param {AbortController | null} now */
  function turn(now) {
    asking = now;
    runId = "";
    send.textContent = now ? "■" : "➜";
    send.setAttribute("aria-label", now ? words.stop : words.send);
    element.toggleAttribute("data-asking", now !== null);
  }

  /** Begin an entry for a question. @param {string} question */
  function entryOf(question) {
    const view = answerView(setting);
    const entry = h("article", null, h("h3", { dir: "auto" }, question), view.element);
    if (over.hidden) fill(log, entry);
    else log.append(entry);
    over.hidden = false;
    log.scrollTop = entry.offsetTop - log.offsetTop;
    return { question, entry, view };
  }

  /** @param {string} question */
  function ask(question) {
    return follow(entryOf(question), async function* (options) {
      if (!client.key()) throw new Problem("not_authenticated", "");
      session ||= (await client.json("api/sessions", { method: "POST", json: { ephemeral: true } })).session_id;
      kept?.setItem(KEPT, session);
      yield* askQuestion(client, session, { question }, options);
    });
  }

  /**
   * Show an answer as its run tells it.
   * @param {ReturnType<typeof entryOf>} asked
   * @param {(options: Parameters<typeof joinRun>[2]) => ReturnType<typeof joinRun>} told
   */
  async function follow(asked, told) {
    const { question, view } = asked;
    const own = new AbortController();
    turn(own);
    status.textContent = words.searching;
    const reading = readable(client.home);
    const onOutage = (/** @type {unknown} */ outage) => outage && (status.textContent = words.lost);
    let run = newRun("", question);
    try {
      for await (const event of told({ signal: own.signal, onOutage })) {
        await reading;
        if (own.signal.aborted) return;
        run = fold(run, event);
        runId = run.runId;
        view.show(run.answer);
        if (run.status === "running") status.textContent = run.answer.sections.length ? words.writing : words.searching;
      }
      if (own.signal.aborted) return;
      if (run.failure) throw new Problem(run.failure.code, run.failure.message);
      const stopped = run.answer.outcome === "cancelled";
      status.textContent = stopped ? words.stopped : `${words.finished} ${view.worth(run.answer)}`;
    } catch (error) {
      if (!own.signal.aborted) fail(asked, error);
    } finally {
      if (asking === own) turn(null);
    }
  }

  /** Show what was said on the page before, if it is still there. @param {string} before */
  async function restore(before) {
    const [detail] = await Promise.all([client.session(before).catch(() => null), readable(client.home)]);
    if (!detail || !over.hidden) return; // it is gone, or the reader was quicker
    session = before;
    kept?.setItem(KEPT, session);
    /** @type {ReturnType<typeof entryOf> | null} */
    let asked = null;
    for (const message of detail.messages) {
      const { role, content, answering, run_id: runId } = message;
      if (role === "user") asked = entryOf(content);
      else asked?.view.show(answerOf(message));
      if (answering && asked && runId) void follow(asked, (options) => joinRun(client, runId, options));
    }
  }

  /** Tell the reader calmly, and the site's owner in the console what to do.
   * @param {ReturnType<typeof entryOf>} asked @param {unknown} error */
  function fail({ entry, question }, error) {
    const problem = error instanceof Problem ? error : new Problem("unexpected", String(error));
    if (problem.status === 404) session = "";
    const refused = REFUSED.has(problem.code) && problem.status < 500;
    if (refused) console.error(`Citewell: ${setting.advice} ${problem.message}`.trim());
    status.textContent = problem.status === 429 ? words.busy : refused ? words.away : words.failed;
    const retry = () => {
      entry.remove();
      field.focus();
      void ask(question);
    };
    const again = h("button", { type: "button", class: "quiet", onclick: retry }, words.again);
    entry.append(h("p", { class: "note" }, status.textContent, " ", client.key() ? again : null));
  }

  function begin() {
    asking?.abort();
    if (runId) stop();
    turn(null);
    session = status.textContent = "";
    kept?.removeItem(KEPT);
    over.hidden = true;
    const offer = (/** @type {string} */ question) => {
      const chosen = () => {
        log.focus();
        void ask(question);
      };
      return h("button", { type: "button", class: "offer", dir: "auto", onclick: chosen }, question);
    };
    fill(log, h("p", { class: "intro" }, words.intro), questions.map(offer));
  }

  function startOver() {
    begin();
    field.focus();
  }

  const before = kept?.getItem(KEPT);
  begin();
  if (before) void restore(before);
  return { element, field, over };
}
