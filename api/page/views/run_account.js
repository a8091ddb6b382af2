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

/** @typedef {[string, (Node | string | null)[]]} Fact A name with what there is to say under it. */

const REDRAWN_MS = 500;

/**
 * Make the account of a run.
 * @returns {{element: HTMLElement, show: (turn: Turn, run: RunView | null, now: number) => void}}
 */
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
  /** @type {[Turn, RunView | null, number] | null} */
  let last = null;
  /** @type {RunView | null} */
  let told = null;
  /** @type {unknown[]} */
  let drawn = [];

  function draw() {
    if (!last || !element.open) return;
    const [turn, run, now] = last;
    // Text that streams in changes nothing here.
    const seen = [run?.steps, run?.status, turn.spent, run?.startedAt && isLive(run) && Math.floor(now / REDRAWN_MS)];
    if (seen.every((each, at) => each === drawn[at]) && drawn.length) return;
    drawn = seen;
    const going = isLive(run);
    fill(table, tableOf(turn, run, going));
    fill(facts, [...ended(turn, run), ...budget(turn, run, now, going), ...paid(turn, run), ...written(turn, run), ...assessed(turn)].flatMap(
      ([name, told]) => [h("dt", null, name), h("dd", null, told.flatMap((each) => [each && h("p", null, each)]))],
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
  const rows = Object.entries(spent).filter(([name]) => !ASIDE.some((aside) => aside === name)).sort(([one], [other]) => rank(one) - rank(other));
  const cells = (/** @type {Spent} */ { ms, calls, tokens }) =>
    [duration(ms), going ? "…" : number(calls), going ? "…" : number(tokens)].map((text) => h("td", null, text));
  const row = (/** @type {string} */ name, /** @type {string} */ named, /** @type {Spent} */ each) =>
    h("tr", { "data-step": name }, h("th", { scope: "row" }, named), cells(each));
  const heads = [account.step, account.time, account.calls, account.tokens];
  return [
    h("thead", null, h("tr", null, heads.map((head) => h("th", { scope: "col" }, head)))),
    h("tbody", null,
      rows.map(([name, each]) => row(name, nodes[/** @type {keyof typeof nodes} */ (name)] ?? name, each)),
    ),
    h("tfoot", null,
      row("total", account.total, total(spent)),
      ASIDE.map((name) => spent[name] && row(name, account[name], spent[name])),
    ),
  ];
}

/** Count a step's place among those that have words, which is the order of the graph; others come last. @param {string} name */
function rank(name) {
  const known = Object.keys(words.run.nodes);
  return known.includes(name) ? known.indexOf(name) : known.length;
}

/** What each step took; while the run goes on, as far as the steps have told. @param {Turn} turn @param {RunView | null} run */
function spentOf(turn, run) {
  const known = run && Object.keys(run.spent).length ? run.spent : turn.spent;
  if (Object.keys(known).length || !run) return known;
  /** @type {Record<string, Spent>} */
  const spent = {};
  for (const { name, ms } of run.steps) {
    if (ms !== null) spent[name] = { calls: 0, tokens: 0, ms: (spent[name]?.ms ?? 0) + ms };
  }
  return spent;
}

/** @param {Turn} turn @param {RunView | null} run @returns {Fact[]} */
function ended(turn, run) {
  const { account, outcomes } = words.run;
  const { failure } = run ?? { failure: null };
  const outcome = turn.answer?.outcome ?? run?.answer.outcome;
  const reason = turn.answer?.stopReason ?? run?.answer.stopReason;
  /** @type {Fact[]} */
  const facts = [];
  if (outcome) facts.push([account.outcome, [outcomes[outcome] ?? outcome]]);
  if (failure) facts.push([account.reason, [said(failure), advice(failure) || null]]);
  else if (reason) facts.push([account.reason, [reasonOf(reason) || reason]]);
  return facts;
}

/** @param {Turn} turn @param {RunView | null} run @param {number} now @param {boolean} going @returns {Fact[]} */
function budget(turn, run, now, going) {
  const { account } = words.run;
  const ms = took(turn, run, now);
  /** @type {Fact[]} */
  const facts = ms === null ? [] : [[going ? account.soFar : account.elapsed, [duration(ms)]]];
  const left = leftOf(turn, run, now);
  if (left.length) facts.push([account.budget, left]);
  return facts;
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

/** What the run cost, where its models have prices. @param {Turn} turn @param {RunView | null} run @returns {Fact[]} */
function paid(turn, run) {
  const { account } = words.run;
  const cost = turn.cost ?? run?.cost;
  if (!cost) return [];
  const amount = money(cost.amount, cost.currency);
  const { unpriced } = cost;
  return [[account.cost, [
    cost.estimated ? account.about({ amount }) : amount,
    unpriced.length ? account.unpriced({ models: unpriced.join(words.answer.worth.comma) }) : null,
  ]]];
}

/** @param {Turn} turn @param {RunView | null} run @returns {Fact[]} */
function written(turn, run) {
  const { account } = words.run;
  const family = turn.answer?.family || run?.answer.family;
  if (family === "extractive") return [[account.model, [withoutModel(turn)]]];
  return run?.model || family ? [[account.model, [run?.model || family || null]]] : [];
}

/** Say who wrote an answer without a model: small talk and lists quote nothing. @param {Turn} turn */
function withoutModel({ answer }) {
  const { account } = words.run;
  if (answer?.stopReason === "answered_from_catalogue") return account.listed;
  return !answer || quotesIn(answer) ? account.quotes : account.fixed;
}

/** @param {Turn} turn @returns {Fact[]} */
function assessed({ answer }) {
  const known = answer?.assessment;
  if (!known) return [];
  const { account } = words.run;
  const opinion = known.model_score === null ? null : account.opinion({ share: percent(known.model_score) });
  const { line, more } = assessment(known, gradesOf(answer).quoted ?? 0);
  const chance = known.answerhood ?? null;
  const likely = chance === null ? null : capital(words.answer.answerhood.likely({ chance: percent(chance) }));
  const judges = new Set(answer.sections.flatMap(({ claims }) => (claims ?? []).flatMap(({ judge }) => (judge ? judgedBy(judge) : []))));
  return [[account.assessment, [capital(line), ...more, likely, opinion, ...judges]]];
}
