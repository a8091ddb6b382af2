/**
 * What comes over the wire, made whole: servers of other times leave out what this page counts on, and say what it does
 * not know. What is missing is as if there were nothing of it; an unknown name counts as the most cautious known one.
 */

/** @typedef {(value: any) => any} Whole */

/** @type {Whole} */
const text = (value) => (typeof value === "string" ? value : "");
/** @type {Whole} */
const number = (value) => (Number.isFinite(value) ? value : 0);
/** @type {Whole} */
const numbered = (value) => (Number.isFinite(value) ? value : null);
/** @type {Whole} */
const named = (value) => (typeof value === "string" ? value : null);
/** @type {Whole} */
const flag = (value) => value === true;
/** @type {Whole} */
const unlessDenied = (value) => value !== false;

/** @param {Whole} each @returns {Whole} */
function list(each) {
  return (value) => (Array.isArray(value) ? value.map((entry) => each(entry)) : []);
}

/** @param {Whole} each @returns {Whole} */
function record(each) {
  return (value) => Object.fromEntries(Object.entries(Object(value)).map(([name, entry]) => [name, each(entry)]));
}

/** @param {Whole} whole @returns {Whole} */
function maybe(whole) {
  return (value) => (value === null || typeof value !== "object" ? null : whole(value));
}

/** @param {Whole} whole @returns {Whole} */
function given(whole) {
  return (value) => (value === undefined ? undefined : whole(value));
}

/** The first stands for what is not known. @param {...(string | null | undefined)} names @returns {Whole} */
function oneOf(...names) {
  return (value) => (names.includes(value) ? value : names[0]);
}

/** What it has besides stays. @param {Record<string, Whole>} parts @returns {Whole} */
function object(parts) {
  const named = Object.entries(parts);
  return (value) => {
    const made = { ...value };
    for (const [name, whole] of named) {
      const part = whole(made[name]);
      if (part !== undefined || name in made) made[name] = part;
    }
    return made;
  };
}

const verdict = oneOf("unverified", "supported", "contradicted", "unsupported");
const kind = oneOf("search", "page", "web");
const place = { segment_id: text, segment_index: number, page_idx: numbered, start: number, end: number };
const span = (/** @type {any} */ value) => maybe(object({ start: number, end: number }))(value) ?? undefined;
const quoted = { start: number, end: number, quote: text, highlight: span };
const source = object({
  ...place, index: number, document_id: text, title: text, heading: text, kind, url: named, score: number, excerpt: text,
  slide: given(number), sheet: given(text), page_label: given(text), answerhood: given(numbered),
  passage: (value) => maybe(object({ ...quoted, text, heading_path: list(text) }))(value) ?? undefined,
});
const datedBy = oneOf("", "document", "library");
const citation = object({
  ...place, ...quoted, document_id: text, heading_path: given(list(text)), origin: oneOf("matched", "cited"), verdict, source_index: number, anchor: given(text),
  slide: given(number), sheet: given(text), cell: given(text), page_label: given(text),
  copies: given(list(object({ segment_id: text, document_id: text, title: text, date: text, dated_by: datedBy, differs: flag }))), date: given(text), dated_by: given(datedBy),
  freshness: oneOf(undefined, "fresh", "moved", "changed", "deleted", "withheld"), now: (value) => maybe(object(place))(value) ?? undefined,
});
const why = given(list(object({ code: text, parts: list((part) => (Number.isFinite(part) ? part : text(part))), text })));
const judge = object({
  model: text, exam: maybe(object({ language: text, right: number, of: number })),
  says: oneOf(undefined, "unverified", "supported", "contradicted", "unsupported"),
});
const claim = object({
  start: number, end: number, text, verdict, reasons: list(text), citations: list(citation),
  by: oneOf(undefined, "text", "judge"), judge: (value) => maybe(judge)(value) ?? undefined, why,
  mark: oneOf(undefined, "shown", "pending", "withheld"),
});
const section = object({ text, source_ids: list(text), grounded: given(unlessDenied) });
const uses = list(object({ document_id: text, title: text, segments: number, of: number }));
const pages = { used: uses, cut: uses, unused: list(text) };
const refusal = object({ code: text, tried: list(text), library: unlessDenied, web_failed: flag, written_in: list(text), notices: given(list(text)) });
const fallback = maybe(object({ code: text, message: text, suggestion: text, why }));
const dropped = list(object({ segment_id: text, reason: text, why }));
const position = object({
  segment_id: text, document_id: text, title: text, start: number, end: number, quote: text, value: text, date: text,
  dated_by: datedBy,
});
const disagreement = { segment_ids: list(text), reason: text, positions: given(list(position)) };
const assessment = {
  supported: flag, utility: number, claims: record(number), reason: text, model_score: numbered, answerhood: numbered, why,
};
const answer = {
  sections: list(section), citations: list(citation), sources: list(source), nearest: given(list(source)), claims, family: named,
  disagreements: list(object(disagreement)), assessment: maybe(object(assessment)),
  refusal: given(maybe(refusal)), pages: given(maybe(object(pages))),
};
const spent = record(object({ calls: number, tokens: number, ms: number }));
const cost = maybe(object({ amount: text, currency: text, unpriced: list(text), estimated: flag }));

