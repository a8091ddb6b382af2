/** A section of an answer: its text, its claims with their grades and markers, its origin, and what is said below it. */

import { fill, h } from "../dom.js";
import { isWithdrawn } from "../state/sections.js";
import { difference } from "../text/difference.js";
import { gradeOf, markOf } from "../text/grades.js";
import { citedIn, numbersOf } from "../text/numbering.js";
import { isReadable, readable, render } from "../text/reading.js";
import { continues } from "../text/runs.js";
import { words } from "../words/index.js";
import { codeTools } from "./copying.js";
import { icon } from "./icons.js";
import { badge, marker } from "./marker.js";
import { dressOfPassage, passageIn, quotedFrom } from "./passage.js";
import { faultList } from "./verdicts.js";

const JOINER = "\u2060";

/** Make the view of a section. @param {App} app */
export function sectionView(app) {
  const text = h("div", { class: "text" });
  const notes = h("div", { class: "notes" });
  const origin = h("div", { class: "origin" });
  const from = h("div", { class: "from" });
  const element = h("div", { class: "section" }, origin, from, text, notes);
  let section = /** @type {SectionView | null} */ (null);
  let answer = /** @type {Answer | null} */ (null);
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

  /** @param {SectionView} section @param {Answer} answer */
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
    /** @param {SectionView} nextSection @param {Answer} nextAnswer */
    show(nextSection, nextAnswer) {
      const last = section;
      const [wasGrowing, wasChecking] = [growing, checking];
      section = nextSection;
      answer = nextAnswer;
      const { text: said, done, claims, grounded } = section;
      const { outcome, sections, sources } = answer;
      growing = !done && outcome === null;
      checking = done && grounded && said !== "" && claims === null && outcome === null && sources.length > 0;
      element.classList.toggle("ungrounded", !grounded);
      // The first of those in a row that are the model's own says so.
      const isFirst = !grounded && sections[sections.indexOf(section) - 1]?.grounded !== false;
      const own = () => h("p", { class: "own-knowledge" }, icon("unsure"), words.answer.ungrounded);
      if (isFirst !== origin.hasChildNodes()) fill(origin, isFirst && own());
      const known = numbersOf(answer);
      const numbered = citedIn({ sections: [section] }).map((index) => known.get(index)).join(" ");
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

/**
 * Tell whether two sections look alike but for their text. A stored answer takes the place of the one that was streamed:
 * what is the same for whoever reads it stays as it is, with the focus in it.
 * @param {SectionView} one
 * @param {SectionView} other
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

/**
 * Dress a section's text in its claims.
 * @param {App} app
 * @param {Claim[]} claims
 * @param {(index: number) => import("./marker.js").Standing} standing
 * @returns {import("../text/markup.js").Dress}
 */
export function dressOf(app, claims, standing) {
  /** @type {HTMLElement[][]} */
  const pieces = claims.map(() => []);
  const piecesOf = (/** @type {number} */ index) => /** @type {HTMLElement[]} */ (pieces[index]);
  return {
    spans: claims,
    wrap(index) {
      const piece = h("span", { class: `claim ${gradeOf(/** @type {Claim} */ (claims[index]))}` });
      piecesOf(index).push(piece);
      return piece;
    },
    behind(index) {
      const claim = /** @type {Claim} */ (claims[index]);
      if (continues(claim, claims[index + 1])) return [];
      const [mark, grade] = [markOf(claim), gradeOf(claim)];
      const numbers = numbersOf(standing(index)().answer);
      const numberOf = (/** @type {number} */ source) => numbers.get(source) ?? source;
      const cited = new Set(mark === "shown" ? claim.citations.map((citation) => citation.source_index) : []);
      const sources = [...cited].sort((one, other) => numberOf(one) - numberOf(other));
      let first = index;
      while (first && continues(/** @type {Claim} */ (claims[first - 1]), claims[first])) first -= 1;
      const shown = pieces.slice(first, index + 1).flat();
      const markers = sources.map((source) => marker(app, source, standing(index), shown));
      const needsNone = mark === "pending" || ["supported", "quoted", "checked"].includes(grade) || isAlike(claim, claims[index + 1]);
      let alike = index;
      while (!needsNone && alike && isAlike(claims[alike - 1], claim)) alike -= 1;
      const signs = needsNone ? [] : [badge(standing(index), pieces.slice(alike, index + 1).flat())];
      // The joiner keeps them on the line on which the claim ends.
      return markers.length || signs.length ? [h("span", { class: "behind" }, JOINER, markers, signs)] : [];
    },
  };
}

/** Tell whether the next claim is in doubt for the same reasons, so that one sign serves both. @param {Claim | undefined} claim @param {Claim | undefined} following */
const isAlike = (claim, following) =>
  claim?.verdict === following?.verdict && String(claim?.reasons) === String(following?.reasons) && claim?.judge?.says === following?.judge?.says;

/** Write down all of claims that is shown of them, so that two readings of an answer can be compared.
 * @param {Claim[] | null} claims */
function traitsOf(claims) {
  const traits = (claims ?? []).map(({ start, end, verdict, by, judge, mark, reasons, citations }) => {
    const cited = citations.map((each) => {
      const freshness = each.freshness === "fresh" ? undefined : each.freshness;
      return [each.segment_id, each.start, each.end, each.origin, each.source_index, each.highlight?.start, freshness];
    });
    return [start, end, verdict, by, judge?.says, mark, reasons, cited];
  });
  return JSON.stringify(claims && traits);
}

/**
 * Make all notes of a section.
 * @param {SectionView} section
 * @param {boolean} checking Whether its claims are being checked.
 * @returns {(HTMLElement | null)[]}
 */
function sectionNotes(section, checking) {
  return [
    checking ? h("p", { class: "checking" }, words.proof.checking) : null,
    section.claims && faultList(section.claims),
    isWithdrawn(section) && section.moved ? h("p", { class: "withdrawn" }, icon("dash"), words.proof.moved) : null,
    revision(section),
    ...section.removed.map(({ kind, target }) => h("p", { class: "removed" }, icon("dash"),
      h("span", null, words.proof.removed[kind === "image" ? "image" : "link"], " ", h("code", null, target)))),
  ];
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
