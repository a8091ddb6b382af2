/** The sheet that lists the keys. */

import { h } from "../dom.js";
import { words } from "../words/index.js";
import { openDialog } from "./dialog.js";
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

/** Show the sheet. */
export function showSheet() {
  const { open, keys, single } = words.ways.shortcuts;
  const box = h("input", { type: "checkbox", ".checked": usesSingleKeys(), onchange: () => useSingleKeys(box.checked) });
  const rows = ROWS.map(([pressed, what]) =>
    h("div", null, h("dt", null, pressed.map((key) => h("kbd", null, key))), h("dd", null, keys[what])),
  );
  openDialog(open, { class: "shortcuts", closedby: "any" }, h("dl", null, rows), h("label", null, box, single));
}
