/** A document of the library: to be selected, read and deleted. */

import { change, fill, h } from "../dom.js";
import { partOf } from "../text/places.js";
import { moment } from "../words/format.js";
import { words } from "../words/index.js";
import { headingOf } from "./answer_sources.js";
import { icon, iconButton } from "./icons.js";

/** What is known of a document here; of one that was found by its text or selected before, no more than its title.
 * @typedef {{document_id: string, title: string} & Partial<import("../api/types.js").Document>} Known */
/** A place in its text. @typedef {import("../api/types.js").Source} Source */
/**
 * @typedef {object} Actions
 * @property {(document: Known) => void} select
 * @property {(document: Known) => void} deselect
 * @property {(document: Known, found: Source | null) => void} read At what was found in its text, if anything was.
 * @property {(document: Known) => Promise<void>} delete
 */
/** @typedef {ReturnType<typeof documentRow>} Row */

/** Make the row of a document. @param {Actions} actions */
export function documentRow(actions) {
  /** @type {Known} */
  let document = { document_id: "", title: "" };
  /** @type {Source | null} */
  let place = null;
  const title = h("span", { class: "name", dir: "auto" });
  const facts = h("span", { class: "facts muted" });
  const passage = h("span", { class: "found", dir: "auto" });
  const box = h(
    "input",
    { type: "checkbox", onchange: () => (box.checked ? actions.select(document) : actions.deselect(document)) },
  );
  const read = iconButton("book", words.library.read, () => actions.read(document, place));
  const remove = iconButton("trash", words.library.delete, ask);
  const label = h(
    "label",
    null,
    box,
    h("span", { class: "what" }, h("span", { class: "line" }, title, facts), passage),
  );
  const doing = h("div", { class: "doing" }, read, remove);
  const element = h("li", { class: "document" }, label, doing);
  /** What asks whether it is to be deleted. @type {HTMLElement | null} */
  let question = null;
  let deleting = false;

  function ask() {
    const text = words.library.sure(document.title);
    const no = h("button", { type: "button", class: "small", onclick: leaveIt }, words.page.cancel);
    const yes = h(
      "button",
      { type: "button", class: "small danger", onclick: () => void deleteIt() },
      icon("trash"),
      words.library.delete,
    );
    question = h("div", { class: "sure", role: "group", "aria-label": text, onkeydown }, h("p", null, text), yes, no);
    element.append(question);
    doing.hidden = true;
    no.focus();
  }

  function leaveIt() {
    question?.remove();
    question = null;
    doing.hidden = false;
    remove.focus();
  }

  /** Escape takes back the question, and leaves the dialog open. @param {KeyboardEvent} event */
  function onkeydown(event) {
    if (event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    leaveIt();
  }

  async function deleteIt() {
    if (deleting) return;
    deleting = true;
    await actions.delete(document);
    deleting = false;
  }

  return {
    element,
    get documentId() {
      return document.document_id;
    },
    /**
     * @param {Known} known
     * @param {Source | null} [found] What was found in its text.
     */
    show(known, found = null) {
      if (known !== document) {
        document = known;
        title.textContent = known.title;
        change(read, { "aria-label": words.library.readTitle(known.title) });
        change(remove, { "aria-label": words.library.deleteTitle(known.title) });
        fill(
          facts,
          known.updated_at === undefined ? null : factsOf(/** @type {import("../api/types.js").Document} */ (known)),
        );
      }
      place = found;
      fill(passage, found && found.heading && h("b", null, headingOf(found)), found && h("q", null, found.excerpt));
    },
    /** @param {boolean} selected */
    mark(selected) {
      box.checked = selected;
      element.classList.toggle("selected", selected);
    },
  };
}

/** @param {import("../api/types.js").Document} document @returns {Node[]} */
function factsOf({ space, source_type, owner, media_type, page_count, segments, updated_at }) {
  const { kinds, formats } = words.library;
  const kind = source_type === "web" || source_type === "selection" ? kinds[source_type] : null;
  const hosts = kind || source_type === "document" || source_type === "file" ? null : source_type;
  const format = Object.entries(formats).find(([name]) => media_type.includes(name))?.[1] ?? null;
  const size = page_count ? words.library[`${partOf(media_type)}s`](page_count) : words.library.segments(segments);
  const badges = [kind, owner && kinds.private].filter(Boolean).map((text) => h("span", { class: "badge" }, text));
  const plain = [
    space && (space.slug ?? space.id),
    hosts,
    !kind && format,
    size,
    words.library.updated(moment(updated_at)),
  ];
  return [...badges, ...plain.filter(Boolean).map((text) => h("span", null, text))];
}
