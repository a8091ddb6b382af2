/**
 * The wire's words as types: what the native dialect sends and takes. Payloads: docs/api.md.
 *
 * Offsets count Unicode code points, end exclusive: those of citations into a document's canonical text, those of
 * claims into their section's text.
 */

/** @typedef {"supported" | "contradicted" | "unsupported" | "unverified"} Verdict */
/** @typedef {"page" | "search" | "web"} SourceKind */
/** @typedef {"fresh" | "moved" | "changed" | "deleted" | "withheld"} Freshness */
/** @typedef {"answered" | "abstained" | "failed" | "cancelled"} Outcome */
/** @typedef {{id: string | null, slug: string | null}} Space */
/** Why something is so: docs/reasons.md has the codes and the parts of each. @typedef {{code: string, parts: (string | number)[], text: string}} Why */
/** @typedef {{code: string, message: string, suggestion?: string, why?: Why[]}} Fallback */
/** @typedef {{calls: number, tokens: number, ms: number}} Spent */
/** @typedef {{amount: string, currency: string, unpriced: string[], estimated: boolean}} Cost */
/** @typedef {{model_calls: number, tokens: number | null, seconds?: number | null}} Budget */
/** @typedef {{text: string, source_ids: string[], grounded?: boolean}} Section `grounded` is false where the model wrote what it knows itself. */
/** @typedef {{segment_id: string, document_id: string, title: string, start: number, end: number, quote: string, value: string, date: string, dated_by: "document" | "library" | ""}} Position */
/** @typedef {{segment_ids: string[], reason: string, code?: "another_value" | "denied", parts?: string[], positions?: Position[]}} Disagreement */
/** @typedef {{segment_id: string, reason: string, why?: Why[]}} Dropped */
/** @typedef {{document_id: string, title: string, segments: number, of: number}} PageUse */
/** @typedef {{used: PageUse[], cut: PageUse[], unused: string[]}} PagesRead What was read of the selected documents. */
/** @typedef {{code: string, tried: string[], library: boolean, web_failed: boolean, written_in: string[]}} Refusal */

/**
 * @typedef {object} Source
 * @property {number} index Counts from 1.
 * @property {string} segment_id
 * @property {string} document_id
 * @property {number} segment_index
 * @property {number | null} page_idx Counts from 0.
 * @property {string} title
 * @property {string} heading
 * @property {SourceKind} kind
 * @property {string} source_type
 * @property {string | null} slug
 * @property {Space | null} space
 * @property {string | null} url
 * @property {number} score In [0, 1].
 * @property {string} excerpt
 * @property {number} start
 * @property {number} end
 * @property {Record<string, unknown>} metadata
 * @property {number} [slide] Counts from 0.
 * @property {string} [sheet]
 */

/** @typedef {{segment_id: string, segment_index: number, page_idx: number | null, start: number, end: number}} Place */

/**
 * @typedef {object} CitationContext
 * @property {"term" | "caption" | "header" | "label" | "lead" | "before" | "governs" | "heading"} role
 * @property {number} start
 * @property {number} end
 * @property {string} text
 */

/**
 * @typedef {object} Citation
 * @property {string} segment_id
 * @property {string} document_id
 * @property {number} segment_index
 * @property {number | null} page_idx
 * @property {number} start
 * @property {number} end
 * @property {string} quote
 * @property {"cited" | "matched"} origin
 * @property {Verdict} verdict
 * @property {number} source_index
 * @property {number} section_index
 * @property {CitationContext[]} [context] What the quote hangs on, the outermost first.
 * @property {string} [anchor] The id of its place in the page at the document's url.
 * @property {number} [slide] Counts from 0.
 * @property {string} [sheet]
 * @property {string} [cell]
 * @property {Freshness} [freshness] What has become of the quote since; only where a session is read.
 * @property {Place} [now] Where the quote stands today, if elsewhere.
 */

/**
 * @typedef {object} Claim
 * @property {number} start
 * @property {number} end
 * @property {string} text
 * @property {Verdict} verdict
 * @property {string[]} reasons
 * @property {Citation[]} citations
 * @property {"text" | "judge"} [by] Who gave the verdict; nobody where it is open.
 * @property {{model: string, exam: {language: string, right: number, of: number}}} [judge] Where a judge gave it.
 * @property {Why[]} [why] The reasons with their codes.
 */
/** @typedef {Claim & {section_index: number}} SectionClaim */

/**
 * @typedef {object} Assessment
 * @property {boolean} supported
 * @property {number} utility In [0, 1].
 * @property {Partial<Record<Verdict, number>>} claims
 * @property {string} reason
 * @property {number | null} model_score
 * @property {Why[]} [why]
 * @property {number | null} [answerhood] The chance that what is shown answers the question, in [0, 1].
 */