/** In the order of the text. @type {Whole} */
function claims(value) {
  return list(claim)(value).sort((/** @type {any} */ one, /** @type {any} */ other) => one.start - other.start);
}

/** @type {Record<string, Whole>} */
const EVENTS = {
  queued: object({ position: number }),
  run_started: object({
    question: text, message_id: text, family: text, model: text, budget: maybe(object({ model_calls: number, tokens: numbered })), fallback,
  }),
  run_resumed: object({ attempt: number, sections: list(number) }),
  step_started: object({ step: text }),
  step_finished: object({ step: text, ms: number }),
  retrieval_decided: object({ needs_retrieval: flag, reason: text, why, standalone_question: text, fallback }),
  pages_loaded: object(pages),
  sources_found: object({ kind, query: text, count: number, degraded: named, why, servers: list(text) }),
  search_failed: object({ kind, code: text, message: text, servers: list(text) }),
  sources_graded: object({ sources: list(source), dropped, fallback }),
  sources_disagree: object(disagreement),
  query_rewritten: object({ query: text, reason: text, why, attempt: number, fallback }),
  thinking_delta: object({ delta: text }),
  section_started: object({ section_index: number, fallback, grounded: unlessDenied }),
  text_delta: object({ section_index: number, delta: text }),
  section_finished: object({ section_index: number, text, source_ids: list(text), unknown_ids: number }),
  claim_checked: object({ section_index: number, claim }),
  section_checked: object({ section_index: number, claims, judging: flag, fallback }),
  section_revised: object({ section_index: number, text, source_ids: list(text), claims, moved: flag }),
  correction: object({ section_index: number, claims, text }),
  content_removed: object({ section_index: number, kind: text, target: text }),
  answer_assessed: object({ ...assessment, fallback }),
  title_changed: object({ title: text }),
  run_finished: object({ outcome: oneOf("answered", "abstained", "cancelled"), stop_reason: text, message: object({ ...answer, answer: text }), spent, cost }),
  run_failed: object({ code: text, message: text, suggestion: text, retryable: flag }),
};
const envelope = object({ session_id: text, at: text });

/** Read an event; null where it is none of a run. @param {string} data @returns {RunEvent | null} */
export function eventOf(data) {
  let given;
  try {
    given = JSON.parse(data);
  } catch {
    return null;
  }
  if (typeof given?.run_id !== "string" || !(given.seq > 0)) return null;
  const whole = Object.hasOwn(EVENTS, given.type) ? EVENTS[given.type] : null;
  return envelope(whole ? whole(given) : given);
}

const meant = maybe(object({ section_index: number, start: number, end: number }));
const feedback = maybe(object({ rating: oneOf("down", "up"), reason_code: named, text: named, claim: meant, changed_at: text }));
const message = object({
  ...answer, feedback, message_id: text, run_id: named, parent_message_id: named, role: oneOf("assistant", "user"), content: text, created_at: text,
  versions: list(text), page_ids: list(text), selected_text: named, stop_reason: named, spent, cost, answering: flag,
  outcome: (value) => (value === null ? null : oneOf("answered", "abstained", "failed", "cancelled")(value)),
});

/**
 * Make a stored message whole. One of which there are no sections is one section.
 * @param {any} given
 * @returns {import("./types.js").SessionMessage}
 */
export function messageOf(given) {
  const whole = message(given);
  const bare = whole.role === "assistant" && whole.content && !Array.isArray(given?.sections);
  return bare ? { ...whole, sections: [{ text: whole.content, source_ids: [] }] } : whole;
}

const document = object({
  document_id: text, title: text, file_name: text, folder: text, media_type: text, url: named, owner: named, tokens: number,
  updated_at: text, places: list(object({ source_id: text, kind: text, path: text, trouble: named })),
});

/**
 * Make a page of documents whole.
 * @param {any} given
 * @returns {{documents: import("./types.js").Document[], next_cursor: string | null, total: number | null}}
 */
export function documentsOf({ documents, next_cursor, total }) {
  return { documents: list(document)(documents), next_cursor: named(next_cursor), total: numbered(total) };
}

const counted = { documents: number };

/** Make what the library holds whole. @type {(given: any) => import("./types.js").LibrarySummary} */
export const summaryOf = object({
  ...counted,
  types: list(object({ ...counted, media_type: text })),
  folders: list(object({ ...counted, folder: text })),
  folder_count: number,
  sources: list(object({ ...counted, source_id: text, kind: text, location: text })),
  reads_whole: (value) => maybe(object({ ...counted, tokens: number }))(value ?? null) ?? { documents: Infinity, tokens: Infinity },
});
