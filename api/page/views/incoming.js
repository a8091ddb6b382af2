/** Documents on their way in: one progress for all, and of each what is to be said of it. */

import { change, fill, h } from "../dom.js";
import { percent } from "../words/format.js";
import { words } from "../words/index.js";
import { mayRetry } from "../state/incoming_batches.js";
import { isNotable } from "../state/incoming_notes.js";
import { refusalOf, remarkOf } from "../text/said_of_files.js";
import { icon, iconButton, textButton } from "./icons.js";

/** @typedef {import("../state/incoming.js").Incoming} Incoming */
/** @typedef {import("../state/incoming_batches.js").Item} Item */
/** @typedef {import("../state/incoming_notes.js").Note} Note */

const FEW_TOLD = 3; // one by one; when all have ended, of those of which there is something to say
const MOST_TOLD = 100; // where all are wanted
const SEEN_MS = 8000; // that what went well stays
const MINUTE = 60;

/** Make what tells of them. @param {App} app @param {Incoming} incoming @param {Shelf} shelf */
export function incomingView(app, incoming, shelf) {
  const { pause, resume, cancel, retry, dismiss, label } = words.shelf.incoming;
  const count = h("p", { class: "count" });
  const bar = h("progress", { "aria-label": words.shelf.incoming.progress });
  const buttons = {
    pause: textButton("small", () => void incoming.pause(true), pause),
    resume: textButton("small", () => void incoming.pause(false), resume),
    cancel: textButton("small", () => incoming.cancelAll(), cancel),
    retry: textButton("small", () => incoming.retryAll(), icon("again"), retry),
    dismiss: textButton("small", () => incoming.dismissEnded(), dismiss),
  };
  const list = h("ul", null);
  let unfolded = false;
  const unfold = textButton("quiet small", () => {
    unfolded = !unfolded;
    show(incoming.progress.value);
  });
  const status = h("p", { class: "seen-by-readers-only", role: "status" });
  const element = h("section", { class: "incoming", "aria-label": label, hidden: true },
    status,
    h("div", { class: "whole" }, count, bar, h("div", { class: "doing" }, Object.values(buttons))),
    list,
    unfold,
  );
  let rows = /** @type {Map<number, ReturnType<typeof itemRow>>} */ (new Map());
  /** Those whose end was told. @type {Set<number>} */
  const told = new Set();
  let seen = 0;

  incoming.progress.watch(show);

  /** @param {import("../state/incoming.js").Progress} progress */
  function show(progress) {
    const { items, done, of, paused } = progress;
    const refused = items.filter(({ state }) => state === "refused");
    element.hidden = !items.length;
    const going = done < of;
    fill(count, goingText(progress, refused.length, items.filter(isSame).length));
    bar.hidden = !going;
    bar.max = Math.max(1, of);
    bar.value = done + items.reduce((sum, { state, share }) => sum + (state === "sending" ? share / 2 : 0), 0);
    buttons.pause.hidden = !going || paused;
    buttons.resume.hidden = !going || !paused;
    buttons.cancel.hidden = !going;
    buttons.retry.hidden = going || !refused.some((item) => mayRetry(item));
    buttons.dismiss.hidden = going;
    const ranked = items.toSorted((one, other) => rank(one) - rank(other));
    const notable = items.filter((item) => isNotable(item)).length;
    const few = going || items.length <= FEW_TOLD ? FEW_TOLD : Math.min(notable, FEW_TOLD);
    const shown = ranked.slice(0, unfolded ? MOST_TOLD : few);
    rows = new Map(shown.map((item) => [item.id, rows.get(item.id) ?? itemRow(app, incoming, shelf)]));
    for (const item of shown) rows.get(item.id)?.show(item);
    fill(list, [...rows.values()].map((row) => row.element));
    if (!items.length) unfolded = false;
    unfold.hidden = !unfolded && items.length <= shown.length;
    fill(unfold, unfolded ? words.shelf.incoming.fewer : words.shelf.incoming.more({ count: items.length - shown.length }));
    change(unfold, { "aria-expanded": String(unfolded) });
    if (!going) tell(items);
    clearTimeout(seen);
    if (!going && items.length) seen = setTimeout(leave, SEEN_MS);
  }

  /** Nobody has to put away what went well; what there is to say of others waits to be read. */
  function leave() {
    if (element.matches(":hover, :focus-within")) seen = setTimeout(leave, SEEN_MS);
    else incoming.dismissEnded(true);
  }

  /** Tell once, when all have ended. @param {Item[]} items */
  function tell(items) {
    const news = items.filter(({ id, state }) => !told.has(id) && (state === "added" || state === "refused"));
    if (!news.length) return;
    for (const { id } of news) told.add(id);
    const there = news.filter((item) => isSame(item)).length;
    const added = news.filter(({ problem }) => !problem).length - there;
    const { tellAdded, tellThere, tellRefused } = words.shelf.incoming;
    const refusals = news.flatMap(({ name, problem }) => (problem ? [tellRefused({ name, reason: refusalOf(problem, name) })] : []));
    status.textContent = [added ? tellAdded({ count: added }) : "", there ? tellThere({ count: there }) : "", ...refusals].filter(Boolean).join(" ");
  }
  return element;
}

