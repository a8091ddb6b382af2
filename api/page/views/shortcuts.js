/** Keys for the whole page: single ones, which only count outside of fields and can be turned off, and the sheet that lists them. */

import { h } from "../dom.js";
import { words } from "../words/index.js";
import { openDialog } from "./dialog.js";
import { goToQuestion } from "./question_field.js";
import { goToAnswer, goToMarker, goToSources } from "./skips.js";

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
  const box = h("input", { type: "checkbox", ".checked": usesSingleKeys(), onchange: () => useSingleKeys(box.checked) });
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

function usesSingleKeys() {
  return localStorage.getItem(OFF) !== "off";
}

/** @param {boolean} use */
function useSingleKeys(use) {
  if (use) localStorage.removeItem(OFF);
  else localStorage.setItem(OFF, "off");
}

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
