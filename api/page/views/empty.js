/** Before the first question: what this is, and documents to begin with. */

import { fill, h } from "../dom.js";
import { Problem } from "../api/client.js";
import { words } from "../words/index.js";
import { withCode } from "./failure.js";
import { icon } from "./icons.js";
import { goToQuestion } from "./question_field.js";

const OFFERED = 3;

/** Make the button that opens the library, where it has to be filled first. @param {import("../state/app.js").App} app */
export function libraryButton(app) {
  return h(
    "button",
    { type: "button", class: "primary", onclick: () => app.showLibrary() },
    icon("book"),
    words.conversation.library,
  );
}

/** Make what is shown before the first question. @param {import("../state/app.js").App} app */
export function emptyView(app) {
  const offers = h("div", { class: "offers" });
  const element = h(
    "div",
    { class: "empty" },
    h("p", { class: "claim" }, words.page.claim),
    h("p", { class: "muted" }, words.conversation.lead),
    offers,
  );
  let stale = true;

  async function offer() {
    await null; // the address may name a session, which is then being opened
    if (!stale || element.hidden) return;
    stale = false;
    try {
      const { documents } = await app.client.documents();
      show(documents.slice(0, OFFERED));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      stale = true;
    }
  }

  /** @param {import("../api/types.js").Document[]} documents */
  function show(documents) {
    if (!documents.length) {
      fill(offers, h("p", null, withCode(words.conversation.nothing)), libraryButton(app));
      return;
    }
    fill(
      offers,
      h("p", { class: "muted", id: "offers" }, words.conversation.begin),
      h(
        "ul",
        { "aria-labelledby": "offers" },
        documents.map((each) => h(
          "li",
          null,
          h("button", { type: "button", onclick: () => begin(each) }, icon("page"), h("span", null, each.title)),
        )),
      ),
    );
  }

  /** @param {import("../api/types.js").Document} document */
  function begin({ document_id, title }) {
    void app.attempt(() => app.selection.add({ document_id, title }));
    goToQuestion();
  }

  app.key.watch(() => void offer());
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
