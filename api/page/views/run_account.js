/** A run's account: time, model calls and tokens of each step, what is left of the budget, and why it ended. */

import { fill, h } from "../dom.js";
import { isLive } from "../state/turns.js";
import { assessment } from "../text/telling.js";
import { ASIDE, capital, total, took } from "../text/summing.js";
import { gradesOf, quotesIn } from "../text/worth.js";
import { duration, money, number, percent } from "../words/format.js";
import { words } from "../words/index.js";
import { advice, said } from "../words/problems.js";
import { reasonOf } from "./answer_outcome.js";
import { copyButton } from "./copying.js";
import { judgedBy } from "./verdicts.js";

/** @typedef {[string, Child[]]} Fact A name with what there is to say under it. */

const REDRAWN_MS = 500;

/** Make the account of a run.
 * @returns {{element: HTMLElement, show: (turn: Turn, run: RunView | null, now: number) => void}} */
export function runAccount() {
  const said = h("span", { class: "account-sum" });
  const table = h("table");
  const facts = h("dl");
  const id = h("code");
  const { button, said: copied } = copyButton("quiet small", words.run.account.copyRun, () => id.textContent);
  button.ariaLabel = words.run.account.copyRun; // beside it stands another "Copy"
  const named = h("dd", { class: "run-id" }, id, button, copied);
  const element = h("details", { class: "account", ontoggle: draw },
    h("summary", null, words.run.account.label, said),
    h("div", { class: "account-body" }, h("div", { class: "account-table" }, table), facts),
  );
  let last = /** @type {[Turn, RunView | null, number] | null} */ (null);
  let told = /** @type {RunView | null} */ (null);
  let drawn = /** @type {unknown[]} */ ([]);

  function draw() {
    if (!last || !element.open) return;
    const [turn, run, now] = last;
    // Text that streams in changes nothing here.
    const seen = [run?.steps, run?.status, turn.spent, run?.startedAt && isLive(run) && Math.floor(now / REDRAWN_MS)];
    if (seen.every((each, at) => each === drawn[at]) && drawn.length) return;
    drawn = seen;
    const going = isLive(run);
    fill(table, tableOf(turn, run, going));
    fill(facts, factsOf(turn, run, now, going).flatMap(
      ([name, told]) => [h("dt", null, name), h("dd", null, told.map((each) => each && h("p", null, each)))],
    ), h("dt", null, words.run.account.run), named);
  }

  return {
    element,
    show(turn, run, now) {
      last = [turn, run, now];
      id.textContent = run?.runId || turn.key;
      if (run?.budget !== told?.budget || run?.status !== told?.status) said.textContent = leftOf(turn, run, now)[0] ?? "";
      told = run;
      draw();
    },
  };
}

/** @param {Turn} turn @param {RunView | null} run @param {boolean} going */
function tableOf(turn, run, going) {
  const { account, nodes } = words.run;
  const spent = spentOf(turn, run);
  // Steps that have words stand in the order of the graph; others come last.
  const order = [...new Set([...Object.keys(nodes), ...Object.keys(spent)])];
  const rows = order.filter((name) => spent[name] && !ASIDE.some((aside) => aside === name));
  const cells = (/** @type {Spent} */ { ms, calls, tokens }) =>
    [duration(ms), going ? "…" : number(calls), going ? "…" : number(tokens)].map((text) => h("td", null, text));
  const row = (/** @type {string} */ name, /** @type {string} */ named, /** @type {Spent | undefined} */ each) =>
    each && h("tr", { "data-step": name }, h("th", { scope: "row" }, named), cells(each));
  const heads = [account.step, account.time, account.calls, account.tokens];
  return [
    h("thead", null, h("tr", null, heads.map((head) => h("th", { scope: "col" }, head)))),
    h("tbody", null, rows.map((name) => row(name, nodes[/** @type {keyof typeof nodes} */ (name)] ?? name, spent[name]))),
    h("tfoot", null, row("total", account.total, total(spent)), ASIDE.map((name) => row(name, account[name], spent[name]))),
  ];
}