/**
 * The finished answer.
 * @typedef {object} Message
 * @property {string} answer
 * @property {Section[]} sections
 * @property {Citation[]} citations
 * @property {Source[]} sources
 * @property {Source[]} [nearest]
 * @property {string} [family]
 * @property {SectionClaim[]} [claims]
 * @property {Assessment} [assessment]
 * @property {Disagreement[]} [disagreements]
 * @property {Refusal | null} [refusal] What an answer that abstained says, in parts.
 * @property {PagesRead | null} [pages]
 */

/** @typedef {{schema: number, run_id: string, session_id: string, seq: number, at: string}} Envelope */
/**
 * @typedef {Envelope & (
 *   | {type: "queued", position: number}
 *   | {type: "run_started", question: string, message_id: string, family: string, model: string, budget: Budget,
 *      release: "checked" | "judged", fallback: Fallback | null}
 *   | {type: "run_resumed", attempt: number, sections: number[]}
 *   | {type: "step_started", step: string}
 *   | {type: "step_finished", step: string, ms: number}
 *   | {type: "retrieval_decided", needs_retrieval: boolean, reason: string, standalone_question: string,
 *      intent: "content_query" | "small_talk" | "about_library", why?: Why[], fallback: Fallback | null}
 *   | {type: "pages_loaded", used: PageUse[], cut: PageUse[], unused: string[]}
 *   | {type: "sources_found", kind: SourceKind, query: string, count: number, degraded: string | null,
 *      why?: Why[], servers: string[]}
 *   | {type: "search_failed", kind: SourceKind, code: string, message: string, servers: string[]}
 *   | {type: "sources_graded", sources: Source[], dropped: Dropped[], fallback: Fallback | null}
 *   | {type: "sources_disagree", segment_ids: string[], reason: string, code: "another_value" | "denied" | null,
 *      parts: string[], positions: Position[]}
 *   | {type: "query_rewritten", query: string, reason: string, attempt: number, why?: Why[], fallback: Fallback | null}
 *   | {type: "thinking_delta", delta: string}
 *   | {type: "section_started", section_index: number, fallback: Fallback | null, grounded: boolean}
 *   | {type: "text_delta", section_index: number, delta: string}
 *   | {type: "section_finished", section_index: number, text: string, source_ids: string[], unknown_ids: number}
 *   | {type: "claim_checked", section_index: number, claim: Claim}
 *   | {type: "section_checked", section_index: number, claims: Claim[], judging: boolean, fallback: Fallback | null}
 *   | {type: "section_revised", section_index: number, text: string, source_ids: string[], claims: Claim[],
 *      moved: boolean}
 *   | {type: "correction", section_index: number, claims: Claim[], text: string}
 *   | {type: "content_removed", section_index: number, kind: string, target: string}
 *   | {type: "answer_assessed", supported: boolean, utility: number, claims: Partial<Record<Verdict, number>>,
 *      reason: string, model_score: number | null, answerhood: number | null, why?: Why[],
 *      fallback: Fallback | null}
 *   | {type: "title_changed", title: string}
 *   | {type: "run_finished", outcome: "answered" | "abstained" | "cancelled", stop_reason: string, message: Message,
 *      spent: Record<string, Spent>, cost: Cost | null}
 *   | {type: "run_failed", code: string, message: string, suggestion: string, retryable: boolean}
 * )} RunEvent
 */

/**
 * @typedef {object} Session
 * @property {string} session_id
 * @property {string} title
 * @property {string[]} page_ids
 * @property {string} created_at
 * @property {string} updated_at
 * @property {boolean} [pinned]
 */

/** Where a search found something in a session. @typedef {{session_id: string, excerpt: string, start: number, end: number}} SessionHit */
/** @typedef {{question: string, document_id: string, title: string}} ProvenQuestion */
/** @typedef {{segment_index: number, page_idx: number | null, start: number, end: number, text: string}} GuideSentence */
/** @typedef {{segment_index: number, page_idx: number | null, start: number, end: number, text: string, depth: number}} GuideHeading */
/**
 * @typedef {object} Guide
 * @property {string} document_id
 * @property {string} title
 * @property {GuideSentence[]} sentences
 * @property {GuideHeading[]} outline
 * @property {ProvenQuestion[]} questions
 */

/**
 * What a reader says of an answer; `claim` is the one that is meant.
 * @typedef {object} Feedback
 * @property {"up" | "down"} rating
 * @property {string | null} reason_code
 * @property {string | null} text
 * @property {{section_index: number, start: number, end: number} | null} claim
 * @property {string} changed_at
 */

