/** An answer: what it is worth, its sections with their proof beside them, and how it came about. */

import { change, fill, h } from "../dom.js";
import { isWithdrawn } from "../state/sections.js";
import { isLive } from "../state/turns.js";
import { isApart } from "../text/apart.js";
import { worthOf } from "../text/worth.js";
import { language, words } from "../words/index.js";
import { answerActions } from "./answer_actions.js";
import { limitsView } from "./answer_limits.js";
import { outcomeView } from "./answer_outcome.js";
import { disagreements, nearestList } from "./answer_below.js";
import { icon } from "./icons.js";
import { fillMargin } from "./margin.js";
import { sectionView, takenBack } from "./section.js";

/** @param {Answer | null} answer */
function isProven(answer) {
  return answer !== null && answer.family !== "extractive" && answer.outcome !== "abstained" && answer.sources.length > 0;
}

/** Make the view of an answer; `account` is where the line of its run stands once it has ended.
 * @param {App} app @returns {TurnView & {account: HTMLElement}} */
export function answerView(app) {
  const views = /** @type {ReturnType<typeof sectionView>[]} */ ([]);
  let shown = /** @type {Answer | null} */ (null);
  let marginFilled = false;
  const sections = h("div", { class: "sections" });
  const margin = h("div", { class: "margin", role: "group", "aria-label": words.proof.passages });
  const beside = h("div", { class: "beside" }, sections, margin);
  const outcome = outcomeView(app);
  const limits = limitsView();
  const [above, back, below, account] = [h("div", { class: "above" }), h("div"), h("div", { class: "below" }), h("div")];
  const actions = answerActions(app);
  const element = h("div", { class: "answer", role: "group", "aria-label": words.answer.label },
    above, outcome.element, limits.element, beside, back, below, account, actions.element,
  );

  /** @param {Answer | null} answer */
  function showAnswer(answer) {
    const shownSections = answer?.sections ?? [];
    while (views.length < shownSections.length) views.push(sectionView(app));
    views.length = shownSections.length;
    if (answer) {
      shownSections.forEach((section, index) => {
        const view = /** @type {ReturnType<typeof sectionView>} */ (views[index]);
        view.show(section, answer);
        view.element.hidden = isApart(section, answer) || (isWithdrawn(section) && !section.moved);
      });
    }
    fill(sections, views.map((view) => view.element));
    const lost = shownSections.filter((section) => isWithdrawn(section) && !section.moved);
    const before = lost.map((section) => section.before ?? "");
    if (before.length !== back.querySelectorAll(".before").length) fill(back, takenBack(before));
    // Room is kept from the first word on, so that nothing is wrapped anew when the cards come.
    const proven = isProven(answer);
    beside.classList.toggle("proven", proven);
    if (proven && !marginFilled) fillMargin(sections, margin);
    marginFilled ||= proven;
    if (!answer || answer.outcome === null) {
      fill(above);
      fill(below);
    } else if (answer !== shown) {
      fill(above, worthLine(answer), changesSince(answer));
      fill(below, disagreements(app, answer), answer.outcome === "abstained" ? nearestList(app, answer) : null);
    }
    shown = answer;
  }

  return {
    element,
    account,
    show(turn, answering = false) {
      const { answer, run } = turn;
      if (answer !== shown || answer === null) showAnswer(answer);
      outcome.show(turn, answering);
      limits.show(turn);
      actions.show(turn, answering);
      change(element, { "aria-busy": String(isLive(run)) });
      element.classList.toggle("unkept", turn.answerId === null);
    },
  };
}

/** Say what an answer is worth. @param {Answer} answer */
function worthLine(answer) {
  const worth = worthOf(answer);
  return worth && h("p", { class: `worth ${worth.sign ?? ""}`.trim() }, worth.sign && icon(worth.sign), h("strong", { dir: "auto" }, worth.line));
}

/** Say how many quotes do not stand where they stood. @param {Answer} answer */
function changesSince(answer) {
  const counts = { moved: 0, changed: 0, deleted: 0, withheld: 0 };
  const seen = new Set();
  for (const section of answer.sections) {
    for (const { document_id, start, end, freshness } of (section.claims ?? []).flatMap((claim) => claim.citations)) {
      const quote = `${document_id} ${start} ${end}`;
      if (!freshness || freshness === "fresh" || seen.has(quote)) continue;
      seen.add(quote);
      counts[freshness] += 1;
    }
  }
  const parts = /** @type {const} */ (["moved", "changed", "deleted", "withheld"])
    .filter((kind) => counts[kind])
    .map((kind) => words.answer.changes[kind]({ count: counts[kind] }));
  if (!parts.length) return null;
  const list = new Intl.ListFormat(language, { type: "unit" }).format(parts);
  return h("p", { class: "since" }, icon("unsure"), h("span", null, `${words.answer.since} ${list}`));
}
