/** What answers the next question: which documents, the web or a marked passage, and which model. */

import { change, fill, h } from "../dom.js";
import { EXTRACTIVE } from "../state/selection.js";
import { words } from "../words/index.js";
import { icon, iconButton, textButton } from "./icons.js";

/** @typedef {{name: string, sign: IconName, put: () => unknown}} Chosen */

const FIRST_CHARACTERS = 60; // of a marked passage
const MOST_NAMED = 4; // documents; of more their number says enough

/** Make the button that says which documents answer, and leads to them. @param {App} app */
export function documentScope(app) {
  const { selection } = app;
  const text = h("span", { class: "name", dir: "auto" });
  const lost = h("span", { class: "lost" });
  const open = textButton("small scope", () => app.showLibrary(), icon("book"), text, lost);
  change(open, { "aria-controls": "shelf" });
  const clear = iconButton("close", words.selection.clear, () => {
    open.focus();
    void app.attempt(() => selection.save([], []));
  }, "quiet small clear");
  selection.pages.watch(show);
  selection.collections.watch(show);
  app.libraryOpen.watch((isOpen) => change(open, { "aria-expanded": String(isOpen) }));
  app.tabs.hear(({ kind }) => {
    if (kind === "library") void selection.check();
  });

  function show() {
    const chosen = [...selection.pages.value, ...selection.collections.value];
    const there = selection.pages.value.filter((page) => !page.gone).length;
    const { all, allHint, only, some, someHint, gone, untitled } = words.selection;
    const sets = selection.lost || selection.collections.value.some((each) => !each.gone);
    text.textContent = sets ? only : !there ? all : there === 1 ? untitled : some({ count: there });
    open.title = selection.limited ? someHint : allHint;
    open.classList.toggle("some", selection.limited);
    clear.hidden = !chosen.length;
    const missing = chosen.filter((each) => each.gone).length;
    lost.textContent = missing ? gone({ count: missing }) : "";
    lost.hidden = !missing;
  }
  return h("div", { class: "scoping" }, open, clear);
}

/** Give what is chosen by name, in the order in which it is shown. @param {App} app @returns {Chosen[]} */
function chosenBy({ selection }) {
  const pages = selection.pages.value.filter((page) => !page.gone && page.title);
  return [
    ...selection.collections.value.filter((each) => !each.gone && each.name).map((each) => (
      { name: each.name, sign: /** @type {const} */ ("set"), put: () => selection.tickCollection(each, false) })),
    ...(pages.length > MOST_NAMED ? [] : pages).map(({ title, document_id }) => (
      { name: title, sign: /** @type {const} */ ("page"), put: () => selection.remove(document_id) })),
  ];
}

/** Put away what was chosen last. @param {App} app @returns {boolean} Whether there was anything. */
export function putLastAway(app) {
  const last = chosenBy(app).at(-1);
  if (last) void app.attempt(async () => last.put());
  return last !== undefined;
}

/** Make the chips of what is chosen, and of the marked passage. @param {App} app @param {HTMLElement} next Takes the focus where one is put away. */
export function chosenChips(app, next) {
  const element = h("ul", { class: "chips", hidden: true });
  const { selection } = app;
  for (const cell of [selection.pages, selection.collections, selection.passage]) cell.watch(show);

  function show() {
    const focused = element.contains(document.activeElement);
    const { passage } = selection;
    const chips = chosenBy(app).map(({ name, sign, put }) =>
      chip(sign, h("span", { class: "name", dir: "auto", title: name }, name), words.selection.putAway({ name }), () => void app.attempt(async () => put())));
    fill(element, ...chips, passage.value && passageChip(app, passage.value));
    element.hidden = !element.firstChild;
    if (focused) next.focus();
  }
  return element;
}

/** @param {App} app @param {import("../state/selection.js").Passage} passage */
function passageChip(app, passage) {
  const text = [...passage.text.replace(/\s+/g, " ").trim()];
  const said = text.length > FIRST_CHARACTERS ? `${text.slice(0, FIRST_CHARACTERS).join("").trimEnd()}…` : text.join("");
  const name = h("span", { class: "name quoted", dir: "auto", title: words.selection.passageOf({ title: passage.title }) },
    h("span", { class: "seen-by-readers-only" }, `${words.selection.passage}: `),
    said,
  );
  return chip("quote", name, words.selection.removePassage, () => app.selection.passage.set(null));
}

/** @param {IconName} sign @param {HTMLElement} name @param {string} label @param {() => void} put */
function chip(sign, name, label, put) {
  return h("li", { class: "chip" }, icon(sign), name, iconButton("close", label, put, "quiet remove"));
}

/** Make the switches and the choice of a model. @param {App} app @returns {HTMLElement[]} */
export function selectionOptions(app) {
  const { selection } = app;
  const { hints, noWeb, model: label } = words.selection;
  const named = h("span", { class: "name" });
  const web = switchOf(app, "web", "web", named);
  const thinking = switchOf(app, "thinking", "think", h("span", { class: "name" }, words.selection.thinking));
  const onchange = () => selection.choose({ model: model.value });
  const model = h("select", { class: "model", "aria-label": label, title: label, onchange });

  function show() {
    const { options, limited, thinks } = selection;
    const missing = !selection.webOffered.value;
    const hint = missing ? hints.noWeb : limited ? hints.limited : hints.web;
    change(web, { "aria-pressed": String(options.value.web && !missing), disabled: missing || limited, title: hint });
    web.classList.toggle("missing", missing);
    fill(named, missing ? noWeb : words.selection.web);
    change(thinking, { "aria-pressed": String(options.value.thinking), title: hints.thinking, hidden: !thinks });
    model.value = options.value.model;
  }
  for (const cell of [selection.options, selection.webOffered, selection.pages]) /** @type {Cell<unknown>} */ (cell).watch(show);
  app.models.watch((models) => {
    selection.offer(models);
    // The deployment's own is chosen by no name, so that another default is followed.
    fill(model, models.map(({ id, name }, at) => h("option", { value: at ? id : "" }, id === EXTRACTIVE ? words.run.account.quotes : name)));
    model.hidden = models.length < 2;
    show();
  });
  return [web, thinking, model];
}

/** @param {App} app @param {"web" | "thinking"} option @param {IconName} sign @param {HTMLElement} name */
function switchOf({ selection }, option, sign, name) {
  const turn = () => selection.choose({ [option]: !selection.options.value[option] });
  return textButton("small switch", turn, icon(sign), name, h("span", { class: "on" }, icon("check")));
}
