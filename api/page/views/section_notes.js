/** What is said below a section: that it is being checked, what failed, what was changed and what was left out. */

import { fill, h } from "../dom.js";
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

/** Fold away how a section read before. @param {SectionView} section */
function revision({ text, before }) {
  if (before === null || before === text) return null;
  const body = h("div", { class: "before" });
  const write = async () => body.childElementCount || fill(body, await changed(before, text));
  const element = h("details", { class: "revision", ontoggle: write });
  element.append(h("summary", null, text ? words.proof.revised : words.proof.said), body);
  return element;
}

/** @param {string} before @param {string} after @returns {Promise<HTMLElement[]>} */
async function changed(before, after) {
  if (!after) return [h("del", null, render(before))];
  // Who opens none need not load it; where it can't be loaded, how it read is told nevertheless.
  const loaded = await import("../text/difference.js").catch(() => null);
  if (!loaded) return render(before);
  const names = /** @type {const} */ ({ same: "span", old: "del", new: "ins" });
  return [h("p", null, loaded.difference(before, after).map(({ kind, text }) => h(names[kind], null, text)))];
}
