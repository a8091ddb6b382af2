/** Documents that are being brought in: how far each is, what has become of it, and what can be done about it. */

import { fill, h } from "../dom.js";
import { omissionsOf, warningsOf } from "../text/omissions.js";
import { percent } from "../words/format.js";
import { words } from "../words/index.js";
import { advice, said } from "../words/problems.js";
import { icon } from "./icons.js";
import { select } from "./selection_pages.js";

/** @typedef {import("../state/app.js").App} App */
/** @typedef {import("../state/uploads.js").Upload} Upload */
/** @typedef {import("../state/uploads.js").Uploads} Uploads */
/** @typedef {ReturnType<typeof uploadRow>} UploadRow */

/** Make the list of uploads. @param {App} app @param {Uploads} uploads */
export function uploadList(app, uploads) {
  /** @type {Map<number, UploadRow>} */
  let rows = new Map();
  /** Those whose end was told. @type {Set<number>} */
  const told = new Set();
  const list = h("ul", null);
  const status = h("p", { class: "seen-by-readers-only", role: "status" });
  const element = h("section", { class: "uploads", "aria-label": words.uploads.label }, status, list);

  uploads.list.watch((all) => {
    rows = new Map(all.map((upload) => [upload.id, rows.get(upload.id) ?? uploadRow(app, uploads)]));
    for (const upload of all) rows.get(upload.id)?.show(upload);
    fill(list, [...rows.values()].map((row) => row.element));
    list.hidden = !all.length;
    tell(all);
  });
  app.selection.pages.watch(() => rows.forEach((row) => row.mark()));

  /** @param {Upload[]} all */
  function tell(all) {
    const news = [];
    for (const upload of all) {
      const ended = upload.state === "added" || upload.state === "refused";
      if (ended && !told.has(upload.id)) news.push(endOf(upload));
      if (ended) told.add(upload.id);
      else told.delete(upload.id);
    }
    if (news.length) status.textContent = news.join(" ");
  }
  return { element };
}

/** @param {Upload} upload */
function endOf({ name, problem }) {
  return problem ? words.uploads.tellRefused(name, reasonOf(problem)) : words.uploads.tellAdded(name);
}

/** @param {import("../api/client.js").Problem} problem */
function reasonOf(problem) {
  return problem.code === "unreachable" ? words.uploads.unreachable : said(problem);
}

/** @param {App} app @param {Uploads} uploads */
function uploadRow(app, uploads) {
  /** @type {Upload | null} */
  let shown = null;
  const drawing = h("span", { class: "drawing" });
  const name = h("span", { class: "name" });
  const state = h("span", { class: "muted" });
  const why = h("p", { class: "why" });
  const progress = h("progress", { max: 1 });
  const choose = h(
    "button",
    { type: "button", class: "small", onclick: () => shown?.added && void select(app, shown.added) },
  );
  const again = h(
    "button",
    { type: "button", class: "small", onclick: () => shown && uploads.retry(shown.id) },
    icon("again"),
    words.page.retry,
  );
  const cancel = h("button", { type: "button", class: "small", onclick: dismiss }, words.page.cancel);
  const away = h("button", { type: "button", class: "small quiet", onclick: dismiss }, icon("close"));
  const element = h(
    "li",
    { class: "upload" },
    drawing,
    h("div", { class: "what" }, name, state, progress, why),
    h("div", { class: "doing" }, choose, again, cancel, away),
  );

  function dismiss() {
    if (shown) uploads.dismiss(shown.id);
  }

  function mark() {
    const selected = !!shown?.added && app.selection.has(shown.added.document_id);
    choose.disabled = selected;
    const { selectName, selectedName } = words.uploads;
    if (shown) choose.setAttribute("aria-label", (selected ? selectedName : selectName)(shown.name));
    fill(choose, selected && icon("check"), selected ? words.uploads.selected : words.uploads.select);
  }

  /** @param {Upload} upload */
  function show(upload) {
    if (upload === shown) return;
    if (upload.state !== shown?.state) showState(upload);
    if (upload.name !== shown?.name) showName(upload.name);
    shown = upload;
    if (upload.state === "sending") progress.value = upload.share;
    state.textContent = stateOf(upload);
    mark();
  }

  /** @param {string} title */
  function showName(title) {
    name.textContent = title;
    progress.setAttribute("aria-label", words.uploads.progress(title));
    again.setAttribute("aria-label", words.uploads.retryName(title));
    cancel.setAttribute("aria-label", words.uploads.cancelName(title));
    away.setAttribute("aria-label", words.uploads.dismissName(title));
  }

  /** @param {Upload} upload */
  function showState({ state: now, problem, added, unpacked }) {
    const ended = now === "added" || now === "refused";
    element.dataset.state = now;
    fill(drawing, icon(now === "added" ? "check" : now === "refused" ? "cross" : "upload"));
    progress.hidden = now !== "sending" && now !== "reading";
    if (now === "reading") progress.removeAttribute("value");
    choose.hidden = !added;
    again.hidden = !problem?.retryable;
    cancel.hidden = ended;
    away.hidden = !ended;
    const warnings = warningsOf(added?.warnings).join(" ");
    const omissions = unpacked ? refusalsOf(unpacked) : omissionsOf(added?.left_out).join(" ");
    why.hidden = !problem && !omissions && !warnings;
    const suggestion = problem?.code === "unreachable" ? words.uploads.unreachableSuggestion : problem && advice(problem);
    fill(
      why,
      problem && reasonOf(problem),
      suggestion ? h("span", { class: "muted" }, ` ${suggestion}`) : null,
      warnings ? h("span", {}, omissions ? `${warnings} ` : warnings) : null,
      omissions ? h("span", { class: "muted" }, omissions) : null,
    );
  }
  return { element, show, mark };
}

/**
 * Say which files of an archive were refused, and where letters of the others may be wrong.
 * @param {import("../api/types.js").IngestedArchive} unpacked
 */
function refusalsOf({ documents, refused }) {
  const told = refused.map(({ name, reason }) => `${name}: ${reason}`);
  for (const { name, warnings } of documents) for (const warning of warningsOf(warnings)) told.push(`${name}: ${warning}`);
  return told.join(" ");
}

/** @param {Upload} upload */
function stateOf({ state, share, added, unpacked }) {
  switch (state) {
    case "waiting":
      return words.uploads.waiting;
    case "sending":
      return words.uploads.sending(percent(share));
    case "reading":
      return words.uploads.reading;
    case "refused":
      return words.uploads.refused;
    default:
      if (unpacked) return words.uploads.unpacked(unpacked.documents.length, unpacked.refused.length);
      return words.uploads[added?.status === "updated" || added?.status === "unchanged" ? added.status : "created"](added?.segments ?? 0);
  }
}
