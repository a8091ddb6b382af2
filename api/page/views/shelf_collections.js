/** The collections on the shelf: ticked to be asked alone, pressed to show what is in them, filled by drop or by menu. */

import { change, fill, h } from "../dom.js";
import { collectionsOf } from "../state/collections.js";
import { words } from "../words/index.js";
import { menuButton } from "./menu.js";
import { form } from "./shelf_adding.js";

/** @typedef {import("../state/collections.js").Collection} Collection */

export const DRAGGED = "application/x-citewell-documents";

/**
 * Make the part of the shelf where they stand.
 * @param {App} app
 * @param {Shelf} shelf
 * @param {() => HTMLElement} home Takes the focus where there is nothing here that could.
 */
export function shelfCollections(app, shelf, home) {
  const collections = collectionsOf(app);
  const { selection } = app;
  const said = words.collections;
  const ticked = () => selection.pages.value.filter((page) => !page.gone).map((page) => page.document_id);
  const list = h("ul", null);
  const put = menuButton(said.put, "set", () => [
    ...collections.list.value.map((each) => ({ text: each.name, act: () => fillWith(each, ticked()) })),
    { text: said.make, icon: /** @type {const} */ ("add"), act: () => edit(null) },
  ]);
  put.classList.add("writes", "small");
  const head = h("summary", null, said.label);
  const opener = { focus: () => (show(), whole.hidden ? home() : head).focus() };
  const { element: naming, open } = nameForm(opener, (collection, name, shared) => void app.attempt(() => (collection
    ? collections.change(collection.collection_id, { name, shared })
    : collections.make(name, shared, ticked()))));
  const whole = h("details", { class: "collections", open: true, hidden: true }, head, list, naming);
  selection.pages.watch(() => (put.hidden = !ticked().length));
  for (const cell of [collections.list, selection.collections, selection.pages, shelf.view, app.person]) {
    /** @type {Cell<unknown>} */ (cell).watch(show);
  }

  /** Open the form for one, or for a new one. @param {Collection | null} collection */
  function edit(collection) {
    whole.hidden = false;
    whole.open = true;
    open(collection);
  }

  /** @param {Collection} collection @param {string[]} add */
  async function fillWith({ collection_id, name }, add) {
    await app.attempt(async () => {
      await collections.change(collection_id, { add });
      app.notice.set({ kind: "done", text: said.added({ name }) });
    });
  }

  /** @param {Collection} collection */
  async function takeOut({ collection_id, name }) {
    await app.attempt(async () => {
      await collections.change(collection_id, { remove: ticked() });
      app.notice.set({ kind: "done", text: said.takenOut({ name }) });
      if (shelf.view.value.collection === collection_id) await shelf.refresh();
    });
  }

  /** @param {Collection} collection */
  async function remove(collection) {
    const { collection_id, name } = collection;
    const { sessionId } = selection;
    const ticked = selection.collections.value.some((each) => each.collection_id === collection_id);
    const { ended, undone } = collections.takeAway(collection_id);
    (whole.hidden ? home() : head).focus();
    const undo = () => void app.attempt(async () => {
      await undone();
      app.notice.set({ kind: "done", text: said.back({ name }) });
      if (ticked && selection.sessionId === sessionId) await selection.tickCollection(collection, true);
    });
    app.notice.set({ kind: "done", text: said.deleted({ name }), undo, ended });
    await app.attempt(async () => {
      if (shelf.view.value.collection === collection_id) await shelf.look({ collection: "" });
      if (ticked) await selection.tickCollection(collection, false);
    });
  }

  function show() {
    const found = collections.list.value;
    whole.hidden = !found.length && naming.hidden;
    const focused = /** @type {HTMLElement | null} */ (document.activeElement)?.closest("[data-collection]");
    const [id, at] = [focused?.getAttribute("data-collection"), [...(focused?.querySelectorAll("input, button") ?? [])].indexOf(/** @type {Element} */ (document.activeElement))];
    fill(list, found.map((each) => row(each)));
    if (id) /** @type {HTMLElement | undefined} */ (list.querySelector(`[data-collection="${id}"]`)?.querySelectorAll("input, button")[at])?.focus();
  }

  /** @param {Collection} collection */
  function row(collection) {
    const { collection_id, name, shared, yours, documents, made_by } = collection;
    const chosen = selection.collections.value.some((each) => each.collection_id === collection_id);
    const shown = shelf.view.value.collection === collection_id;
    const box = h("input", { type: "checkbox", "aria-label": said.tick({ name }), ".checked": chosen, onchange: () =>
      void app.attempt(() => selection.tickCollection(collection, box.checked)) });
    const facts = [said.holds({ count: documents }), shared && (yours ? said.forAll : said.by({ who: made_by }))];
    const look = h(
      "button",
      { class: "quiet look", "aria-pressed": String(shown), title: said.only({ name }), onclick: () =>
        void shelf.look({ collection: shown ? "" : collection_id }) },
      h("span", { class: "name", dir: "auto" }, name),
      h("span", { class: "muted" }, facts.filter(Boolean).join(" · ")),
    );
    const own = /** @type {import("./menu.js").Action[]} */ ([
      { text: said.edit, icon: "edit", act: () => edit(collection) },
      { text: said.delete, icon: "trash", danger: true, act: () => void remove(collection) },
    ]);
    const more = menuButton(said.menu({ name }), "more", () => [
      ...(ticked().length ? [{ text: said.takeOut, act: () => void takeOut(collection) }] : []),
      ...(yours ? own : []),
    ]);
    more.classList.add("writes");
    more.hidden = !yours && !ticked().length;
    const leave = () => change(element, { "data-over": null });
    const element = h("li", { "data-collection": collection_id, ondragover: over, ondragleave: leave, ondrop: drop }, box, look, more);

    /** @param {DragEvent} event */
    function over(event) {
      if (!event.dataTransfer?.types.includes(DRAGGED) || element.closest(".read-only")) return;
      event.preventDefault();
      change(element, { "data-over": true });
    }

    /** @param {DragEvent} event */
    function drop(event) {
      leave();
      const ids = event.dataTransfer?.getData(DRAGGED);
      if (!ids) return;
      event.preventDefault();
      void fillWith(collection, ids.split(" "));
    }
    return element;
  }

  return { element: whole, put, make: () => edit(null) };
}

/** @param {{focus: () => void}} opener @param {(collection: Collection | null, name: string, shared: boolean) => void} sent */
function nameForm(opener, sent) {
  const said = words.collections;
  const name = h("input", { type: "text", required: true, maxlength: 200, placeholder: said.name, "aria-label": said.name });
  const shared = h("input", { type: "checkbox" });
  let about = /** @type {Collection | null} */ (null);
  const made = form(opener, said.save, [name, h("label", { class: "check" }, shared, said.shared)], () => {
    if (name.value.trim()) sent(about, name.value.trim(), shared.checked);
  });
  return {
    element: made.element,
    /** @param {Collection | null} collection */
    open(collection) {
      about = collection;
      name.value = collection?.name ?? "";
      shared.checked = collection?.shared ?? false;
      made.open();
    },
  };
}