/** What each step took; while the run goes on, as far as the steps have told. @param {Turn} turn @param {RunView | null} run */
function spentOf(turn, run) {
  const known = run && Object.keys(run.spent).length ? run.spent : turn.spent;
  if (Object.keys(known).length || !run) return known;
  const spent = /** @type {Record<string, Spent>} */ ({});
  for (const { name, ms } of run.steps) {
    if (ms !== null) spent[name] = { calls: 0, tokens: 0, ms: (spent[name]?.ms ?? 0) + ms };
  }
  return spent;
}

/** Give the facts of a run, each of which there is something to say.
 * @param {Turn} turn @param {RunView | null} run @param {number} now @param {boolean} going @returns {Fact[]} */
function factsOf(turn, run, now, going) {
  const { account, outcomes } = words.run;
  const { answer } = turn;
  const failure = run?.failure;
  const outcome = answer?.outcome ?? run?.answer.outcome;
  const reason = answer?.stopReason ?? run?.answer.stopReason;
  const family = answer?.family || run?.answer.family;
  const cost = turn.cost ?? run?.cost;
  const ms = took(turn, run, now);
  /** @type {Fact[]} */
  const facts = [
    [account.outcome, [outcome && (outcomes[outcome] ?? outcome)]],
    [account.reason, failure ? [said(failure), advice(failure)] : [reason && (reasonOf(reason) || reason)]],
    [going ? account.soFar : account.elapsed, [ms !== null && duration(ms)]],
    [account.budget, leftOf(turn, run, now)],
    [account.cost, cost ? paid(cost) : []],
    [account.model, [family === "extractive" ? withoutModel(answer) : run?.model || family]],
    [account.assessment, answer ? assessed(answer) : []],
  ];
  return facts.filter(([, lines]) => lines.some(Boolean));
}

/** Say what is left of the budget; how many calls were made is told at the end only. @param {Turn} turn @param {RunView | null} run @param {number} now */
function leftOf(turn, run, now) {
  if (!run?.budget) return [];
  const { account } = words.run;
  const { model_calls: calls, tokens, seconds } = run.budget;
  const used = total(run.spent);
  const known = run.status === "finished" && run.failure === null;
  const left = (/** @type {number} */ cap, /** @type {number} */ taken) => number(Math.max(0, cap - taken));
  const lines = [known ? account.callsLeft({ left: left(calls, used.calls), of: calls }) : account.callsOf({ of: calls })];
  if (tokens !== null) {
    const most = number(tokens);
    lines.push(known ? account.tokensLeft({ left: left(tokens, used.tokens), of: most }) : account.tokensOf({ of: most }));
  }
  if (seconds) {
    const rest = Math.max(0, seconds * 1000 - (took(turn, run, now) ?? 0));
    lines.push(account.timeLeft({ left: duration(rest), of: duration(seconds * 1000) }));
  }
  return lines;
}

/** Say what the run cost, as far as its models have prices. @param {Cost} cost */
function paid({ amount, currency, estimated, unpriced }) {
  const { account } = words.run;
  const sum = money(amount, currency);
  return [
    estimated ? account.about({ amount: sum }) : sum,
    unpriced.length > 0 && account.unpriced({ models: unpriced.join(words.answer.worth.comma) }),
  ];
}

/** Say who wrote an answer without a model: small talk and lists quote nothing. @param {Answer | null} answer */
function withoutModel(answer) {
  const { account } = words.run;
  if (answer?.stopReason === "answered_from_catalogue") return account.listed;
  return !answer || quotesIn(answer) ? account.quotes : account.fixed;
}

/** @param {Answer} answer */
function assessed(answer) {
  const { assessment: known, sections } = answer;
  if (!known) return [];
  const { model_score: score, answerhood: chance = null } = known;
  const { line, more } = assessment(known, gradesOf(answer).quoted ?? 0);
  const likely = chance !== null && capital(words.answer.answerhood.likely({ chance: percent(chance) }));
  const opinion = score !== null && words.run.account.opinion({ share: percent(score) });
  const judges = new Set(sections.flatMap(({ claims }) => (claims ?? []).flatMap(({ judge }) => (judge ? judgedBy(judge) : []))));
  return [capital(line), ...more, likely, opinion, ...judges];
}
