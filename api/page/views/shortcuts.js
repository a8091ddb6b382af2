/** Keys for the whole page, the sheet that lists them, and the ways past what stands before. */

import { change, h } from "../dom.js";
import { words } from "../words/index.js";
import { openDialog } from "./dialog.js";
import { textButton } from "./icons.js";
import { goToQuestion } from "./question_field.js";
import { roving } from "./roving.js";

const OFF = "citewell.keys";
/** @type {[string[], keyof typeof words.ways.shortcuts.keys][]} */
const ROWS = [
  [["?"], "help"],
  [["/"], "question"],
  [["n"], "begin"],
  [["s"], "search"],
  [["l"], "library"],
  [["a"], "answer"],
  [["d"], "sources"],
  [["m"], "next"],
  [["Shift", "m"], "previous"],
  [["Esc"], "stop"],
  [["↑", "↓"], "rows"],
];

/** Show the sheet of all keys. */
export function showShortcuts() {
  const { open, keys, single } = words.ways.shortcuts;
  const onchange = () => (box.checked ? localStorage.removeItem(OFF) : localStorage.setItem(OFF, "off"));
  const box = h("input", { type: "checkbox", ".checked": usesSingleKeys(), onchange });
  const rows = ROWS.map(([pressed, what]) =>
    h("div", null, h("dt", null, pressed.map((key) => h("kbd", null, key))), h("dd", null, keys[what])),
  );
  openDialog(open, { class: "shortcuts", closedby: "any" }, h("dl", null, rows), h("label", null, box, single));
}

/** Listen for the keys. @param {App} app */
export function shortcuts(app) {
  /** @type {Record<string, () => void>} */
  const keys = {
    "?": showShortcuts,
    "/": goToQuestion,
    n: () => begin(app),
    s: () => search(app),
    l: () => app.showLibrary(),
    a: goToAnswer,
    d: goToSources,
    m: () => goToMarker(1),
    M: () => goToMarker(-1),
  };
  addEventListener("keydown", (event) => {
    const act = keys[event.key];
    if (!act || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (!usesSingleKeys() || app.locked.value || isTaken(event.target)) return;
    event.preventDefault();
    act();
  });
}

const usesSingleKeys = () => localStorage.getItem(OFF) !== "off";

/** Tell whether a key is for what has the focus, or for a dialog or menu that is open. @param {EventTarget | null} target */
function isTaken(target) {
  if (document.querySelector("dialog[open], [role=menu]:popover-open")) return true;
  return target instanceof HTMLElement && (target.isContentEditable || target.matches("input, textarea, select"));
}

/** @param {App} app */
function begin(app) {
  location.hash = "";
  app.sessionsOpen.set(false);
  goToQuestion();
}

/** @param {App} app */
function search(app) {
  const field = document.querySelector(".sessions input[type=search]");
  if (!(field instanceof HTMLElement)) return;
  if (field.offsetParent === null) app.sessionsOpen.set(true);
  field.focus();
}

/** Go to the latest answer. */
function goToAnswer() {
  const answer = [...document.querySelectorAll(".turn .answer")].at(-1);
  if (!(answer instanceof HTMLElement)) return;
  change(answer, { tabindex: -1 });
  answer.focus();
  answer.scrollIntoView({ block: "nearest" });
}

/** Go to the sources of the latest answer, which stand in its run's account. */
function goToSources() {
  const account = [...document.querySelectorAll(".turn")].at(-1)?.querySelector(".run");
  if (!(account instanceof HTMLDetailsElement)) return;
  account.open = true;
  account.querySelector("summary")?.focus();
}

/** Go to the next marker of the conversation, or the one before. @param {1 | -1} by */
function goToMarker(by) {
  const markers = [...document.querySelectorAll(".turn .answer .marker")];
  const here = document.activeElement;
  const at = markers.findIndex((each) => each === here);
  const behind = (/** @type {Element} */ each) => Boolean(here && here.compareDocumentPosition(each) & Node.DOCUMENT_POSITION_FOLLOWING);
  const from = at >= 0 || !here?.closest(".turn") ? at : markers.findIndex(behind) - (by > 0 ? 1 : 0);
  const next = at < 0 && from < 0 ? markers.at(by > 0 ? 0 : -1) : markers.at((from + by) % markers.length);
  if (next instanceof HTMLElement) next.focus();
}

/** Make the links. @param {App} app */
export function skips(app) {
  const question = h("a", { class: "skip", href: "#question", onclick }, words.page.skip);
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

  /** The address names the session, so the link must not change it. @param {Event} event */
  function onclick(event) {
    event.preventDefault();
    goToQuestion();
  }
}
