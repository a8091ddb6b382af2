/** Dialogs: a title, a way to close them, and what is to be done. */

import { h } from "../dom.js";
import { words } from "../words/index.js";
import { iconButton } from "./icons.js";

/** Open a dialog; it goes when it is closed, and the browser gives the focus back.
 * @param {string} title @param {{class?: string, closedby?: "any"}} attributes @param {...(Child | Child[])} parts */
export function openDialog(title, attributes, ...parts) {
  const close = iconButton("close", words.page.close, () => dialog.close(), "quiet");
  const dialog = h("dialog", { "aria-label": title, onclose: () => dialog.remove(), ...attributes },
    h("header", null, h("h2", null, title), close),
    ...parts,
  );
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}
