/** What a model thought aloud, folded away. */

import { h } from "../dom.js";
import { words } from "../words/index.js";

/** Make the view of what a model thought. @returns {{element: HTMLElement, show: (thinking: string) => void}} */
export function thinkingView() {
  const text = document.createTextNode("");
  const element = h(
    "details",
    { class: "thinking", hidden: true, ontoggle: write },
    h("summary", null, words.run.thinking),
    h("div", { class: "thinking-text", tabindex: 0, role: "group", "aria-label": words.run.thinking }, text),
  );
  let said = "";

  // What nobody reads is not written: a model can think for long.
  function write() {
    if (!element.open || text.data === said) return;
    if (said.startsWith(text.data)) text.appendData(said.slice(text.length));
    else text.data = said;
  }

  return {
    element,
    show(thinking) {
      if (thinking === said) return;
      said = thinking;
      element.hidden = !said;
      write();
    },
  };
}
