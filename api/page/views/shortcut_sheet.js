/** The sheet that lists the keys. */

import { h } from "../dom.js";
import { words } from "../words/index.js";
import { iconButton } from "./icons.js";
import { useSingleKeys, usesSingleKeys } from "./shortcuts.js";

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

/** Show the sheet; it goes when it is closed. */
export function showSheet() {
  const before = document.activeElement;
  const single = h("input", {
    type: "checkbox",
    ".checked": usesSingleKeys(),
    onchange: () => useSingleKeys(single.checked),
  });
  const dialog = h(
    "dialog",
    { class: "shortcuts", "aria-label": words.ways.shortcuts.open, onclose, onclick },
    h(
      "div",
      { class: "inside" },
      h(
        "header",
        null,
        h("h2", null, words.ways.shortcuts.open),
        iconButton("close", words.page.close, () => dialog.close(), "quiet"),
      ),
      h(
        "dl",
        null,
        ROWS.map(([keys, what]) =>
          h("div", null, h("dt", null, keys.map((key) => h("kbd", null, key))), h("dd", null, words.ways.shortcuts.keys[what])),
        ),
      ),
      h("label", null, single, words.ways.shortcuts.single),
    ),
  );

  function onclose() {
    dialog.remove();
    if (before instanceof HTMLElement) before.focus();
  }

  /** @param {MouseEvent} event */
  function onclick(event) {
    if (event.target === dialog) dialog.close();
  }
  document.body.append(dialog);
  dialog.showModal();
}
