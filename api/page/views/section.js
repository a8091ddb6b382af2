/** A section of an answer: its text, its claims with their verdicts, a marker for each source of a claim, and its origin. */

import { fill, h } from "../dom.js";
import { citedIn, numbersOf } from "../text/numbering.js";
import { isReadable, readable, render } from "../text/reading.js";
import { dressOf, traitsOf } from "./claims.js";
import { codeTools } from "./copying.js";
import { marker } from "./marker.js";
import { dressOfPassage, passageIn, quotedFrom } from "./passage.js";
import { words } from "../words/index.js";
import { icon } from "./icons.js";
import { sectionNotes } from "./section_notes.js";

/** @typedef {SectionView} Section */
/**
 * @typedef {object} SectionElement
 * @property {HTMLElement} element
 * @property {(section: Section, answer: Answer) => void} show
 */

/** Make the view of a section. @param {App} app @returns {SectionElement} */
export function sectionView(app) {
  const text = h("div", { class: "text" });
  const notes = h("div", { class: "notes" });
  const origin = h("div", { class: "origin" });
  const from = h("div", { class: "from" });
  const element = h("div", { class: "section" }, origin, from, text, notes);
  /** @type {Section | null} */
  let section = null;
  /** @type {Answer | null} */
  let answer = null;
  let [growing, checking] = [false, false];
  let frame = 0;
  let numbers = "";

  const standing = (/** @type {number} */ index) => () => ({
    claim: /** @type {Claim} */ (section?.claims?.[index]),
    answer: /** @type {Answer} */ (answer),
  });

  function write() {
    frame = 0;
    if (!section || !answer) return;
    if (!isReadable()) void readable().then((came) => came && write());
    const dress = dressed(section, answer);
    const blocks = render(section.text, { growing, dress, tools: growing ? undefined : codeTools }, write);
    if (dress) text.replaceChildren(...blocks);
    else grow(text, blocks);
  }

  /** @param {Section} section @param {Answer} answer */
  function dressed({ text, claims }, { family, sources }) {
    const [claim] = claims ?? [];
    const passage = passageIn({ claims }, { family });
    if (!claim || !passage) {
      fill(from);
      return claims ? dressOf(app, claims, standing) : undefined;
    }
    const { source_index: index } = passage;
    fill(from, quotedFrom(marker(app, index, standing(0), []), sources.find((source) => source.index === index), passage));
    return dressOfPassage(text, claim, passage);
  }

  return {
    element,
    show(nextSection, nextAnswer) {
      const last = section;
      const [wasGrowing, wasChecking] = [growing, checking];
      section = nextSection;
      answer = nextAnswer;
      growing = !section.done && answer.outcome === null;
      checking = isBeingChecked(section, answer);
      element.classList.toggle("ungrounded", !section.grounded);
      showOrigin(origin, opensOwnKnowledge(section, answer));
      const numbered = numbersIn(section, answer);
      const alike = last !== null && looksAs(section, last) && numbered === numbers;
      numbers = numbered;
      if (!alike || checking !== wasChecking) fill(notes, sectionNotes(section, checking));
      if (alike && section.text === last.text && growing === wasGrowing) return;
      cancelAnimationFrame(frame);
      if (growing) frame = requestAnimationFrame(write);
      else write();
    },
  };
}

/** Write down how the sources that a section cites are numbered. @param {Section} section @param {Answer} answer */
function numbersIn(section, answer) {
  const numbers = numbersOf(answer);
  return citedIn({ sections: [section] }).map((index) => numbers.get(index)).join(" ");
}

/** @param {Section} section @param {Answer} answer */
function isBeingChecked({ text, done, claims, grounded }, { outcome, sources }) {
  return done && grounded && text !== "" && claims === null && outcome === null && sources.length > 0;
}

/** Tell whether a section is the first of those in a row that are the model's own. @param {Section} section @param {Answer} answer */
function opensOwnKnowledge(section, { sections }) {
  return !section.grounded && sections[sections.indexOf(section) - 1]?.grounded !== false;
}

/** @param {HTMLElement} origin @param {boolean} own Whether the model's own knowledge begins here. */
function showOrigin(origin, own) {
  if (own === (origin.childElementCount > 0)) return;
  fill(origin, own ? h("p", { class: "own-knowledge" }, icon("unsure"), words.answer.ungrounded) : null);
}

/**
 * Tell whether two sections look alike but for their text. A stored answer takes the place of the one that was streamed:
 * what is the same for whoever reads it stays as it is, with the focus in it.
 * @param {Section} one
 * @param {Section} other
 */
function looksAs(one, other) {
  if (one.claims === other.claims && one.before === other.before && one.removed === other.removed) return true;
  const removed = JSON.stringify(one.removed) === JSON.stringify(other.removed);
  return one.before === other.before && removed && traitsOf(one.claims) === traitsOf(other.claims);
}

/** Put what was rendered in the place of what was before, but for what is alike. @param {HTMLElement} text @param {HTMLElement[]} blocks */
function grow(text, blocks) {
  blocks.forEach((block, index) => {
    const before = text.children[index];
    if (!before) text.append(block);
    else if (!before.isEqualNode(block)) before.replaceWith(block);
  });
  while (text.children.length > blocks.length) text.lastElementChild?.remove();
}
