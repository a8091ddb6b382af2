/** What is said below a section: that it is being checked, what failed, what was changed and what was left out. */

import { fill, h } from "../dom.js";
import { difference } from "../text/difference.js";
import { render } from "../text/reading.js";
import { isWithdrawn } from "../state/sections.js";
import { words } from "../words/index.js";
import { icon } from "./icons.js";
import { faultList } from "./verdicts.js";

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
    isWithdrawn(section) && section.moved ? h("p", { class: "withdrawn" }, icon("dash"), words.proof.moved) : null,
    revision(section),
    ...section.removed.map(({ kind, target }) => h("p", { class: "removed" },
      icon("dash"),
      h("span", null, wordOf(kind), " ", h("code", null, target)),
    )),
  ];
}

/** @param {string} kind */
function wordOf(kind) {
  return words.proof.removed[kind === "image" ? "image" : "link"];
}

/** Say once how many sections were taken back, and fold away what they had said. @param {string[]} before */
export function takenBack(before) {
  if (!before.length) return null;
  const said = before.map((text) => {
    const element = h("div", { class: "before" });
    const write = () => fill(element, h("del", null, render(text, {}, write)));
    write();
    return element;
  });
  return h("details", { class: "revision" }, h("summary", null, icon("dash"), words.proof.withdrawn({ count: before.length })), said);
}

/** Fold away how a section read before. @param {SectionView} section */
function revision({ text, before }) {
  if (before === null || before === text || !text) return null;
  const body = h("div", { class: "before" });
  const names = /** @type {const} */ ({ same: "span", old: "del", new: "ins" });
  const write = () => fill(body, h("p", null, difference(before, text).map(({ kind, text }) => h(names[kind], null, text))));
  const element = h("details", { class: "revision" }, h("summary", null, words.proof.revised), body);
  element.addEventListener("toggle", write, { once: true });
  return element;
}
