/** An answer in other people's pages: its text with its marks, and what there is to say of it as a whole. */

import { fill, h } from "../dom.js";
import { answerhoodOf } from "../text/answerhood.js";
import { isApart, positionsOf } from "../text/apart.js";
import { gradeOf, markOf } from "../text/grades.js";
import { citedIn, numbersOf } from "../text/numbering.js";
import { passages } from "./passage.js";

/** @typedef {import("../state/run.js").Answer} Answer */
/** @typedef {import("../state/sections.js").SectionView} Section */

const UNSAID = { start: 0, quote: "" };
const NOWHERE = /** @type {Source} */ ({ url: null });
const DOUBTED = new Set(["contradicted", "unsupported"]);

/** Make the view of an answer. @param {import("./main.js").Setting} setting */
export function answerView(setting) {
  const { words, locale } = setting;
  const { wayTo, quoted, marked, written } = passages(setting);
  const number = (/** @type {number} */ value) => new Intl.NumberFormat(locale).format(value);
  const [above, text, below] = [h("p", { class: "worth" }), h("div", { class: "text" }), h("div", { class: "below" })];
  /** @type {string[]} */
  let shown = [];

  /** @param {Section} section @param {Answer} answer */
  function sectionOf(section, answer) {
    const [claim, ...others] = section.claims ?? [];
    const [citation] = claim?.citations ?? [];
    if (answer.family === "extractive" && claim && citation && !others.length && gradeOf(claim) === "quoted") {
      const { source_index: index } = citation;
      const sign = h("span", { class: "number" }, number(numbersOf(answer).get(index) ?? index));
      return [fromLine([sign], wayTo(sourceOf(answer, index), citation, citation)), quoted(section.text, citation)];
    }
    const note = section.grounded ? [] : [h("p", { class: "note" }, words.own)];
    const growing = !section.done && answer.outcome === null;
    const dress = section.claims ? dressOf(section, section.claims, answer) : undefined;
    return [...note, ...written(section.text, growing, dress)];
  }

  /** @param {HTMLElement[]} signs @param {HTMLElement} way */
  function fromLine(signs, way) {
    return h("p", { class: "from" }, signs, `${words.from} `, way);
  }

  /** Dress a text in its claims. @param {Section} section @param {Claim[]} claims @param {Answer} answer */
  function dressOf(section, claims, answer) {
    const proof = h("div", { class: "proof", role: "group" });
    /** @type {HTMLElement | null} */
    let open = null;
    /** @param {Claim} claim @param {number} index Of its source. */
    function marker(claim, index) {
      const source = sourceOf(answer, index);
      const shownAs = number(numbersOf(answer).get(index) ?? index);
      const label = words.mark({ number: shownAs, title: source?.title ?? "" });
      const named = { type: "button", class: "mark", "aria-expanded": "false", "aria-label": label };
      const button = h("button", { ...named, onclick: unfold }, shownAs);
      function unfold() {
        open?.setAttribute("aria-expanded", "false");
        open = open === button ? null : button;
        proof.remove();
        const own = claim.citations.find((each) => each.source_index === index);
        if (!open || !own) return;
        button.setAttribute("aria-expanded", "true");
        proof.setAttribute("aria-label", label);
        const verdict = h("p", { class: "grade" }, words.grades[gradeOf(claim)]);
        fill(proof, fromLine([], wayTo(source, own, own)), marked(own), verdict);
        button.closest(".section > *")?.after(proof);
      }
      return button;
    }
    return {
      spans: claims,
      wrap(/** @type {number} */ at) {
        const claim = claims[at];
        return h("span", { class: claim && markOf(claim) === "withheld" ? `claim ${gradeOf(claim)}` : "claim" });
      },
      behind(/** @type {number} */ at) {
        const claim = claims[at];
        if (!claim) return [];
        const [mark, indices] = [markOf(claim), claim.citations.map((each) => each.source_index)];
        if (mark === "shown") return [...new Set(indices)].map((index) => marker(claim, index));
        if (mark === "pending" || !section.grounded || !DOUBTED.has(claim.verdict)) return [];
        return [h("span", { class: "sign", role: "img", "aria-label": words.grades[claim.verdict] }, "?")];
      },
    };
  }

  /** Say in a line what an answer is worth. @param {Answer} answer */
  function worthOf({ family, assessment, sections, outcome }) {
    if (outcome === "abstained") return words.none;
    const claims = sections.flatMap((section) => (section.grounded ? section.claims ?? [] : []));
    const marks = claims.filter((claim) => markOf(claim) === "shown").length;
    if (family !== "extractive") return claims.length ? words.named({ count: marks, of: claims.length }) : "";
    const { answerhood } = assessment ?? {};
    const likely = answerhood == null ? "" : words[answerhoodOf(answerhood)];
    return [likely, marks ? words.quoted({ count: marks }) : ""].filter(Boolean).join(": ");
  }

  /** @param {string} title @param {HTMLElement[]} parts */
  function part(title, parts) {
    return parts.length ? h("section", null, h("h4", null, title), parts) : null;
  }

  /** @param {Answer} answer */
  function endOf(answer) {
    const { disagreements, nearest, outcome, sources, family } = answer;
    const cited = new Set(family === "extractive" ? [] : citedIn(answer));
    const listed = [...numbersOf(answer)].filter(([index]) => cited.has(index));
    const sides = disagreements.flatMap(positionsOf).flatMap((side) => {
      const known = sources.find(({ document_id: id }) => id === side.document_id);
      const source = known ?? { ...NOWHERE, title: side.title };
      const from = h("p", { class: "from" }, wayTo(source, {}, side), side.date && ` · ${side.date}`);
      return [from, h("blockquote", { dir: "auto" }, side.quote)];
    });
    const near = (outcome === "abstained" ? nearest : []).flatMap((source) => {
      const passage = source.passage ?? { ...UNSAID, heading_path: [], text: source.excerpt };
      return [fromLine([], wayTo(source, passage, passage)), quoted(passage.text || passage.quote, passage)];
    });
    const rows = listed.map(([index, at]) => h("li", { value: at }, wayTo(sourceOf(answer, index), {}, UNSAID)));
    return [
      part(words.differ, sides),
      part(words.nearest, near),
      part(words.sources, rows.length ? [h("ol", { class: "sources" }, rows)] : []),
    ];
  }

  return {
    element: h("div", { class: "answer" }, above, text, below),
    worth: worthOf,
    /** Show it as it stands; a section that looks as before stays, with the focus in it. @param {Answer} answer */
    show(answer) {
      const ended = answer.outcome !== null;
      const wanted = answer.sections.filter((section) => section.text && !isApart(section, answer));
      const looks = wanted.map(({ text, claims, grounded, done }) =>
        JSON.stringify([text, claims, grounded, done || ended, answer.family]));
      const elements = wanted.map((section, at) => {
        const stays = looks[at] === shown[at] ? text.children[at] : null;
        return stays ?? h("div", { class: "section" }, sectionOf(section, answer));
      });
      fill(text, elements);
      shown = looks;
      if (!ended) return;
      fill(above, worthOf(answer));
      fill(below, endOf(answer));
    },
  };
}

/** @param {Answer} answer @param {number} index */
function sourceOf({ sources }, index) {
  return sources.find((source) => source.index === index);
}
