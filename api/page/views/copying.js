/** Buttons that copy, and what to do where the browser does not let them. */

import { fill, h } from "../dom.js";
import { words } from "../words/index.js";
import { openDialog } from "./dialog.js";
import { icon } from "./icons.js";

const SAID_MS = 2000; // for as long as "Copied" is shown

/**
 * Make a button that copies a text, and what says to screen readers that it did.
 * @param {string} kind Its classes.
 * @param {string} label What it copies.
 * @param {() => string | null} read Nothing where there is nothing to copy.
 */
export function copyButton(kind, label, read) {
  const button = h("button", { class: kind, title: label, onclick: () => void copy() });
  const said = h("span", { class: "seen-by-readers-only", role: "status" });
  const rest = () => fill(button, icon("copy"), words.answer.copy);
  rest();

  async function copy() {
    const text = read();
    if (text === null) return;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      return showToCopy(text, label);
    }
    fill(button, icon("check"), words.answer.copied);
    fill(said, words.answer.copied);
    setTimeout(() => (rest(), fill(said)), SAID_MS);
  }

  return { button, said };
}

/** Make what copies a block of code. @param {HTMLElement} code @returns {HTMLElement[]} */
export function codeTools(code) {
  const { button, said } = copyButton("quiet small copy-code", words.answer.copyCode, () => code.textContent);
  return [button, said];
}

/** Show a text to be copied by hand. @param {string} content @param {string} label */
function showToCopy(content, label) {
  const text = h("textarea", { readonly: true, rows: 12, ".value": content, "aria-label": label });
  openDialog(label, { class: "to-copy" }, h("p", null, words.answer.copyHere), text);
  text.focus();
  text.select();
}
