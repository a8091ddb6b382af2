/** The card of a source that bears a sentence: where it is quoted from, and the passage, drawn as what it is. */

import { fill, h } from "../dom.js";
import { landing, originalAddress } from "../text/addresses.js";
import { highlighted } from "../text/highlighted.js";
import { codePoints } from "../text/offsets.js";
import { words } from "../words/index.js";
import { KINDS } from "./answer_sources.js";
import { icon, textButton } from "./icons.js";
import { passageText, quotedFrom } from "./passage.js";
import { CHANGES, changeOf } from "./verdicts.js";

const AWAY = { target: "_blank", rel: "noopener noreferrer nofollow" };
const [ABOVE, BELOW] = [22, 24]; // pixels of a passage that are shown around what bears the sentence, and fade
const KEPT = 200; // places that are remembered

const places = /** @type {WeakMap<Client, Map<string, Promise<Wire.PlaceInOriginal>>>} */ (new WeakMap());
// A card is made before it has room, and is given more while it is read.
const sizes = new ResizeObserver((changed) => {
  for (const passage of new Set(changed.map(({ target }) => target.closest(".passage-shown")))) {
    if (passage instanceof HTMLElement) fit(passage);
  }
});

/** What is done when a card comes in sight. @type {WeakMap<Element, () => void>} */
const waiting = new WeakMap();
const sight = new IntersectionObserver((seen) => {
  for (const { target, isIntersecting } of seen) {
    if (!isIntersecting) continue;
    sight.unobserve(target);
    waiting.get(target)?.();
  }
}, { rootMargin: "200px" });
let cards = 0;

/**
 * Make a card.
 * @param {App} app
 * @param {string} shown The number of the source.
 * @param {Source | undefined} source
 * @param {Citation[]} citations Of that source.
 * @param {() => void} read
 * @param {() => void} keep Pins the sentence to a note.
 */
export function cardOf(app, shown, source, citations, read, keep) {
  const [first] = citations;
  const quoted = citations.filter(({ quote }) => quote);
  const changes = [...new Set(citations.flatMap(({ freshness }) => changeOf(freshness) ?? []))];
  const gone = changes.includes("deleted") || changes.includes("withheld");
  const original = landing(originalAddress(source?.url, new URL(document.baseURI)), first?.anchor);
  const facts = [
    source?.kind === "web" && [icon(KINDS.web), words.proof.kinds.web],
    citations.some(({ origin }) => origin === "matched") && [words.proof.origins.matched],
  ].filter((fact) => fact !== false);
  return h(
    "div",
    { class: "passage-card", id: `proof-${(cards += 1)}`, role: "group", "aria-label": words.proof.label({ number: shown }) },
    first ? quotedFrom(h("span", { class: "card-number" }, shown), source, first, "") : null,
    [...new Set(quoted.map(({ segment_id: id }) => id))].map((id) => passageOf(app, quoted.filter((each) => each.segment_id === id))),
    changes.map((change) => h("p", { class: `since ${change}` }, icon(CHANGES[change]), h("span", null, words.proof.since[change]))),
    facts.length > 0 && h("ul", { class: "facts" }, facts.map((fact) => h("li", null, fact))),
    (!gone || original) && h("div", { class: "ways" },
      !gone && textButton("quiet small", read, icon("book"), words.proof.read),
      !gone && textButton("quiet small card-pin", keep, icon("pin"), words.notes.pin),
      original && h("a", { class: "button quiet small", href: original, ...AWAY }, words.proof.original, icon("out"))),
  );
}

/** Show quotes of a segment at once, and around them their passages, each once, and their page when they come in sight.
 * @param {App} app @param {Citation[]} citations At least one. */
function passageOf({ client }, citations) {
  const passage = h("div", { class: "passage-shown" });
  const isPaged = citations.every(({ page_idx: page, slide, sheet }) => page !== null && slide === undefined && sheet === undefined);
  const element = h("div", { class: isPaged ? "shown paged" : "shown" }, passage);
  sizes.observe(passage);
  show(citations);

  /** @param {import("./passage.js").Shown[]} all */
  function show(all) {
    for (const each of passage.children) sizes.unobserve(each);
    fill(passage, together(all).flatMap((shown) => {
      const around = (shown.context ?? []).filter(({ role }) => role !== "header");
      return [
        around.length > 0 && h("ul", { class: "around" }, around.map(({ role, text }) => h("li", { class: role, dir: "auto" }, text))),
        passageText(shown),
      ];
    }));
    for (const each of passage.children) sizes.observe(each);
  }

  async function draw() {
    const told = await Promise.all(citations.map((citation) => {
      const { document_id: id, segment_index: index, start, end } = { ...citation, ...citation.highlight, ...citation.now };
      return placeOf(client, id, index, start, end);
    }));
    show(citations.map((citation, at) => {
      const around = told[at]?.passage;
      return around?.quote.includes(highlighted(citation).best) ? around : citation;
    }));
    const boxes = told.flatMap((each) => each.boxes);
    const [first] = citations;
    if (first && boxes.length) await (await import("./pdf_file.js")).drawCrop(client, first.document_id, boxes, element);
  }

  if (!citations.some(({ freshness }) => ["changed", "deleted", "withheld"].includes(freshness ?? ""))) {
    waiting.set(passage, () => void draw().catch(() => undefined)); // the quotes stand there in any case
    sight.observe(passage);
  }
  return element;
}

/** Put what is quoted from one passage together: that is shown once. @param {import("./passage.js").Shown[]} all */
function together(all) {
  const passages = all.filter((one, at) => !all.some((other, place) =>
    place !== at && within(one, other) && !(place > at && within(other, one)))).sort((one, other) => one.start - other.start);
  return passages.map((passage) => ({
    ...passage,
    highlights: all.filter((each) => within(each, passage)).map(({ start, quote, highlight }) => highlight ?? { start, end: start + codePoints(quote) }),
  }));
}

/** @param {import("./passage.js").Shown} one @param {import("./passage.js").Shown} other */
const within = (one, other) => one.start >= other.start && one.start + codePoints(one.quote) <= other.start + codePoints(other.quote);

/** Give a passage room for all that bears the sentence, and let it fade where it goes on. @param {HTMLElement} passage */
export function fit(passage) {
  passage.scrollTop = 0;
  const marks = [...passage.querySelectorAll("mark.best")].map((mark) => mark.getBoundingClientRect());
  const { top } = passage.getBoundingClientRect();
  const [from, to] = [(marks.at(0)?.top ?? top) - top, (marks.at(-1)?.bottom ?? top) - top];
  passage.style.setProperty("--proof", `${Math.ceil(to - from) + ABOVE + BELOW}px`);
  if (to + BELOW > passage.clientHeight) passage.scrollTop = from - ABOVE;
  passage.classList.toggle("cut-above", passage.scrollTop > 1);
  passage.classList.toggle("cut-below", passage.scrollTop + passage.clientHeight < passage.scrollHeight - 1);
}

/** Find a place, once. @param {Client} client @param {[id: string, segment: number, start: number, end: number]} address */
function placeOf(client, ...address) {
  const known = places.get(client) ?? new Map();
  places.set(client, known);
  const key = address.join(" ");
  const found = known.get(key) ?? client.place(...address);
  known.set(key, found);
  found.catch(() => known.delete(key));
  if (known.size > KEPT) known.delete(known.keys().next().value);
  return found;
}
