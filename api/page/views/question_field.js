/** A field that a question is written in: it grows, Enter sends, and it says where the question gets too long. */

import { fill, h } from "../dom.js";
import { cleaned, room } from "../text/question.js";
import { words } from "../words/index.js";

const GROWS = CSS.supports("field-sizing", "content");
let fields = 0;

/**
 * @typedef {object} QuestionField
 * @property {HTMLTextAreaElement} text
 * @property {HTMLElement} limit Says how many characters are left, where few are.
 * @property {() => string} question What is written, or nothing where that can't be asked.
 * @property {(value: string) => void} write
 */

/** Put the cursor where the next question is written. */
export function goToQuestion() {
  document.getElementById("question")?.focus();
}

/**
 * Make the field that a question is written in.
 * @param {import("../dom.js").Attributes} attributes
 * @param {{send: () => void, escape: () => boolean, changed?: () => void, keys?: (event: KeyboardEvent) => boolean}} on
 *   `keys` says whether a key meant something else.
 * @returns {QuestionField}
 */
export function questionField(attributes, { send, escape, changed, keys }) {
  const name = `limit-${(fields += 1)}`;
  const limit = h("p", { id: name, class: "limit", role: "status" });
  const text = h("textarea", { rows: 1, dir: "auto", "aria-describedby": name, ...attributes, oninput, onkeydown });

  function oninput() {
    const clean = cleaned(text.value);
    if (clean !== text.value) {
      const at = cleaned(text.value.slice(0, text.selectionEnd)).length;
      text.value = clean;
      text.setSelectionRange(at, at);
    }
    told();
  }

  function told() {
    const left = room(text.value);
    const { over, left: rest } = words.composer;
    fill(limit, left !== null && (left < 0 ? over({ count: -left }) : rest({ count: left })));
    text.classList.toggle("over", left !== null && left < 0);
    if (!GROWS) {
      text.style.height = "auto";
      text.style.height = `${text.scrollHeight}px`;
    }
    changed?.();
  }

  /** @param {KeyboardEvent} event */
  function onkeydown(event) {
    // An input method uses Enter and Escape for itself; some browsers tell that by the code 229 alone.
    if (event.isComposing || event.keyCode === 229) return;
    if (keys?.(event)) event.preventDefault();
    else if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      send();
    } else if (event.key === "Escape" && escape()) event.preventDefault(); // else it closes what is open
  }

  return {
    text,
    limit,
    question: () => ((room(text.value) ?? 0) < 0 ? "" : text.value.trim()),
    write(value) {
      text.value = cleaned(value);
      told();
    },
  };
}
