/** Keys for the whole page: single ones, which only count outside of fields and can be turned off, and the sheet that lists them. */

import { goToQuestion } from "./question_field.js";
import { wanted } from "./later.js";
import { goToAnswer, goToMarker, goToSources } from "./skips.js";

const OFF = "citewell.keys";

/** Tell whether single keys are used. */
export function usesSingleKeys() {
  return localStorage.getItem(OFF) !== "off";
}

/** @param {boolean} use */
export function useSingleKeys(use) {
  if (use) localStorage.removeItem(OFF);
  else localStorage.setItem(OFF, "off");
}

/** Show the sheet of all keys. @param {App} app */
export async function showShortcuts(app) {
  const module = await wanted(app, () => import("./shortcut_sheet.js"), () => void showShortcuts(app));
  module?.showSheet();
}

/** Listen for the keys. @param {App} app */
export function shortcuts(app) {
  /** @type {Record<string, () => void>} */
  const keys = {
    "?": () => void showShortcuts(app),
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