/** @param {import("../state/incoming.js").Progress} progress @param {number} refused @param {number} same */
function goingText({ done, of, paused, seconds }, refused, same) {
  const { done: ofAll, minutes, soon, paused: stopped, refused: notAdded, ended, there } = words.shelf.incoming;
  const left = paused ? stopped : seconds === null ? "" : seconds < MINUTE ? soon : minutes({ minutes: Math.round(seconds / MINUTE) });
  const begins = done < of ? ofAll({ done, of }) : done > refused + same ? ended({ count: done - refused - same }) : "";
  return [begins, left, same ? there({ count: same }) : "", refused ? notAdded({ count: refused }) : ""].filter(Boolean).join(" · ");
}

/** @param {Item} item */
function isSame({ notes }) {
  return notes.some(({ kind }) => kind === "same");
}

/** What is to be read comes first, then what is on its way, and last what is done or waits. @param {Item} item */
function rank(item) {
  const told = isNotable(item) ? (isSame(item) ? 2 : 1) : 9;
  return Math.min(told, { refused: 0, sending: 3, reading: 3, waiting: 4, added: 5 }[item.state]);
}

/** @param {Note} note */
function noteOf(note) {
  const { notes } = words.shelf.incoming;
  if (note.kind === "alike") return notes.alike({ title: note.title });
  if (note.kind === "site") return notes.site({ count: note.count });
  return note.kind === "warning" || note.kind === "left" ? note.said.map(remarkOf).join(" ") : notes[note.kind];
}

/** @param {App} app @param {Incoming} incoming @param {Shelf} shelf */
function itemRow(app, incoming, shelf) {
  let shown = /** @type {Item | null} */ (null);
  const drawing = h("span", { class: "drawing" });
  const name = h("span", { class: "name", dir: "auto" });
  const state = h("span", { class: "muted" });
  const why = h("p", { class: "why" });
  const act = (/** @type {(id: number) => void} */ doing) => () => shown && doing(shown.id);
  const isGoing = () => shown?.state !== "added" && shown?.state !== "refused";
  const replace = textButton("small", () => void replaceTwin(), words.shelf.incoming.replace);
  const again = iconButton("again", "", act((id) => incoming.retry(id)));
  const away = iconButton("close", "", act((id) => (isGoing() ? incoming.cancel(id) : incoming.dismiss(id))));
  const element = h("li", null, drawing, h("div", { class: "what" }, name, state, why, replace), again, away);

  /** Delete the one that has the name of this. */
  async function replaceTwin() {
    const twin = shown?.notes.find((note) => note.kind === "twin");
    if (!shown || twin?.kind !== "twin") return;
    const { id } = shown;
    await app.attempt(async () => {
      const gone = await shelf.delete([twin.documentId]);
      if (!gone.length) return app.notice.set({ kind: "failed", text: words.shelf.kept({ count: 1 }) });
      const undo = () => void app.attempt(() => shelf.restore(gone));
      app.notice.set({ kind: "done", text: words.shelf.deleted({ title: twin.title }), undo });
      await app.selection.remove(twin.documentId);
      incoming.dismiss(id);
    });
  }

  /** @param {Item} item */
  function show(item) {
    if (item === shown) return;
    shown = item;
    const { states, sending, cancelName, retryName, dismissName, replaceName } = words.shelf.incoming;
    element.dataset.state = item.state;
    name.textContent = name.title = item.name;
    fill(drawing, icon(item.state === "added" ? "check" : item.state === "refused" ? "cross" : "upload"));
    state.textContent = item.state === "sending" && item.share ? sending({ share: percent(item.share) }) : states[isSame(item) ? "same" : item.state];
    const text = item.problem ? refusalOf(item.problem, item.name) : item.notes.map((note) => noteOf(note)).join(" ");
    why.textContent = text;
    why.hidden = !text;
    again.hidden = !mayRetry(item);
    replace.hidden = !item.notes.some(({ kind }) => kind === "twin");
    again.ariaLabel = again.title = retryName({ name: item.name });
    away.ariaLabel = away.title = (isGoing() ? cancelName : dismissName)({ name: item.name });
    replace.ariaLabel = replaceName({ name: item.name });
  }
  return { element, show };
}
