/** Ways to bring a document in: choose files, or paste a text. */

import { h } from "../dom.js";
import { words } from "../words/index.js";
import { icon } from "./icons.js";

/** Make the buttons, and the form that a text is pasted into. @param {Pick<import("../state/uploads.js").Uploads, "addFiles" | "addText">} uploads */
export function uploadTools(uploads) {
  const files = h("input", { type: "file", multiple: true, hidden: true, onchange });
  const choose = h(
    "button",
    { type: "button", title: words.uploads.formats, onclick: () => files.click() },
    icon("upload"),
    words.uploads.add,
  );
  const open = h(
    "button",
    { type: "button", "aria-expanded": "false", onclick: () => show(form.hidden) },
    icon("edit"),
    words.uploads.paste,
  );
  const title = h(
    "input",
    { type: "text", maxlength: 500, placeholder: words.uploads.title, "aria-label": words.uploads.title },
  );
  const text = h(
    "textarea",
    { rows: 5, required: true, placeholder: words.uploads.text, "aria-label": words.uploads.text },
  );
  const form = h(
    "form",
    { class: "paste", hidden: true, onsubmit, onkeydown },
    title,
    text,
    h(
      "div",
      { class: "doing" },
      h("button", { type: "submit", class: "primary" }, words.uploads.addText),
      h("button", { type: "button", onclick: () => show(false) }, words.page.cancel),
    ),
  );

  /** @param {boolean} shown */
  function show(shown) {
    const focused = form.contains(document.activeElement);
    form.hidden = !shown;
    open.setAttribute("aria-expanded", String(shown));
    if (shown) title.focus();
    else if (focused) open.focus();
  }

  function onchange() {
    uploads.addFiles(files.files ?? []);
    files.value = "";
  }

  /** @param {SubmitEvent} event */
  function onsubmit(event) {
    event.preventDefault();
    uploads.addText(title.value.trim(), text.value);
    title.value = text.value = "";
    show(false);
  }

  /** Escape closes the form first, and then the dialog. @param {KeyboardEvent} event */
  function onkeydown(event) {
    if (event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    show(false);
  }

  return { buttons: h("div", { class: "tools" }, choose, open, files), paste: form, close: () => show(false) };
}
