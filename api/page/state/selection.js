/** What the next question is asked with: the selected pages, a marked passage, and where to look. */

import { Cell } from "./cell.js";

/** @typedef {{document_id: string, title: string, gone: boolean}} SelectedPage `gone` where it can't be read any more. */
/** @typedef {{text: string, title: string}} Passage */
/**
 * @typedef {object} Options
 * @property {boolean} library Whether the library is searched.
 * @property {boolean} web Whether the web is asked where the library has nothing.
 * @property {boolean} only Whether the selected pages alone may answer.
 * @property {string} model Its name, or nothing for the deployment's own.
 * @property {boolean} thinking
 */

/** @type {Options} */
const USUAL = { library: true, web: false, only: false, model: "", thinking: false };
const KEPT = "citewell.options";

/** Holds what is selected, and saves the pages with their session. */
export class Selection {
  /** @param {import("../api/client.js").Client} client */
  constructor(client) {
    this.client = client;
    /** @type {Cell<SelectedPage[]>} */
    this.pages = new Cell(/** @type {SelectedPage[]} */ ([]));
    /** @type {Cell<Passage | null>} */
    this.passage = new Cell(/** @type {Passage | null} */ (null));
    /** @type {Cell<Options>} */
    this.options = new Cell({ ...USUAL, ...kept() });
    this.options.watch((options) => localStorage.setItem(KEPT, JSON.stringify(options)));
    /** @type {string | null} */
    this.sessionId = null;
  }

  /**
   * Select what a session was saved with.
   * @param {import("../api/types.js").Session | null} session
   */
  async restore(session) {
    this.sessionId = session?.session_id ?? null;
    if (!session) return this.pages.set([]);
    const found = await Promise.allSettled(session.page_ids.map((id) => this.client.document(id)));
    if (this.sessionId !== session.session_id) return;
    this.pages.set(
      found.map((result, at) => {
        const document_id = /** @type {string} */ (session.page_ids[at]);
        return result.status === "fulfilled"
          ? { document_id, title: result.value.title, gone: false }
          : { document_id, title: "", gone: true };
      }),
    );
  }

  /** @param {{document_id: string, title: string}} page */
  async add({ document_id, title }) {
    if (this.pages.value.some((page) => page.document_id === document_id)) return;
    await this.save([...this.pages.value, { document_id, title, gone: false }]);
  }

  /** @param {string} documentId */
  async remove(documentId) {
    await this.save(this.pages.value.filter((page) => page.document_id !== documentId));
  }

  /** @param {SelectedPage[]} pages */
  async save(pages) {
    this.pages.set(pages);
    if (!this.sessionId) return;
    await this.client.changeSession(this.sessionId, { page_ids: pages.map((page) => page.document_id) });
  }

  /**
   * Give the fields that a question is asked with.
   * @returns {import("../api/types.js").Ask}
   */
  fields() {
    const { library, web, only, model, thinking } = this.options.value;
    const page_ids = this.pages.value.filter((page) => !page.gone).map((page) => page.document_id);
    return {
      page_ids,
      only_selected_pages: only,
      search: library ? "auto" : "off",
      web: web ? (library ? "fallback" : "first") : "off",
      ...(this.passage.value ? { selected_text: this.passage.value.text } : {}),
      ...(model ? { model } : {}),
      ...(thinking ? { thinking } : {}),
    };
  }
}

/** @returns {Partial<Options>} */
function kept() {
  try {
    return JSON.parse(localStorage.getItem(KEPT) ?? "{}");
  } catch {
    return {};
  }
}
