/** An answer in other people's pages: its text with its marks, the passage behind each, and the way to the site's own page. */

import { fill, h } from "../dom.js";
import { answerhoodOf } from "../text/answerhood.js";
import { isApart, positionsOf } from "../text/apart.js";
import { gradeOf, markOf } from "../text/grades.js";
import { highlighted, highlightIn } from "../text/highlighted.js";
import { render } from "../text/markup.js";
import { citedIn, numbersOf } from "../text/numbering.js";
import { addressOf, leadOn } from "./landing.js";

/** @typedef {import("../api/types.js").Citation} Citation */
/** @typedef {import("../api/types.js").Source} Source */
/** @typedef {import("../state/run.js").Answer} Answer */
/** @typedef {import("../state/sections.js").SectionView} Section */
/** @typedef {{start: number, quote: string, highlight?: {start: number, end: number}}} Quoted */

/** Make the view of an answer. @param {import("./main.js").Setting} setting */
export function answerView({ words, locale, site }) {
  const number = (/** @type {number} */ value) => new Intl.NumberFormat(locale).format(value);
  const [above, text, below] = [h("p", { class: "worth" }), h("div", { class: "text" }), h("div", { class: "below" })];
  /** @type {string[]} */
  let shown = [];

  /** @param {Source | undefined} source @param {{anchor?: string, heading_path?: string[]}} place @param {Quoted} quoted */
  function wayTo(source, place, quoted) {
    const path = [source?.title, ...(place.heading_path ?? [])].filter((each, index, all) => each && each !== all[index - 1]).join(" › ");
    const href = source ? addressOf(source, place, highlighted(quoted).best, site) : "";
    return href ? leadOn(h("a", { href, rel: "noopener", dir: "auto" }, path), site) : h("cite", { dir: "auto" }, path);
  }

  /** Show a passage as Markdown, marked what answers best in it. @param {string} shown @param {Quoted} quoted */
  function passage(shown, { start, quote, highlight }) {
    const best = highlight && highlightIn(shown, quote, { start: highlight.start - start, end: highlight.end - start });
    let first = true;
    const wrap = () => {
      const says = first ? words.best : null;
      first = false;
      return h("mark", { "data-says": says });
    };
    return plain(render(shown, { dress: { spans: best ? [best] : [], wrap, behind: () => [] } }));
  }

  /** @param {HTMLElement[]} blocks */
  function plain(blocks) {
    for (const block of blocks) for (const link of block.querySelectorAll("a")) leadOn(link, site);
    return blocks;
  }

  /** @param {Section} section @param {Answer} answer */
  function sectionOf(section, answer) {
    const { claims } = section;
    const [claim] = claims ?? [];
    const [citation] = claim?.citations ?? [];
    const sourceOf = (/** @type {number} */ index) => answer.sources.find((source) => source.index === index);
    if (answer.family === "extractive" && claim && claims?.length === 1 && citation && gradeOf(claim) === "quoted") {
      const index = numbersOf(answer).get(citation.source_index) ?? citation.source_index;
      return [
        h("p", { class: "from" }, h("span", { class: "number" }, number(index)), `${words.from} `, wayTo(sourceOf(citation.source_index), citation, citation)),
        h("blockquote", null, passage(section.text, citation)),
      ];
    }
    const proof = h("div", { class: "proof", role: "group", hidden: true });
    /** @type {HTMLElement | null} */
    let open = null;
    /** @param {number} at Of the claim. @param {number} index Of the source. */
    function marker(at, index) {
      const own = claims?.[at]?.citations.find((each) => each.source_index === index);
      const title = sourceOf(index)?.title ?? "";
      const button = h("button", { type: "button", class: "mark", "aria-expanded": "false", "aria-label": words.mark(number(numbersOf(answer).get(index) ?? index), title), onclick() {
        open?.setAttribute("aria-expanded", "false");
        open = proof.hidden || open !== button ? button : null;
        proof.hidden = open === null;
        button.closest(".section > *")?.after(proof);
        if (!open || !own || !claims?.[at]) return;
        open.setAttribute("aria-expanded", "true");
        const { before, best, after } = highlighted(own);
        proof.setAttribute("aria-label", button.getAttribute("aria-label") ?? "");
        fill(proof, h("p", { class: "from" }, `${words.from} `, wayTo(sourceOf(index), own, own)),
          h("blockquote", { dir: "auto" }, before, before || after ? h("mark", { "data-says": words.best }, best) : best, after),
          h("p", { class: "grade" }, words.grades[gradeOf(claims[at])]));
      } }, number(numbersOf(answer).get(index) ?? index));
      return button;
    }
    const dress = claims && {
      spans: claims,
      wrap: (/** @type {number} */ at) => h("span", { class: claims[at] && markOf(claims[at]) === "withheld" ? `claim ${gradeOf(claims[at])}` : "claim" }),
      behind(/** @type {number} */ at) {
        const each = claims[at];
        if (!each || markOf(each) === "pending") return [];
        if (markOf(each) === "shown") return [...new Set(each.citations.map(({ source_index: index }) => index))].map((index) => marker(at, index));
        return section.grounded && ["contradicted", "unsupported"].includes(each.verdict) ? [h("span", { class: "sign", role: "img", "aria-label": words.grades[each.verdict] }, "?")] : [];
      },
    };
    return [
      section.grounded ? null : h("p", { class: "note" }, words.own),
      ...plain(render(section.text, { growing: !section.done && answer.outcome === null, ...(dress ? { dress } : {}) })),
      proof,
    ];
  }

  /** @param {Answer} answer @returns {string} */
  function worthOf({ family, assessment, sections, outcome }) {
    if (outcome === "abstained") return words.none;
    const claims = sections.filter(({ grounded }) => grounded).flatMap((section) => section.claims ?? []);
    const shown = claims.filter((claim) => markOf(claim) === "shown").length;
    if (family !== "extractive") return claims.length ? words.named(number(shown), number(claims.length)) : "";
    const { answerhood } = assessment ?? {};
    return [answerhood == null ? "" : words[answerhoodOf(answerhood)], shown ? words.quoted(shown) : ""].filter(Boolean).join(": ");
  }

  /** @param {Answer} answer */
  function endOf(answer) {
    const { disagreements, nearest, outcome, sources, family } = answer;
    const positions = disagreements.flatMap(positionsOf);
    const cited = new Set(citedIn(answer));
    return [
      positions.length ? h("section", { class: "differ" }, h("h4", null, words.differ), positions.map((each) => [
        h("p", { class: "from" }, wayTo(sources.find(({ document_id: id }) => id === each.document_id) ?? { ...NOWHERE, title: each.title }, {}, each), each.date && ` · ${each.date}`),
        h("blockquote", { dir: "auto" }, each.quote),
      ]).flat()) : null,
      outcome === "abstained" && nearest.length ? h("section", null, h("h4", null, words.nearest), nearest.flatMap((source) => {
        const shown = source.passage ?? { start: source.start, quote: source.excerpt, text: source.excerpt, heading_path: [] };
        return [h("p", { class: "from" }, `${words.from} `, wayTo(source, shown, source.passage ?? UNSAID)), h("blockquote", null, passage(shown.text || shown.quote, shown))];
      })) : null,
      family !== "extractive" && cited.size ? h("section", null, h("h4", null, words.sources), h("ol", { class: "sources" }, [...numbersOf(answer)].filter(([index]) => cited.has(index)).map(([index, at]) => {
        const source = sources.find((each) => each.index === index);
        return h("li", { value: at }, wayTo(source, {}, UNSAID));
      }))) : null,
    ];
  }

  return {
    element: h("div", { class: "answer" }, above, text, below),
    /** Show it as it stands; a section that looks as before stays, with the focus in it. @param {Answer} answer */
    show(answer) {
      const wanted = answer.sections.filter((section) => section.text && !isApart(section, answer));
      const looks = wanted.map((section) => JSON.stringify([section.text, section.claims, section.grounded, section.done || answer.outcome !== null, answer.family]));
      const kept = looks.map((look, index) => (look === shown[index] ? text.children[index] : null) ?? h("div", { class: "section" }, ...present(sectionOf(/** @type {Section} */ (wanted[index]), answer))));
      fill(text, kept);
      shown = looks;
      if (answer.outcome === null) return;
      fill(above, worthOf(answer));
      fill(below, endOf(answer));
    },
    /** Say in a line what it is worth. @param {Answer} answer */
    worth: worthOf,
  };
}

const UNSAID = { start: 0, quote: "" };
const NOWHERE = /** @type {Source} */ ({ url: null });

/** @param {(HTMLElement | null)[]} children @returns {HTMLElement[]} */
function present(children) {
  return children.flatMap((child) => child ?? []);
}
