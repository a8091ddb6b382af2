/** The documents beside the conversation: found, ticked, read, added and deleted. In narrow windows they are a drawer. */

import { h } from "../dom.js";
import { ROOMY } from "../state/app.js";
import { collectionsOf } from "../state/collections.js";
import { Incoming } from "../state/incoming.js";
import { MOST_TICKED } from "../state/selection.js";
import { Shelf } from "../state/shelf.js";
import { isSending } from "../state/turns.js";
import { number } from "../words/format.js";
import { words } from "../words/index.js";
import { pointTo } from "./answer_sources.js";
import { iconButton } from "./icons.js";
import { incomingView } from "./incoming.js";
import { later } from "./later.js";
import { addingTools, dropTarget } from "./shelf_adding.js";
import { shelfCollections } from "./shelf_collections.js";
import { shelfList, shelfTexts } from "./shelf_list.js";
import { shelfTicks, shelfTools } from "./shelf_tools.js";

export { addingTools }; // for the first screen, which waits for no file of its own

const ADOPTED_MS = 1500; // behind all that is looked at first
const SETTLED_MS = 300; // that the list waits for further documents before it is read anew

/** Put the shelf, opened and closed by `libraryOpen`, into its place.
 * @param {App} app @param {HTMLElement} place Where it is to stand. */
export async function shelf(app, place) {
  const documents = new Shelf(app.client, () => app.libraryChanged());
  const incoming = new Incoming(app.client, () => {
    app.libraryChanged();
    settle();
  }, () => documents.view.value.collection);
  const collections = collectionsOf(app);
  await collections.refresh(); // they stand above the list, and would push it down
  /** @type {ShelfActions} */
  const actions = { tick, tickAll, read, delete: remove, about, find: (id) => list.find(id) };
  const list = shelfList(app, documents, actions);
  const sets = shelfCollections(app, documents, () => adding.menu);
  const adding = addingTools(incoming, { more: () => ({ text: words.collections.make, icon: "set", act: sets.make }) });
  const count = h("span", { class: "muted" });
  const close = iconButton("close", words.shelf.close, () => app.hideLibrary(), "quiet close");
  const tools = shelfTools(documents, list);
  const element = h("section", { class: "shelf", "aria-label": words.shelf.label, onkeydown },
    h("header", null, h("h2", null, words.shelf.label), count, adding.menu, close),
    adding.forms,
    incomingView(app, incoming, documents),
    tools.element,
    sets.element,
    shelfTicks(app, documents, actions, sets.put),
    list.element,
    shelfTexts(app, documents, actions),
  );
  place.replaceChildren(element, dropTarget(app, incoming));
  let settling = 0;

  documents.summary.watch((summary) => {
    count.textContent = summary ? number(summary.documents) : "";
    count.title = summary ? words.shelf.count({ count: summary.documents }) : "";
  });
  // Whoever reads alone adds and deletes nothing; whom the server takes one for is known soon.
  app.person.watch((person) => {
    const writes = !person?.scopes || person.scopes.includes("write");
    element.classList.toggle("read-only", !writes);
    if (person && writes) setTimeout(() => void incoming.adopt(), ADOPTED_MS);
  });
  // Whoever asks has read why something was refused, and wants to see the answer.
  app.conversation.turns.watch((turns) => isSending(turns.at(-1)?.run ?? null) && incoming.dismissEnded());
  app.brought.watch((brought) => {
    if (!brought) return;
    app.brought.set(null);
    app.showLibrary(); // where one sees what becomes of it
    if ("files" in brought) incoming.addFiles(brought.files);
    else if ("url" in brought) incoming.addAddress(brought.url, brought.site);
    else incoming.addText(brought.title, brought.text);
  });
  app.libraryOpen.watch((open) => {
    if (open) void refresh();
    else adding.close();
    if (open && !ROOMY.matches) tools.focus();
  });
  let wasLocked = app.locked.value;
  app.locked.watch((locked) => {
    if (wasLocked && !locked && app.libraryOpen.value) settle();
    wasLocked = locked;
  });
  app.tabs.hear(({ kind }) => kind === "library" && settle());

  function settle() {
    clearTimeout(settling);
    settling = setTimeout(() => void refresh(), SETTLED_MS);
  }

  async function refresh() {
    await Promise.all([documents.refresh(), documents.extent.value.known && collections.refresh()]);
  }

  /** @type {ShelfActions["tick"]} */
  async function tick(those, ticked) {
    await app.attempt(async () => {
      if (!ticked) return app.selection.remove(...those.map((each) => each.document_id));
      if (await app.selection.addAll(those)) return;
      app.notice.set({ kind: "failed", text: words.shelf.most({ most: MOST_TICKED }) });
    });
  }

  /** @type {ShelfActions["tickAll"]} */
  async function tickAll(folder) {
    await app.attempt(async () => tick(await documents.all(folder), true));
  }

  /** @type {ShelfActions["read"]} */
  function read({ document_id, title }, found) {
    const citations = found ? [pointTo(found)] : [];
    app.read({ documentId: document_id, title, citations, at: citations.length - 1 });
  }

  /** @type {ShelfActions["about"]} */
  function about(document) {
    void later(app, () => import("./shelf_card.js"), ({ shelfCard }) => shelfCard(app, documents, actions, document));
  }

  /** @type {ShelfActions["delete"]} */
  async function remove(those) {
    const ids = those.map((each) => each.document_id);
    const ticked = app.selection.pages.value.filter((page) => ids.includes(page.document_id));
    await app.attempt(async () => {
      const gone = await documents.delete(ids);
      if (gone.length < ids.length) app.notice.set({ kind: "failed", text: words.shelf.kept({ count: ids.length - gone.length }) });
      if (!gone.length) return;
      if (gone.includes(app.reading.value?.documentId ?? "")) app.reading.set(null);
      const [only] = those;
      const text = ids.length === 1 && only ? words.shelf.deleted({ title: only.title }) : words.shelf.deletedCount({ count: gone.length });
      app.notice.set({ kind: "done", text, undo: () => void undo(gone, ticked) });
      await app.selection.remove(...gone);
    });
  }

  /** @param {string[]} gone @param {KnownDocument[]} ticked */
  async function undo(gone, ticked) {
    await app.attempt(async () => {
      const back = await documents.restore(gone);
      if (!back.length) return app.notice.set({ kind: "failed", text: words.shelf.notUndone });
      app.notice.set({ kind: "done", text: words.shelf.undone({ count: back.length }) });
      await tick(ticked.filter((each) => back.includes(each.document_id)), true);
    });
  }

  /** Escape closes a drawer. @param {KeyboardEvent} event */
  function onkeydown(event) {
    if (event.key !== "Escape" || event.defaultPrevented || !element.closest(".shelf-drawer")) return;
    event.preventDefault();
    app.hideLibrary();
  }
}
