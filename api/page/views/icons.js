/** Small drawings for buttons, in the colour of their text; what a button does is said by its label. */

import { h, svg } from "../dom.js";

/** Paths in a box of 24 by 24, drawn as lines. */
const PATHS = {
  add: "M12 5v14M5 12h14",
  close: "M6 6l12 12M18 6L6 18",
  more: "M5 12v.01M12 12v.01M19 12v.01",
  settings: "M4 8h9M19 8h1M4 16h1M11 16h9M16 5a3 3 0 1 1 0 6 3 3 0 0 1 0-6M8 13a3 3 0 1 1 0 6 3 3 0 0 1 0-6",
  menu: "M4 7h16M4 12h16M4 17h16",
  search: "M11 4a7 7 0 1 1 0 14 7 7 0 0 1 0-14M16.500 16.500L20 20",
  send: "M5 12h14M13 6l6 6-6 6",
  stop: "M7 7h10v10H7z",
  edit: "M4 20h4L19 9l-4-4L4 16zM13 7l4 4",
  again: "M19 12a7 7 0 1 1-2-5M19 4v4h-4",
  copy: "M9 9h10v11H9zM5 15V4h10",
  trash: "M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13",
  book: "M5 5h6a2 2 0 0 1 2 2v13a2 2 0 0 0-2-2H5zM21 5h-6a2 2 0 0 0-2 2v13a2 2 0 0 1 2-2h6z",
  set: "M3 6h6l2 2h10v11H3zM3 11h18",
  web: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18M3 12h18M12 3c3 3 3 15 0 18M12 3c-3 3-3 15 0 18",
  page: "M7 3h7l4 4v14H7zM14 3v4h4",
  upload: "M12 16V5M7 10l5-5 5 5M5 19h14",
  download: "M12 5v11M7 11l5 5 5-5M5 19h14",
  back: "M15 6l-6 6 6 6",
  next: "M9 6l6 6-6 6",
  down: "M6 9l6 6 6-6",
  check: "M5 12.500l4.500 4.500L19 7.500",
  unsure: "M9 9a3 3 0 1 1 4 3c-1 .5-1 1-1 2M12 18v.01",
  cross: "M7 7l10 10M17 7L7 17",
  dash: "M6 12h12",
  quote: "M10 7H5v6h5V7c0 5-1 8-4 10M19 7h-5v6h5V7c0 5-1 8-4 10",
  only: "M4 5h16l-6 8v6l-4-2v-4z",
  think: "M12 3l2 6 6 2-6 2-2 6-2-6-6-2 6-2zM19 3v4M17 5h4",
  print: "M7 9V4h10v5M7 17H4V9h16v8h-3M7 14h10v6H7z",
  take: "M12 4v11M7 10l5 5 5-5M5 20h14",
  up: "M7 11v9H4v-9zM7 11l4-8a2 2 0 0 1 2 2v4h5.500a1.700 1.700 0 0 1 1.700 2l-1.200 7a2 2 0 0 1-2 1.700H7",
  poor: "M7 13V4H4v9zM7 13l4 8a2 2 0 0 0 2-2v-4h5.500a1.700 1.700 0 0 0 1.700-2l-1.200-7a2 2 0 0 0-2-1.700H7",
  keys: "M3 7h18v10H3zM7 11v.01M11 11v.01M15 11v.01M8 14h8",
  pin: "M9 4h6l-1 6 4 4H6l4-4zM12 14v6",
  out: "M14 5h5v5M19 5l-8 8M17 14v5H5V7h5",
};

/** Those that point along the way of reading: they are mirrored where it is from right to left. */
const ONWARD = new Set(["send", "back", "next", "out"]);

/** @typedef {keyof typeof PATHS} IconName */

const LINES = {
  fill: "none",
  stroke: "currentColor",
  "stroke-width": 2,
  "stroke-linecap": "round",
  "stroke-linejoin": "round",
};

/** Draw an icon. @param {IconName} name */
export function icon(name) {
  const way = ONWARD.has(name) ? { class: "onward" } : {};
  return svg("svg", { viewBox: "0 0 24 24", ...LINES, ...way, "aria-hidden": "true" }, svg("path", { d: PATHS[name] }));
}

/** Make a button that has no words but its label.
 * @param {IconName} name @param {string} label @param {() => void} onclick @param {string} [look] Its classes. */
export function iconButton(name, label, onclick, look = "quiet small") {
  return h("button", { class: look, "aria-label": label, title: label, onclick }, icon(name));
}

/** Make a button that says what it does.
 * @param {string} look Its classes. @param {(event: MouseEvent) => void} onclick @param {...Child} children */
export function textButton(look, onclick, ...children) {
  return h("button", { class: look, onclick }, ...children);
}