/**
 * @typedef {object} SessionMessage
 * @property {string} message_id
 * @property {string | null} run_id
 * @property {string | null} parent_message_id
 * @property {"user" | "assistant"} role
 * @property {string} content
 * @property {string} created_at
 * @property {string[]} versions
 * @property {string[]} page_ids
 * @property {string | null} selected_text
 * @property {boolean} answering
 * @property {Outcome | null} outcome
 * @property {string | null} stop_reason
 * @property {string | null} family
 * @property {Section[]} sections
 * @property {Citation[]} citations
 * @property {Source[]} sources
 * @property {Source[]} nearest
 * @property {SectionClaim[]} claims
 * @property {Assessment | null} assessment
 * @property {Disagreement[]} disagreements
 * @property {Refusal | null} refusal
 * @property {PagesRead | null} pages
 * @property {Record<string, Spent>} spent
 * @property {Cost | null} cost
 * @property {Feedback | null} feedback
 */

/** @typedef {{session: Session, messages: SessionMessage[], next_cursor: string | null}} SessionDetail */

/** @typedef {{run_id: string, session_id: string, question: string, status: "queued" | "running" | "finished", outcome: Outcome | null, stop_reason: string | null, created_at: string}} RunStatus */
/**
 * @typedef {object} Document
 * @property {string} document_id
 * @property {string} title
 * @property {string | null} slug
 * @property {Space | null} space
 * @property {string | null} url
 * @property {string} source_type
 * @property {string | null} owner
 * @property {string} media_type
 * @property {number | null} page_count
 * @property {string[]} [left_out] What of its file is not in its text.
 * @property {{sha256: string, size: number, media_type: string, name: string} | null} [original] Its file, where that is kept.
 * @property {string} file_name Of its file; empty where it is not known.
 * @property {string} folder Of its file; empty where it is in none.
 * @property {number} segments
 * @property {number} tokens
 * @property {string} updated_at
 * @property {string | null} expires_at
 * @property {{source_id: string, kind: string, path: string, trouble: string | null}[]} places
 */

/** What the library holds, as far as it was asked for. @typedef {{documents: number, types: {media_type: string, documents: number}[], folders: {folder: string, documents: number}[], folder_count: number, sources: {source_id: string, kind: string, location: string, documents: number}[], reads_whole: {documents: number, tokens: number}}} LibrarySummary */
/** @typedef {{job_id: string, state: "queued" | "running" | "paused" | "cancelled" | "finished", files: number}} Job */
/**
 * @typedef {object} JobFile
 * @property {number} file_no
 * @property {string} name
 * @property {string} document_id
 * @property {"queued" | "working" | "stored" | "unchanged" | "refused" | "cancelled"} state
 * @property {{code: string, message: string, suggestion: string} | null} problem
 * @property {Ingested | null} ingested
 */

/** @typedef {{segment_index: number, page_idx: number | null, start: number, end: number, text: string}} RawSegment */
/** @typedef {{document_id: string, title: string, segments: RawSegment[]}} RawText */
/**
 * A block of a document's text: `level` is of headings, `header` of rows that name columns, `anchor` of cells and ids.
 * @typedef {{kind: string, start: number, end: number, page_idx: number | null, level?: number, header?: boolean,
 *   anchor?: string}} LayoutBlock
 */
/** One of 0 by 0 pixels can't be drawn. @typedef {{number: number, after: number, page_idx: number | null, alt: string, width: number, height: number}} LayoutPicture */
/** @typedef {{document_id: string, media_type: string, blocks: LayoutBlock[], pictures: LayoutPicture[]}} Layout */
/** @typedef {{page_idx: number, left: number, top: number, right: number, bottom: number, width: number, height: number}} PlaceBox */
/** @typedef {{document_id: string, name: string, title: string, status: string, segments: number, left_out?: string[], warnings?: string[], similar_to?: {document_id: string, title: string}[]}} Ingested */
/** @typedef {{id: string, name: string, thinking: boolean}} Model */
/** @typedef {{user: string, name: string, by: "none" | "key" | "token" | "login" | "proxy", scopes: string[], web?: boolean}} Account `web` where a search outside of the library is set up. */
/** @typedef {{id: string}} GraphNode */
/** @typedef {{from: string, to: string, conditional: boolean}} GraphEdge */
/** @typedef {{nodes: GraphNode[], edges: GraphEdge[]}} GraphStructure */

/**
 * What a question is asked with. Left out is what the server does by default.
 * @typedef {object} Ask
 * @property {string} [question]
 * @property {string} [edit]
 * @property {string} [regenerate]
 * @property {string[]} [page_ids]
 * @property {boolean} [only_selected_pages]
 * @property {string} [selected_text]
 * @property {"auto" | "always" | "off"} [search]
 * @property {"off" | "fallback" | "also" | "first"} [web]
 * @property {string} [model]
 * @property {boolean} [thinking]
 * @property {"reject" | "enqueue" | "interrupt"} [while_running]
 */

export {};
