/** What stands behind a claim: a numbered marker for each source that bears it, or a sign where it is not proven. */

import { change, h } from "../dom.js";
import { gradeOf } from "../text/grades.js";
import { numbersOf } from "../text/numbering.js";
import { number } from "../words/format.js";
import { words } from "../words/index.js";
import { cardOf } from "./card.js";
import { icon } from "./icons.js";
import { pin } from "./later.js";
import { passageIn } from "./passage.js";
import { CHANGES, SIGNS, changeOf, verdictProof } from "./verdicts.js";

/** What a claim stands on now: it is asked for when something is shown, so that it is never what it was before.
 * @typedef {() => {claim: Claim, answer: Answer}} Standing */
/**
 * What a marker shows.
 * @typedef {object} Proof
 * @property {string} key The same where the source and its passage are the same.
 * @property {() => Citation[]} citations
 * @property {(cited: Citation[]) => HTMLElement} show Makes the card of it.
 * @property {(lit: boolean) => void} light Marks what it proves, and its card.
 * @property {HTMLElement | null} card The one beside the text.
 */

export const proofs = /** @type {WeakMap<Element, Proof>} */ (new WeakMap());
const unfolded = /** @type {WeakMap<Element, HTMLElement>} */ (new WeakMap());
/** The marker whose quote is being read. @type {WeakMap<App, {button: HTMLElement, reading: unknown} | null>} */
const current = new WeakMap();

/**
 * Make the marker of a source of a claim. It reads the document where the passage is in sight already, beside the text
 * or as the text; elsewhere it unfolds the passage below the sentence.
 * @param {App} app
 * @param {number} index Of the source.
 * @param {Standing} standing
 * @param {HTMLElement[]} pieces Of the claim.
 */
export function marker(app, index, standing, pieces) {
  const { claim, answer } = standing();
  const citationsNow = () => standing().claim.citations.filter((citation) => citation.source_index === index);
  const own = citationsNow();
  const isPassage = passageIn({ claims: [claim] }, answer) !== null;
  const change = changeOf(own.find((citation) => changeOf(citation.freshness))?.freshness);
  const title = titleOf(answer, index);
  const grade = gradeOf(claim);
  const said = [words.proof.verdicts[grade], change && words.proof.fresh[change]].filter((word) => word).join(", ");
  const shown = number(numbersOf(answer).get(index) ?? index);
  const sign = change ? CHANGES[change] : grade === "supported" ? SIGNS.supported : null;
  const button = h("button", {
      class: `marker ${grade} ${change ?? ""}`.trim(),
      "aria-label": words.proof.marker({ number: shown, title, verdict: said }),
      "aria-expanded": isPassage ? null : "false",
      onclick() {
        if (isPassage || app.reading.value || proof.card?.checkVisibility()) read();
        else unfold(button, () => proof.show(citationsNow()));
      },
      onpointerenter: () => proof.light(true),
      onpointerleave: () => proof.light(false),
      onfocus: () => proof.light(true),
      onblur: () => proof.light(false),
    },
    h("span", null, shown),
    sign && icon(sign),
  );
  const read = () => readFrom(app, button, readingOf(index, standing()));
  const keep = () => {
    const { claim: own, answer: its } = standing();
    const session_id = app.conversation.session.value?.session_id;
    const message_id = app.conversation.turns.value.find((turn) => turn.answer === its)?.answerId;
    const section = its.sections.filter(({ text }) => text).findIndex((each) => each.claims?.includes(own));
    if (session_id && message_id && section >= 0) pin(app, { session_id, message_id, section, start: own.start });
  };
  /** @type {Proof} */
  const proof = {
    key: JSON.stringify([shown, title, [...new Set(own.map(({ segment_id: id, freshness }) => `${id} ${freshness}`))].sort()]),
    card: null,
    citations: citationsNow,
    show: (cited) => cardOf(app, shown, standing().answer.sources.find((source) => source.index === index), cited, read, keep),
    light(lit) {
      for (const piece of pieces) piece.classList.toggle("shown", lit);
      proof.card?.classList.toggle("lit", lit);
    },
  };
  if (!isPassage) proofs.set(button, proof);
  return button;
}

/** Make the sign of claims that are not proven; it unfolds why.
 * @param {Standing} standing @param {HTMLElement[]} pieces */
export function badge(standing, pieces) {
  const { verdict } = standing().claim;
  const lit = (/** @type {boolean} */ on) => () => pieces.forEach((piece) => piece.classList.toggle("shown", on));
  const button = h("button", {
      class: `marker sign ${verdict}`,
      "aria-label": words.proof.badge({ verdict: words.proof.verdicts[verdict] }),
      "aria-expanded": "false",
      onclick: () => unfold(button, () => verdictProof(standing().claim)),
      onpointerenter: lit(true),
      onpointerleave: lit(false),
    },
    icon(SIGNS[verdict]),
  );
  return button;
}

/** Unfold something below the sentence of a button, or fold it again. @param {HTMLElement} button @param {() => HTMLElement} make */
function unfold(button, make) {
  const open = unfolded.get(button);
  if (open) {
    change(button, { "aria-expanded": "false" });
    unfolded.delete(button);
    return open.remove();
  }
  const made = make();
  change(button, { "aria-expanded": "true" });
  unfolded.set(button, made);
  for (const each of [made, button]) {
    each.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || unfolded.get(button) !== made) return;
      event.preventDefault();
      unfold(button, make);
      button.focus();
    });
  }
  (button.closest(".table, .code") ?? button.closest(".behind"))?.after(made);
  made.scrollIntoView({ block: "nearest" });
}

/** Read a document from a marker, which is marked as long as that is read.
 * @param {App} app @param {HTMLElement} button @param {Reading | null} reading */
function readFrom(app, button, reading) {
  if (!reading) return;
  if (!current.has(app)) {
    app.reading.watch((now) => {
      const known = current.get(app);
      if (now === known?.reading) return;
      known?.button.removeAttribute("aria-current");
      current.set(app, null);
    });
  }
  current.get(app)?.button.removeAttribute("aria-current");
  current.set(app, { button, reading });
  change(button, { "aria-current": "true" });
  button.focus({ preventScroll: true });
  app.read(reading);
}

/** Point the reader to a source's quote for a claim, among all quotes of the answer in that document.
 * @param {number} index @param {{claim: Claim, answer: Answer}} standing @returns {Reading | null} */
function readingOf(index, { claim, answer }) {
  const wanted = claim.citations.find((citation) => citation.source_index === index);
  if (!wanted || wanted.freshness === "deleted" || wanted.freshness === "withheld") return null;
  const all = answer.sections.flatMap((section) => (section.claims ?? []).flatMap((each) => each.citations));
  const own = new Map([[placeOf(wanted), wanted]]);
  for (const citation of all) {
    const place = placeOf(citation);
    if (citation.document_id === wanted.document_id && !own.has(place)) own.set(place, citation);
  }
  const citations = [...own.values()].sort((one, other) => one.start - other.start || one.end - other.end);
  return { documentId: wanted.document_id, title: titleOf(answer, index), citations, at: citations.indexOf(wanted) };
}

/** @param {Citation} citation */
export const placeOf = ({ start, end }) => `${start} ${end}`;

/** @param {Answer} answer @param {number} index */
const titleOf = ({ sources }, index) => sources.find((source) => source.index === index)?.title ?? "";
