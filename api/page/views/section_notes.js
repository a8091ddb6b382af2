/** What is said below a section: that it is being checked, what failed, what was changed and what was left out. */

import { h } from "../dom.js";
import { difference } from "../text/difference.js";
import { render } from "../text/markup.js";
import { isWithdrawn } from "../state/sections.js";
import { words } from "../words/index.js";
import { icon } from "./icons.js";
import { faultList } from "./proof.js";

/** @typedef {import("../state/sections.js").SectionView} SectionView */

/**
 * Make all notes of a section.
 * @param {SectionView} section
 * @param {boolean} checking Whether its claims are being checked.
 * @returns {(HTMLElement | null)[]}
 */
export function sectionNotes(section, checking) {
  return [
    checking ? h("p", { class: "checking" }, words.proof.checking) : null,
    section.claims && faultList(section.claims),
    isWithdrawn(section) ? h("p", { class: "withdrawn" }, icon("dash"), words.proof.withdrawn) : null,
    revision(section),
    ...section.removed.map(({ kind, target }) => h("p", { class: "removed" }, icon("dash"), h("span", null, wordOf(kind), " ", h("code", null, target)))),
  ];
}

/** @param {string} kind */
function wordOf(kind) {
  return words.proof.removed[kind === "image" ? "image" : "link"];
}

/** Fold away how a section read before. @param {SectionView} section */
function revision({ text, before }) {
  if (before === null || before === text) return null;
  const body = h("div", { class: "before" });
  const element = h("details", { class: "revision", ontoggle: () => body.childElementCount || body.append(...changed(before, text)) });
  element.append(h("summary", null, text ? words.proof.revised : words.proof.said), body);
  return element;
}

/** @param {string} before @param {string} after @returns {HTMLElement[]} */
function changed(before, after) {
  if (!after) return [h("del", null, render(before))];
  const names = /** @type {const} */ ({ same: "span", old: "del", new: "ins" });
  return [h("p", null, difference(before, after).map(({ kind, text }) => h(names[kind], null, text)))];
}
