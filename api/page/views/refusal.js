/** A refusal: that there is no answer, why, and what was searched for, each once. */

import { h } from "../dom.js";
import { language, words } from "../words/index.js";

/** @typedef {import("../api/types.js").Refusal} Refusal */

/** What is said otherwise where the library was not searched. */
const WITHOUT_LIBRARY = /** @type {const} */ (["nothing_found", "search_failed", "nothing_relevant", "insufficient_evidence", "claims_not_supported"]);
/** What is said of a question that nothing was searched for. */
const UNSEARCHED = ["library_not_allowed", "library_empty"];

/**
 * Say why there is no answer and what was searched for.
 * @param {Refusal} refusal
 * @param {string} why As the stop reason says it.
 * @returns {HTMLElement[]}
 */
export function refusalLines({ code, tried, library, written_in: languages, notices = [], missing_page: missing }, why) {
  const { refusal } = words.apart;
  if (missing) return [h("p", null, missing.title ? refusal.noPageOf(missing) : refusal.noPage(missing))];
  const beside = WITHOUT_LIBRARY.find((each) => each === code);
  const found = !library && beside ? refusal.withoutLibrary[beside] : why;
  const reason = notices.includes("quotes_only") ? refusal.quotesOnly : found;
  const searched = UNSEARCHED.includes(code) ? [] : tried.filter(Boolean);
  const lines = reason ? [h("p", null, reason)] : [];
  if (searched.length) {
    const queries = searched.map((query) => h("q", { dir: "auto" }, query));
    lines.push(h("p", { class: "muted" }, refusal.searched, " ", queries.flatMap((query, at) => (at ? [" · ", query] : [query]))));
  }
  if (languages.length) {
    const names = new Intl.DisplayNames(language, { type: "language" });
    const named = languages.map((code) => names.of(code) ?? code);
    lines.push(h("p", null, refusal.writtenIn({ languages: new Intl.ListFormat(language).format(named) })));
  }
  if (notices.includes("add_model")) lines.push(h("p", { class: "muted" }, refusal.addModel));
  return lines;
}
