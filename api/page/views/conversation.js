/** The turns of the conversation, each view kept as long as its turn is there; it follows what is written last, from its question on. */

import { fill, h } from "../dom.js";
import { isLive, isSending } from "../state/turns.js";
import { worthOf } from "../text/worth.js";
import { words } from "../words/index.js";
import { emptyView } from "./empty.js";
import { failureView } from "./answer_outcome.js";
import { followUps } from "./offers.js";
import { icon, textButton } from "./icons.js";
import { sticking } from "./sticking.js";
import { turnView } from "./turn.js";

const FAR = 120; // pixels of what is being written that may be out of sight

/** Make the place where the turns stand. @param {App} app */
export function conversationView(app) {
  const { conversation } = app;
  /** @type {Map<string, {view: ReturnType<typeof turnView>, turn: Turn | null, answering: boolean}>} */
  const views = new Map();
  /** The status of each run that has not ended, to say when it has. @type {Set<string>} */
  let going = new Set();
  let sessionId = "";
  let reading = false;
  const earlier = textButton("earlier", () => void readEarlier(), words.conversation.earlier);
  const list = h("div", { class: "turns" });
  const empty = emptyView(app);
  const loading = h("p", { class: "loading muted", role: "status" }, words.conversation.loading);
  const aside = h("p", { class: "aside" },
    h("span", null, words.conversation.aside),
    textButton("small", () => void app.attempt(() => conversation.showNewest()), words.conversation.newest),
  );
  const said = h("p", { class: "seen-by-readers-only", role: "status" });
  const latest = h("button", { class: "latest", hidden: true, onclick: () => place.stick() }, icon("down"), words.conversation.latest);
  const content = h("div", { class: "content" }, earlier, empty, loading, list, aside, followUps(app), failureView(app));
  const element = h("section", { class: "conversation", "aria-label": words.conversation.label },
    content,
    h("div", { class: "floating" }, latest),
    said,
  );
  const place = sticking(element, content, (rest) => (latest.hidden = rest <= (going.size ? FAR : element.clientHeight)));

  conversation.turns.watch(show);
  conversation.loading.watch(() => show(conversation.turns.value));
  conversation.earlier.watch((cursor) => (earlier.hidden = cursor === null));
  conversation.aside.watch((is) => (aside.hidden = !is));
  conversation.failure.watch((failure) => failure && place.stick());

  /** @param {Turn[]} turns */
  function show(turns) {
    const answering = turns.some((turn) => isLive(turn.run));
    const last = turns.at(-1);
    const begun = last !== undefined && isSending(last.run) && !views.has(last.view);
    fill(list, turns.map((turn) => shown(turn, answering).element));
    for (const [key, { view }] of views) {
      if (turns.some((turn) => turn.view === key)) continue;
      view.leave();
      views.delete(key);
    }
    empty.hidden = turns.length > 0 || conversation.loading.value;
    loading.hidden = !conversation.loading.value || turns.length > 0;
    announce(turns);
    const opened = conversation.session.value?.session_id ?? "";
    if (begun || (opened !== sessionId && turns.length)) place.keep(list.lastElementChild);
    else if (!turns.length) place.keep(content);
    if (turns.length || !opened) sessionId = opened;
  }

  /** @param {Turn} turn @param {boolean} answering */
  function shown(turn, answering) {
    const known = views.get(turn.view) ?? { view: turnView(app), turn: null, answering };
    views.set(turn.view, known);
    if (known.turn !== turn || known.answering !== answering) known.view.show(turn, answering);
    known.turn = turn;
    known.answering = answering;
    return known.view;
  }

  /** @param {Turn[]} turns */
  function announce(turns) {
    const now = new Set();
    for (const { view, run } of turns) {
      if (!run) continue;
      if (isLive(run)) now.add(view);
      else if (going.has(view)) {
        const worth = worthOf(run.answer);
        fill(said, words.conversation.ended[run.answer.outcome ?? "failed"], worth && ` ${worth.line}.`);
      }
    }
    if (now.size && !going.size) fill(said);
    going = now;
  }

  async function readEarlier() {
    if (reading) return;
    reading = true;
    const [height, top] = [element.scrollHeight, element.scrollTop];
    await app.attempt(() => conversation.readEarlier());
    reading = false;
    // The browser keeps the place by itself, but not from the very top.
    if (element.scrollTop === top) element.scrollTop = top + element.scrollHeight - height;
    if (earlier.hidden) list.querySelector("button")?.focus({ preventScroll: true });
  }
  return element;
}
