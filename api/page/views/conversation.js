/** The turns of the conversation, each view kept as long as its turn is there. */

import { fill, h } from "../dom.js";
import { words } from "../words/index.js";
import { turnView } from "./turn.js";

/** @param {import("../state/app.js").App} app */
export function conversationView(app) {
  /** @type {Map<string, ReturnType<typeof turnView>>} */
  const views = new Map();
  const list = h("div", { class: "turns" });
  const empty = h("p", { class: "empty" }, words.conversation.empty);
  app.conversation.turns.watch((turns) => {
    const shown = turns.map((turn) => {
      const view = views.get(turn.key) ?? turnView(app);
      views.set(turn.key, view);
      view.show(turn);
      return view.element;
    });
    const keys = new Set(turns.map((turn) => turn.key));
    for (const key of views.keys()) if (!keys.has(key)) views.delete(key);
    fill(list, shown);
    empty.hidden = turns.length > 0;
  });
  return h("section", { class: "conversation", "aria-label": words.conversation.label }, empty, list);
}
