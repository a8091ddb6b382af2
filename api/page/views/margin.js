/** The cited passages of an answer beside its text, each in step with the first sentence that cites it. */

import { change, fill } from "../dom.js";
import { cardOf } from "./card.js";
import { proofs } from "./marker.js";

/** @typedef {{card: HTMLElement, buttons: Element[]}} Beside */

const GAP = 12; // pixels between cards
const MANY = 40; // cards, from which on they follow a frame later

/** @type {WeakMap<Element, () => void>} */
const margins = new WeakMap();
// On paper all have to be there, seen before or not.
addEventListener("beforeprint", () => document.querySelectorAll(".margin").forEach((element) => margins.get(element)?.()));

/**
 * Keep the cards of what markers show beside them.
 * @param {HTMLElement} sections What the markers stand in.
 * @param {HTMLElement} element
 */
export function fillMargin(sections, element) {
  /** @type {Map<string, Beside>} */
  let cards = new Map();
  let frame = 0;
  let visible = false;

  function update(always = false) {
    frame = 0;
    visible = element.checkVisibility({ contentVisibilityAuto: true });
    if (!always && !visible) return;
    /** @type {Map<string, Beside>} */
    const found = new Map();
    for (const button of sections.querySelectorAll(".marker")) {
      const proof = proofs.get(button);
      if (!proof) continue;
      const beside = found.get(proof.key) ?? { card: cards.get(proof.key)?.card ?? made(proof), buttons: [] };
      found.set(proof.key, beside);
      beside.buttons.push(button);
      proof.card = beside.card;
      change(button, { "aria-details": beside.card.id });
    }
    for (const [key, { card }] of cards) if (!found.has(key)) sizes.unobserve(card);
    cards = found;
    fill(element, [...cards.values()].map(({ card }) => card));
    place();
  }

  function place() {
    const { top } = element.getBoundingClientRect();
    let bottom = 0;
    for (const { card, buttons } of cards.values()) {
      const at = Math.max(bottom, (buttons[0]?.getBoundingClientRect().top ?? top) - top);
      card.style.translate = `0 ${Math.round(at)}px`;
      bottom = Math.round(at) + card.offsetHeight + GAP;
    }
    element.style.minHeight = `${Math.max(0, bottom - GAP)}px`;
  }

  /** @param {import("./marker.js").Proof} proof */
  function made(proof) {
    const card = proof.show(cardOf);
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
  update();
}
