/** What is said below a section: that it is being checked, what failed, what was changed and what was left out. */

import { fill, h } from "../dom.js";
import { render } from "../text/reading.js";
import { isWithdrawn } from "../state/sections.js";
import { words } from "../words/index.js";
import { icon } from "./icons.js";
import { wanted } from "./later.js";
import { faultList } from "./proof.js";

/**
 * Make all notes of a section.
 * @param {App} app
 * @param {SectionView} section
 * @param {boolean} checking Whether its claims are being checked.
 * @returns {(HTMLElement | null)[]}
 */
export function sectionNotes(app, section, checking) {
  return [
    checking ? h("p", { class: "checking" }, words.proof.checking) : null,
    section.claims && faultList(section.claims),
    isWithdrawn(section) && section.moved ? h("p", { class: "withdrawn" }, icon("dash"), words.proof.moved) : null,
    revision(app, section),
    ...section.removed.map(({ kind, target }) => h(
      "p",
      { class: "removed" },
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

/** Fold away how a section read before. @param {App} app @param {SectionView} section */
function revision(app, { text, before }) {
  if (before === null || before === text || !text) return null;
  const body = h("div", { class: "before" });
  const write = async () => void (body.childElementCount || fill(body, await changed(app, before, text, write)));
  const element = h("details", { class: "revision", ontoggle: write });
  element.append(h("summary", null, words.proof.revised), body);
  return element;
}

/**
 * @param {App} app
 * @param {string} before
 * @param {string} after
 * @param {() => void} again
 * @returns {Promise<HTMLElement[]>} Nothing where the difference could not be found.
 */
async function changed(app, before, after, again) {
  const loaded = await wanted(app, () => import("../text/difference.js"), again);
  if (!loaded) return [];
  const names = /** @type {const} */ ({ same: "span", old: "del", new: "ins" });
  return [h("p", null, loaded.difference(before, after).map(({ kind, text }) => h(names[kind], null, text)))];
}
