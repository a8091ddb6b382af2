/** The cited passages of an answer beside its text, each in step with the first sentence that cites it. */

import { change, fill } from "../dom.js";
import { fit } from "./card.js";
import { placeOf, proofs } from "./marker.js";

/** `cited` names what its passages bear; `height` is that of a card that nobody reads just now.
 * @typedef {{card: HTMLElement, buttons: Element[], cited: string, height: number}} Beside */

const GAP = 12; // pixels between cards
const READ = ".lit, :focus-within"; // a card that is, and covers what is below it
const MANY = 40; // cards, from which on they follow a frame later

const margins = /** @type {WeakMap<Element, () => void>} */ (new WeakMap());
// On paper all have to be there, seen before or not.
addEventListener("beforeprint", () => document.querySelectorAll(".margin").forEach((element) => margins.get(element)?.()));

/** Keep the cards of what markers show beside them.
 * @param {HTMLElement} sections What the markers stand in. @param {HTMLElement} element */
export function fillMargin(sections, element) {
  let cards = /** @type {Map<string, Beside>} */ (new Map());
  let frame = 0;
  let visible = false;

  function update(always = false) {
    frame = 0;
    visible = element.checkVisibility({ contentVisibilityAuto: true });
    if (!always && !visible) return;
    const sharing = /** @type {Map<string, Element[]>} */ (new Map());
    for (const button of sections.querySelectorAll(".marker")) {
      const key = proofs.get(button)?.key;
      if (key) sharing.set(key, [...(sharing.get(key) ?? []), button]);
    }
    const found = new Map([...sharing].map(([key, buttons]) => [key, besideOf(key, buttons)]));
    for (const [key, { card }] of cards) if (found.get(key)?.card !== card) sizes.unobserve(card);
    cards = found;
    fill(element, [...cards.values()].map(({ card }) => card));
    element.querySelectorAll(".passage-shown").forEach((passage) => passage instanceof HTMLElement && fit(passage));
    place();
  }

  function place() {
    const { top } = element.getBoundingClientRect();
    let bottom = 0;
    for (const beside of cards.values()) {
      const { card, buttons } = beside;
      if (!beside.height || !card.matches(READ)) beside.height = card.offsetHeight;
      const at = Math.max(bottom, (buttons[0]?.getBoundingClientRect().top ?? top) - top);
      card.style.translate = `0 ${Math.round(at)}px`;
      bottom = Math.round(at) + beside.height + GAP;
    }
    element.style.minHeight = `${Math.max(0, bottom - GAP)}px`;
  }

  /** Give the card that markers share. @param {string} key @param {Element[]} buttons @returns {Beside} */
  function besideOf(key, buttons) {
    const all = buttons.flatMap((button) => proofs.get(button) ?? []);
    const citations = [...new Map(all.flatMap((proof) => proof.citations()).map((each) => [`${each.document_id} ${placeOf(each)}`, each]))];
    const cited = citations.map(([name]) => name).join();
    const known = cards.get(key);
    const isSame = known?.cited === cited;
    const card = isSame ? known.card : made(/** @type {import("./marker.js").Proof} */ (all[0]), citations.map(([, each]) => each));
    for (const proof of all) proof.card = card;
    for (const button of buttons) {
      change(button, { "aria-details": card.id, ...(button.getAttribute("aria-expanded") === "false" ? { "aria-expanded": null } : {}) });
    }
    return { card, buttons, cited, height: isSame ? known.height : 0 };
  }

  /** @param {import("./marker.js").Proof} proof @param {Citation[]} citations */
  function made(proof, citations) {
    const card = proof.show(citations);
    const light = (/** @type {boolean} */ lit) => () => {
      for (const button of cards.get(proof.key)?.buttons ?? []) proofs.get(button)?.light(lit);
    };
    card.addEventListener("pointerenter", light(true));
    card.addEventListener("pointerleave", light(false));
    sizes.observe(card);
    return card;
  }

  // What is written is followed before it is drawn, so that nothing moves; sizes a frame later.
  const sizes = new ResizeObserver(() => later());
  const later = () => (frame ||= requestAnimationFrame(() => update()));
  new MutationObserver(() => visible && (cards.size < MANY ? update() : later())).observe(sections, { childList: true, subtree: true });
  sizes.observe(sections);
  sizes.observe(element);
  margins.set(element, () => update(true));
  queueMicrotask(update); // the answer is put into the page first
}
