/** The card of a source that bears a sentence: where it is quoted from, and the passage, drawn as what it is. */

import { fill, h } from "../dom.js";
import { landing, originalAddress } from "../text/addresses.js";
import { highlighted } from "../text/highlighted.js";
import { words } from "../words/index.js";
import { labels } from "../words/notes/labels.js";
import { KINDS } from "./answer_sources.js";
import { icon, textButton } from "./icons.js";
import { passageText, quotedFrom } from "./passage.js";
import { CHANGES, changeOf } from "./verdicts.js";

const AWAY = { target: "_blank", rel: "noopener noreferrer nofollow" };
const ABOVE = 22; // pixels of a passage that are shown above what bears the sentence

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
  const changes = [...new Set(citations.flatMap(({ freshness }) => changeOf(freshness) ?? []))];
  const gone = changes.includes("deleted") || changes.includes("withheld");
  const original = landing(originalAddress(source?.url, new URL(document.baseURI)), first?.anchor);
  const facts = [
    source?.kind === "web" && [icon(KINDS.web), words.proof.kinds.web],
    citations.some(({ origin }) => origin === "matched") && [words.proof.origins.matched],
  ].filter((fact) => fact !== false);
  return h(
    "div",
    { class: "passage-card", id: `proof-${(cards += 1)}`, role: "group", "aria-label": words.proof.label(shown) },
    first ? quotedFrom(h("span", { class: "card-number" }, shown), source, first, "") : null,
    citations.flatMap((citation) => passageOf(app, citation)),
    changes.map((change) => h("p", { class: `since ${change}` }, icon(CHANGES[change]), h("span", null, words.proof.since[change]))),
    facts.length > 0 && h("ul", { class: "facts" }, facts.map((fact) => h("li", null, fact))),
    (!gone || original) && h("div", { class: "ways" },
      !gone && textButton("quiet small", read, icon("book"), words.proof.read),
      !gone && textButton("quiet small", keep, icon("pin"), labels().pin),
      original && h("a", { class: "button quiet small", href: original, ...AWAY }, words.proof.original, icon("out"))),
  );
}

/** Show a quote at once, and around it its passage and its page once it comes in sight. @param {App} app @param {Citation} citation */
function passageOf({ client }, citation) {
  if (!citation.quote) return [];
  const passage = h("div", { class: "passage-shown" });
  const isPaged = citation.page_idx !== null && citation.slide === undefined && citation.sheet === undefined;
  const element = h("div", { class: isPaged ? "shown paged" : "shown" }, passage);
  show(citation);

  /** @param {import("./passage.js").Shown} shown */
  function show(shown) {
    const around = (shown.context ?? []).filter(({ role }) => role !== "header");
    fill(
      passage,
      around.length > 0 && h("ul", { class: "around" }, around.map(({ role, text }) => h("li", { class: role, dir: "auto" }, text))),
      passageText(shown),
    );
    const best = passage.querySelector("mark.best") ?? passage.querySelector(".text");
    passage.scrollTop = 0;
    const [top, box] = [passage.getBoundingClientRect().top, best?.getBoundingClientRect()];
    if (box && box.bottom - top > passage.clientHeight) passage.scrollTop = box.top - top - ABOVE;
  }

  async function draw() {
    const { document_id: id, segment_index: index, start, end } = { ...citation, ...citation.highlight, ...citation.now };
    const { boxes, passage: found } = await client.place(id, index, start, end);
    if (found?.quote.includes(highlighted(citation).best)) show(found);
    if (boxes.length) await (await import("./page_crop.js")).drawCrop(client, id, boxes, element);
  }

  if (!["changed", "deleted", "withheld"].includes(citation.freshness ?? "")) {
    waiting.set(passage, () => void draw().catch(() => undefined)); // the quote stands there in any case
    sight.observe(passage);
  }
  return [element];
}
