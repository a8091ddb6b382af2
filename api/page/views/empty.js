/** Before the first question: one way to bring documents in or, where there are some, what to ask of them. */

import { fill, h } from "../dom.js";
import { Problem } from "../api/problem.js";
import { EXTRACTIVE } from "../state/selection.js";
import { language, words } from "../words/index.js";
import { withCode } from "./answer_outcome.js";
import { placeList, questionList } from "./offers.js";
import { icon } from "./icons.js";
import { later } from "./later.js";
import { goToQuestion } from "./question_field.js";

const OFFERED = 3;
const AGAIN_MS = 2_500; // between looks for questions that are still being made
const MOST_LOOKS = 6;

/** Make what is shown before the first question. @param {App} app */
export function emptyView(app) {
  const questions = h("div", { class: "asking" });
  const documents = h("div", { class: "beginning" });
  const lead = h("p", { class: "muted" });
  const adding = h("div", { class: "bringing" });
  const offers = h("div", { class: "offers" }, adding, questions, documents);
  const element = h("div", { class: "empty" }, h("p", { class: "claim" }, words.page.claim), lead, offers);
  /** Whether the library holds a document; null until it is known. @type {boolean | null} */
  let filled = null;
  /** Where the first headings of a document are to stand, by its id. @type {Map<string, HTMLElement>} */
  const outlines = new Map();
  let stale = true;
  let looks = 0;
  let again = 0;

  async function offer() {
    await null; // the address may name a session, which is then being opened
    if (!stale || element.hidden || app.locked.value) return;
    stale = false;
    clearTimeout(again);
    try {
      const { documents: newest } = await app.client.documents({ limit: OFFERED });
      show(newest);
      looks = 0;
      if (newest.length) await suggest();
      else fill(questions);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      stale = true;
    }
  }

  /** Offer the questions and headings that there are, and look again for those that are being made. */
  async function suggest() {
    const found = await app.client.suggestions(language);
    fill(questions, found.questions.length ? questionList(app, words.ways.suggestions, found.questions, true) : null);
    for (const each of found.documents ?? []) {
      const place = outlines.get(each.document_id);
      if (place) fill(place, placeList(app, each, "outline", each.outline));
    }
    if (found.status !== "making" || element.hidden || (looks += 1) === MOST_LOOKS) return;
    again = setTimeout(() => void (element.hidden || app.attempt(suggest)), AGAIN_MS);
  }

  /** @param {Wire.Document[]} found */
  function show(found) {
    filled = found.length > 0;
    say();
    outlines.clear();
    const list = h("ul", { "aria-labelledby": "offers" }, found.map(beginning));
    fill(documents, found.length > 0 && [h("p", { class: "muted", id: "offers" }, words.conversation.begin), list]);
  }

  /** @param {Wire.Document} document */
  function beginning({ document_id, title }) {
    const outline = h("div", { class: "guide" });
    outlines.set(document_id, outline);
    const begin = () => (void app.attempt(() => app.selection.add({ document_id, title })), goToQuestion());
    return h("li", null, h("button", { onclick: begin }, icon("page"), h("span", { dir: "auto" }, title)), outline);
  }

  const mayWrite = () => app.person.value?.scopes?.includes("write") ?? true;

  /** Say in one sentence what to do first, and what can be asked where no model is. */
  function say() {
    const { ways } = words;
    const scopes = app.person.value?.scopes;
    const writes = mayWrite();
    const quotesOnly = app.models.value.length === 1 && app.models.value[0]?.id === EXTRACTIVE;
    const how = scopes?.includes("admin") ? ways.addModel : ways.askForModel;
    if (filled === false) fill(lead, writes ? ways.first : ways.firstOfOthers);
    else if (quotesOnly) fill(lead, ways.quotes, " ", ...withCode(how));
    else fill(lead, words.conversation.lead);
    if (filled === false && writes) void later(app, () => import("./shelf.js"), offerAdding);
    else fill(adding);
  }

  /** @param {typeof import("./shelf.js")} shelf */
  function offerAdding({ addingTools }) {
    if (filled || !mayWrite() || adding.hasChildNodes()) return;
    const tools = addingTools({
      addFiles: (files) => app.brought.set({ files: [...files] }),
      addText: (title, text) => app.brought.set({ title, text }),
      addAddress: (url, site) => app.brought.set({ url, site }),
    }, { label: words.ways.add });
    tools.menu.classList.add("primary");
    fill(adding, tools.menu, tools.forms);
  }

  app.person.watch(say);
  app.models.watch(say);
  app.key.watch(() => void offer());
  app.locked.watch((locked) => locked || void offer());
  app.libraryChanges.watch(() => {
    stale = true;
    void offer();
  });
  app.tabs.hear(({ kind }) => {
    if (kind === "library") stale = true;
  });
  new MutationObserver(() => void offer()).observe(element, { attributeFilter: ["hidden"] });
  return element;
}
