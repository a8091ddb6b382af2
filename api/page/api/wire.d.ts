// Made from the API's description by `make page`: what the native dialect sends and takes.

/** Whom a request is served as, and by what it is known: one `by` a login can be logged out. */
export type Account = {
  user: string;
  /** What the issuer calls the person; else the user. */
  name: string;
  workspace: string;
  groups: string[];
  by: "none" | "key" | "token" | "login" | "proxy";
  /** What the credentials allow in this workspace. */
  scopes: string[];
  /** Whether a search outside of the library is configured, such as of the web. */
  web: boolean;
};

export type AnswerAssessed = {
  /** The version of the event schema. */
  schema: 1;
  run_id: string;
  session_id: string;
  /** Counts from 1 without gaps. */
  seq: number;
  at: string;
  type: "answer_assessed";
  supported: boolean;
  utility: number;
  claims: Partial<Record<"supported" | "contradicted" | "unsupported" | "unverified", number>>;
  reason: string;
  model_score: number | null;
  answerhood: number | null;
  why: Why[];
  fallback: Failure | null;
};

/**
 * The assessment of an answer by its verdicts. `supported`: no claim is doubted and at least one was proven. `utility`
 * in [0, 1] is derived from verdicts, coverage of the question and outcome; `model_score` is a model's opinion, None
 * unless one was asked. `answerhood` in [0, 1] is the chance that what is shown answers the question, which no verdict
 * says: the extractive reader's, calibrated, or else `model_score`; None where nobody estimated it.
 */
export type Assessment = {
  supported: boolean;
  utility: number;
  claims: Partial<Record<"supported" | "contradicted" | "unsupported" | "unverified", number>>;
  reason: string;
  model_score: number | null;
  answerhood?: number | null;
  why?: Why[];
};

/** Caps of one run: model calls (at most 8), seconds, and tokens as the endpoint reports them. */
export type Budget = {
  model_calls?: number;
  seconds?: number;
  tokens?: number | null;
};

export type BudgetCaps = {
  model_calls: number;
  tokens: number | null;
  seconds?: number | null;
};

/** Some documents. */
export type ChosenDocuments = {
  document_ids: string[];
};

/**
 * A proof of a claim. It exists only where `canonical_text[start:end] == quote`. `highlight` is the entry in the quote
 * that bears the claim, where the quote is a passage of several; `heading_path` has the headings above that entry, the
 * outermost first. `context` is what the quote hangs on, the outermost first. `anchor` is the id of its place in the
 * page that the document was taken from, where the document has a url. `copies` are other documents with a copy of the
 * quote; then `date` is that of the quote's own document, "" where their dates tell nothing. `slide`, `sheet` and
 * `cell` are where it stands in a presentation or a workbook; slides count from 0. `page_label` is as in a Source. When
 * an old session is read, `freshness` shows whether the quote is fresh, moved, changed or deleted, and `now` is its
 * current location, if the offsets or the segment number have changed. It is withheld, and empty, where the reader may
 * no longer read its document. In the list of a finished message `mark` is that of its claim.
 */
export type Citation = {
  segment_id: string;
  document_id: string;
  segment_index: number;
  page_idx: number | null;
  start: number;
  end: number;
  quote: string;
  origin: "cited" | "matched";
  verdict: "supported" | "contradicted" | "unsupported" | "unverified";
  source_index: number;
  section_index: number;
  highlight?: Span;
  heading_path?: string[];
  context?: CitationContext[];
  anchor?: string;
  copies?: Copy[];
  date?: string;
  dated_by?: "document" | "library" | "";
  slide?: number;
  sheet?: string;
  cell?: string;
  page_label?: string;
  freshness?: "fresh" | "moved" | "changed" | "deleted" | "withheld";
  now?: Place;
  mark?: "shown" | "pending" | "withheld";
};

/** A slice of the canonical text that a quote hangs on, such as the term that it defines. */
export type CitationContext = {
  role:
    | "heading" | "term" | "caption" | "header" | "label" | "lead" | "before"
    | "governs";
  start: number;
  end: number;
  text: string;
};

/**
 * One sentence of a section, the unit of checking. Offsets are into the section's text. `by` is who gave the verdict;
 * an `unverified` claim of which no judge has spoken has none. `judge` is there where a judge spoke of it. `mark` is
 * whether a reader sees a mark behind it; messages of earlier releases lack it. `why` are the reasons again, with their
 * codes and parts.
 */
export type Claim = {
  start: number;
  end: number;
  text: string;
  verdict: "supported" | "contradicted" | "unsupported" | "unverified";
  reasons: string[];
  citations: Citation[];
  by?: "text" | "judge";
  judge?: JudgeMark;
  mark?: "shown" | "pending" | "withheld";
  why?: Why[];
};

/**
 * A claim of a section that is still being written, checked by code as soon as its sentence ends. The claims of a
 * section come in order; `section_checked` repeats them when the section is finished.
 */
export type ClaimChecked = {
  /** The version of the event schema. */
  schema: 1;
  run_id: string;
  session_id: string;
  /** Counts from 1 without gaps. */
  seq: number;
  at: string;
  type: "claim_checked";
  section_index: number;
  claim: Claim;
};

/** A claim of the answer, by its section and its offsets in the section's text. */
export type ClaimPlace = {
  section_index: number;
  start: number;
  end: number;
};

/** What code said of a claim before a judge did: its verdict, whether the claim had no mark by it, and why. */
export type CodeFinding = {
  verdict: "supported" | "contradicted" | "unsupported" | "unverified";
  doubted: boolean;
  why: Why[];
};

/**
 * A named set of documents as somebody sees it. `documents` is the number of those that they may read, `yours` whether
 * they may rename, share and delete it.
 */
export type Collection = {
  collection_id: string;
  name: string;
  made_by: string;
  shared: boolean;
  yours: boolean;
  documents: number;
  created_at: string;
  updated_at: string;
};

/** What to change of a collection; what is left out stays. */
export type CollectionChange = {
  name?: string | null;
  /** Whether all of the workspace see it, or who made it alone. */
  shared?: boolean | null;
  /** Documents to put in; those that you may not read are left out. */
  add?: string[];
  /** Documents to take out. */
  remove?: string[];
};

/** The collections that you see, by name. */
export type CollectionList = {
  collections: Collection[];
};

/** A column of a comparison. */
export type ComparedDocument = {
  document_id: string;
  title: string;
};

/** Documents side by side. `by` says who wrote the cells: a model, or nobody, and then they quote. */
export type Comparison = {
  by: "model" | "quotes";
  documents: ComparedDocument[];
  rows: ComparisonRow[];
};

/** What documents say of a point, in the order of the columns. */
export type ComparisonRow = {
  point: string;
  cells: StudyAnswer[];
};

export type ContentRemoved = {
  /** The version of the event schema. */
  schema: 1;
  run_id: string;
  session_id: string;
  /** Counts from 1 without gaps. */
  seq: number;
  at: string;
  type: "content_removed";
  section_index: number;
  kind: string;
  target: string;
};

/**
 * An older document that says what a passage says, in the same words or almost, with its title and date. The date is
 * ISO 8601, as far as it is known; "" where the documents are all of one date, which tells nothing. It `differs` where
 * what is highlighted of the passage does not stand in it word for word.
 */
export type Copy = {
  segment_id: string;
  document_id: string;
  title: string;
  date: string;
  dated_by: "document" | "library" | "";
  differs: boolean;
};

/**
 * What readers of a format that can't retract must be told: claims of a section that no longer stand. `claims` are
 * those of the section as it was shown. `text` says it in the answer's language, in Markdown.
 */
export type Correction = {
  /** The version of the event schema. */
  schema: 1;
  run_id: string;
  session_id: string;
  /** Counts from 1 without gaps. */
  seq: number;
  at: string;
  type: "correction";
  section_index: number;
  claims: Claim[];
  text: string;
};

/**
 * What a run cost: an exact decimal number in units of `currency` (ISO 4217). `unpriced` are the models that it used
 * and that have no price, so that the amount is without them; `estimated` says that the tokens of some calls are
 * estimated.
 */
export type Cost = {
  amount: string;
  currency: string;
  unpriced: string[];
  estimated: boolean;
};

/**
 * Sources that contradict each other, with a human-readable reason. `code` says in what: `another_value`, whose `parts`
 * are the values, or `denied`, that one says "not". Values and `positions` are in one order, the newest source first.
 */
export type Disagreement = {
  segment_ids: string[];
  reason: string;
  code?: "another_value" | "denied";
  parts?: string[];
  positions?: Position[];
};

/**
 * A document without its text. `segments` is the number of its segments. `left_out` says in plain sentences what of the
 * file is not in its text; `original` is the file itself, None where none is kept; `places` is where it is in sources.
 * `file_name` and `folder` are those of its file, empty where they are not known. `tokens` is the size of its text.
 */
export type Document = {
  document_id: string;
  title: string;
  slug: string | null;
  space: Space | null;
  url: string | null;
  source_type: string;
  owner: string | null;
  readers: string[] | null;
  metadata: Record<string, unknown>;
  media_type: string;
  page_count: number | null;
  left_out: string[];
  original: Original | null;
  file_name: string;
  folder: string;
  segments: number;
  tokens: number;
  created_at: string;
  updated_at: string;
  expires_at: string | null;
  places: DocumentPlace[];
};

/** What to change of a document without sending it again; what is left out stays. */
export type DocumentChange = {
  /** What it is called from the next answer on, also when its file is read anew. */
  title?: string | null;
  /** Who may read it from the next request on: `user:NAME`, `group:NAME`, or `everyone`. The owner always does. */
  readers?: string[] | null;
  /** Whose it is from the next request on; null for nobody's. */
  owner?: string | null;
};

/** A document without its text, with those that share most of their text with it. */
export type DocumentDetails = {
  document_id: string;
  title: string;
  slug: string | null;
  space: Space | null;
  url: string | null;
  source_type: string;
  owner: string | null;
  readers: string[] | null;
  metadata: Record<string, unknown>;
  media_type: string;
  page_count: number | null;
  left_out: string[];
  original: Original | null;
  file_name: string;
  folder: string;
  segments: number;
  tokens: number;
  created_at: string;
  updated_at: string;
  expires_at: string | null;
  places: DocumentPlace[];
  similar_to: SimilarDocument[];
};

/**
 * A page of documents. `next_cursor` requests the next page; None at the end, and where they are sorted. `total` is the
 * number of all that match, where it was asked for.
 */
export type DocumentPage = {
  documents: Document[];
  next_cursor: string | null;
  total?: number | null;
};

/**
 * A place of a document in a source. `seen_at` is when its file was last there, in ISO 8601. `trouble` says why today's
 * file could not be read; the document is then of an earlier version.
 */
export type DocumentPlace = {
  source_id: string;
  kind: string;
  path: string;
  seen_at: string;
  trouble: string | null;
};

/** The documents that were deleted. */
export type DocumentsDeleted = {
  deleted: string[];
};

/** The documents that are back. */
export type DocumentsRestored = {
  restored: string[];
};

export type Dropped = {
  segment_id: string;
  reason: string;
  why?: Why[];
};

/** The error body of every route of this dialect. */
export type ErrorBody = {
  error: ErrorDetail;
};

/** An error. `code` is stable; `message` is for people and may be reworded. */
export type ErrorDetail = {
  message: string;
  type: string;
  param: string | null;
  code: string;
};

/** A judge's result in the held-out half of an exam in one language: right verdicts out of all. */
export type ExamFigure = {
  language: string;
  right: number;
  of: number;
};

/**
 * A failure for which a fallback was used: its code, and a sentence about what was done instead. `why` is what was done
 * instead, with its code.
 */
export type Failure = {
  code: string;
  message: string;
  suggestion?: string;
  why?: Why[];
};

/** What the reader of an answer says of it. */
export type Feedback = {
  rating: "up" | "down";
  reason_code:
    | "wrong" | "invented" | "incomplete" | "off_topic" | "outdated" | "unanswered" | "unclear" | "other"
    | null;
  text: string | null;
  claim: MeantClaim | null;
  changed_at: string;
};

/** A file that a worker is reading; its segments are known once they are being embedded. */
export type FileBeingRead = {
  file_no: number;
  name: string;
  segments_done: number | null;
  segments: number | null;
};

/** How many files of a job are in each state. */
export type FileCounts = {
  queued: number;
  working: number;
  stored: number;
  unchanged: number;
  refused: number;
  cancelled: number;
};

/** Why a file was refused, or what it waits for. */
export type FileProblem = {
  code: string;
  message: string;
  suggestion: string;
};

/**
 * What became of a file. `previous` is the path that it moved from, `reason` why it could not be read. `warnings` say
 * what may be wrong in its text, `similar_to` which other documents share most of it.
 */
export type FileReport = {
  path: string;
  change: "new" | "adopted" | "changed" | "moved" | "copied" | "unreadable" | "gone";
  document_id: string | null;
  title: string;
  previous?: string | null;
  reason?: string | null;
  warnings?: string[];
  similar_to?: SimilarDocument[];
};

/** A finished run: the fields of `run_finished`, with the ids. */
export type FinishedRun = {
  run_id: string;
  session_id: string;
  message_id: string;
  outcome: "answered" | "abstained" | "cancelled";
  stop_reason: string;
  message: Message;
  spent: Record<string, Spent>;
  cost?: Cost | null;
};

/** A question or a term, and the claims that answer it, each with its quotes. */
export type Flashcard = {
  question: string;
  answer: StudyAnswer;
};

/** Cards, asked by a model or the documents themselves, and how many were left out unchecked or for want of time. */
export type Flashcards = {
  by: "model" | "documents";
  cards: Flashcard[];
  dropped: number;
};

/** How many documents there are of files in a folder; it is empty for those in none. */
export type FolderCount = {
  folder: string;
  documents: number;
};

/**
 * Questions to go on with after an answer, None where there is no answer yet. `guides` are of the documents that it
 * quotes, where it was asked for what takes a model, such as a summary.
 */
export type FollowUps = {
  message_id: string | null;
  questions: ProvenQuestion[];
  guides: Guide[];
};

/** An edge; whether a run takes a `conditional` one depends on its state. */
export type GraphEdge = {
  from: string;
  to: string;
  conditional: boolean;
};

/** A node; events name it as their `step`. A run starts at `__start__` and ends at `__end__`. */
export type GraphNode = {
  id: string;
};

/** The graph's nodes in the order they were added, and its edges in the order of their nodes. */
export type GraphStructure = {
  nodes: GraphNode[];
  edges: GraphEdge[];
};

/** How a document begins, its headings or lines of contents, and questions that the library answers from it. */
export type Guide = {
  document_id: string;
  title: string;
  version: number;
  sentences: GuideSentence[];
  outline: GuideHeading[];
  questions: ProvenQuestion[];
};

/** A document to begin with, and its first headings. */
export type GuideBeginning = {
  document_id: string;
  title: string;
  outline: GuideHeading[];
};

/** A heading of a document or a line of its contents, verbatim, with its place; `depth` counts from 0. */
export type GuideHeading = {
  segment_index: number;
  page_idx: number | null;
  start: number;
  end: number;
  text: string;
  depth: number;
};

/** A sentence of a document, verbatim, with its place: `canonical_text[start:end] == text`. */
export type GuideSentence = {
  segment_id: string;
  segment_index: number;
  page_idx: number | null;
  start: number;
  end: number;
  text: string;
};

/**
 * A document that is now in the library. `segments` is the number of its segments. `left_out` says in plain sentences
 * what of the file is not in its text, such as hidden words or pages without any, and `warnings` what in it may be
 * wrong, such as letters whose encoding was guessed. `similar_to` are other documents that share most of a new or
 * changed text, as far as the caller may read them.
 */
export type Ingested = {
  document_id: string;
  name: string;
  title: string;
  status: "created" | "updated" | "unchanged";
  segments: number;
  left_out?: string[];
  warnings?: string[];
  similar_to?: SimilarDocument[];
};

/** An archive whose files are now documents, but for those that were refused. */
export type IngestedArchive = {
  name: string;
  documents: Ingested[];
  refused: Refused[];
  status: "unpacked";
};

/** A job and how far it is. `rate` is in files a second; `segments` are those stored. */
export type Job = {
  job_id: string;
  state: "queued" | "running" | "paused" | "cancelled" | "finished";
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
  files: number;
  counts: FileCounts;
  segments: number;
  rate: number | null;
  eta_seconds: number | null;
  reading: FileBeingRead[];
};

/** A job with some of its files. */
export type JobDetail = {
  job: Job;
  files?: JobFile[];
  next_after?: number | null;
};

/** A file of a job. `ingested` is the stored document, `problem` why there is none. */
export type JobFile = {
  file_no: number;
  name: string;
  document_id: string;
  bytes: number;
  state: "queued" | "working" | "stored" | "unchanged" | "refused" | "cancelled";
  problem: FileProblem | null;
  ingested: Ingested | null;
  segments: number | null;
  seconds: number | null;
};

/** A page of jobs, the newest first. `next_cursor` requests the next page; None at the end. */
export type JobPage = {
  jobs: Job[];
  next_cursor: string | null;
};

/**
 * The judge that spoke of a claim: the name of its model, and its result in the exam of the claim's language. `exam` is
 * None until it has passed: what it then `says` may take a mark away, but proves nothing. `version`, `language` (ISO
 * 639-1) and `probability` are what it takes to decide on the claim once it has passed, `code` what counts once it has
 * failed; of that, earlier releases stored `doubted` alone.
 */
export type JudgeMark = {
  model: string;
  exam: ExamFigure | null;
  says?: "supported" | "contradicted" | "unsupported" | "unverified";
  version?: string;
  language?: string;
  probability?: number | null;
  code?: CodeFinding;
  doubted?: boolean;
};

/**
 * How a document is laid out: its blocks, its pictures, the sources of its formulas, its slides, all in order. `folds`
 * are runs of links alone.
 */
export type Layout = {
  document_id: string;
  media_type: string;
  blocks: LayoutBlock[];
  pictures: LayoutPicture[];
  formulas: LayoutFormula[];
  slides: LayoutSlide[];
  folds: LayoutFold[];
};

/**
 * A block of canonical text, from `start` to `end`. `page_idx` is that of its page, slide or sheet. `level` is of
 * headings, from 1; `header` of table rows that name the columns; `anchor` is the block's id in its file, or the
 * address of a row's first cell.
 */
export type LayoutBlock = {
  kind: "heading" | "paragraph" | "list_item" | "table_row" | "code" | "quote" | "term" | "caption" | "label" | "footnote" | "contents";
  start: number;
  end: number;
  page_idx: number | null;
  level?: number;
  header?: boolean;
  anchor?: string;
};

/** Lines of contents or links alone, `count` of them from `start` to `end`, which a viewer may fold. */
export type LayoutFold = {
  start: number;
  end: number;
  count: number;
};

/** A formula of the text from `start` to `end`, with its `source` in MathML or LaTeX. */
export type LayoutFormula = {
  start: number;
  end: number;
  notation: "mathml" | "latex";
  source: string;
};

/**
 * A picture that stands behind the text up to `after`. One of 0 by 0 pixels is of a format that is not drawn. `number`
 * is its place among the pictures of the file; `width` and `height` are in pixels.
 */
export type LayoutPicture = {
  number: number;
  after: number;
  page_idx: number | null;
  alt: string;
  width: number;
  height: number;
};

/** A slide by its number from 0, how wide it is for its height, and its boxes, the lowest first. */
export type LayoutSlide = {
  page_idx: number;
  ratio: number;
  boxes: SlideBox[];
};

/**
 * How many documents there are, by type, folder and source, and what of them a question can read whole. `folders` are
 * the first 1,000, in the order of a list that is sorted by folder; `folder_count` is that of all.
 */
export type LibrarySummary = {
  documents: number;
  types: TypeCount[];
  folders: FolderCount[];
  folder_count: number;
  sources: SourceCount[];
  reads_whole: ReadWhole;
};

/** The login has ended. At `continue_at` the issuer's own login ends too, or else the page is. */
export type LoggedOut = {
  continue_at: string;
};

/** Whether people can log in here; if not, a key opens the page, or a proxy has let them in. */
export type LoginOffer = {
  offered: boolean;
};

/** A new share; `url` is told this once. */
export type MadeShare = {
  share_id: string;
  message_id: string | null;
  audience: "workspace" | "link";
  created_at: string;
  expires_at: string;
  url: string;
};

/** A new workspace; `key` opens it with all that the credentials which made it may do, null without keys. */
export type MadeWorkspace = {
  name: string;
  key?: string | null;
};

/** The claim that feedback is about: its section, and its offsets in the section's text. */
export type MeantClaim = {
  section_index: number;
  start: number;
  end: number;
};

/**
 * The finished answer as stored and sent. `nearest` is what an abstention shows instead of sources. `refusal` has the
 * parts of what an abstention says; `pages` is there where documents were selected.
 */
export type Message = {
  answer: string;
  sections: Section[];
  citations: Citation[];
  sources: Source[];
  nearest?: Source[];
  family?: "extractive" | "llm";
  claims?: SectionClaim[];
  assessment?: Assessment;
  disagreements?: Disagreement[];
  refusal?: Refusal;
  pages?: PagesRead;
};

/**
 * A page that there is not, counted from 1, and the last one there is: of the document with the `title`. Without a
 * title it is that of the longest document in question.
 */
export type MissingPage = {
  page: number;
  pages: number;
  title: string;
};

/**
 * A model that a request may name. `created` is in seconds since 1970, the same for all. `thinking` is our extension:
 * whether a request may ask it to think.
 */
export type Model = {
  id: string;
  object: "model";
  created: number;
  owned_by: string;
  name: string;
  thinking: boolean;
};

/** All models, the deployment's default first. */
export type ModelList = {
  object: "list";
  data: Model[];
};

/**
 * What was used of one model. `cached_tokens` of its `input_tokens` came from the endpoint's prompt cache.
 * `estimated_calls` of its `calls` are those whose endpoint reported no tokens, so that they are estimated.
 */
export type ModelUse = {
  calls: number;
  input_tokens: number;
  cached_tokens: number;
  output_tokens: number;
  estimated_calls: number;
};

/** A collection to make, with the documents that it begins with. */
export type NewCollection = {
  name: string;
  /** true: all of the workspace see it; false: you alone. */
  shared?: boolean;
  document_ids?: string[];
};

/** Which documents to compare, and by what; without a question a model proposes the points. */
export type NewComparison = {
  document_ids: string[];
  question?: "" | string;
  /** A configured model's name, or `extractive`; empty for the deployment's default. */
  model?: string;
};

/** Up or down; what is wrong, in a word and in words, and in which claim, all of which may be left out. */
export type NewFeedback = {
  rating: "up" | "down";
  /** What is wrong with the answer; only with `down`. */
  reason_code?:
    | "wrong" | "invented" | "incomplete" | "off_topic" | "outdated" | "unanswered" | "unclear" | "other"
    | null;
  text?: string | null;
  claim?: ClaimPlace | null;
};

/** Which documents to make cards of. */
export type NewFlashcards = {
  document_ids: string[];
  /** A configured model's name, or `extractive`; empty for the deployment's default. */
  model?: string;
};

/** A note, empty or with the first thing that is pinned in it, by which it is called where it has no title. */
export type NewNote = {
  title?: string | null;
  /** In Markdown. */
  text?: "" | string;
  entry?: Pin | null;
};

/** A question, and how to answer it. */
export type NewRun = {
  /** A question of the session that this one replaces, on a new branch. */
  edit?: string | null;
  /** An answer to regenerate: its question is asked again, unchanged. */
  regenerate?: string | null;
  /** Required, except with `regenerate`. */
  question?: string;
  /** Documents to read in full; more than 100 are searched instead. */
  page_ids?: string[];
  /** Answer only from `page_ids` and `selected_text`. */
  only_selected_pages?: boolean;
  /** A passage that the reader selected: read first, and citable. */
  selected_text?: string | null;
  /** `auto` decides whether the question needs the library. */
  search?: "auto" | "always" | "off";
  /** `fallback`: if the library has nothing relevant; `also`: in addition to it; `first`: before it. */
  web?: "off" | "fallback" | "also" | "first";
  /** Ids or slugs of the spaces to search; empty for all. */
  spaces?: string[];
  top_k?: number;
  min_score?: number;
  /** A configured model's name, or `extractive`; empty for the deployment's default. */
  model?: string;
  /** Use the model's thinking model. */
  thinking?: boolean;
  budget?: Budget;
  /** How many steps a model takes; unset, as the deployment says. */
  effort?: "fast" | "balanced" | "thorough" | null;
  /**
   * Whether a model may answer from its own knowledge: `library` never, `library_then_model` where nothing answers the
   * question, `model` without looking anything up; unset, as the deployment says.
   */
  answer_from?: "library" | "library_then_model" | "model" | null;
  /** `checked`: text leaves when code has checked it; `judged`: when a judge has. */
  release?: "checked" | "judged" | null;
  /** Collections whose documents are read, and counted, as those of `page_ids`. */
  collection_ids?: string[];
  on_disconnect?: "cancel" | "continue";
  /** If the session is already answering: `reject` with 409, `enqueue` after it, or `interrupt` it. */
  while_running?: "reject" | "enqueue" | "interrupt";
  /** true: Server-Sent Events; false: the finished message as JSON. */
  stream?: boolean;
};

/** The initial fields of a session. */
export type NewSession = {
  title?: string | null;
  /** The host's page on which it was started. */
  page_id?: string | null;
  page_ids?: string[];
  collection_ids?: string[];
  /** Never listed; deleted after 24 hours. */
  ephemeral?: boolean;
};

/** For whom and for how long; without `message_id` the session is shared as it is now. */
export type NewShare = {
  /** In seconds. */
  expires_in?: number;
  /** `workspace`: those whose credentials are for it; `link`: anybody who has the link. */
  audience?: "workspace" | "link";
  /** An answer to share alone, with its question. */
  message_id?: string | null;
};

/** A source to add: a folder of the server's machine, a site, a git repository, or an S3 bucket and prefix. */
export type NewSource = {
  kind: "folder" | "git" | "site" | "s3";
  location: string;
  /** You, to be the only one who may change it; null for none. */
  owner?: string | null;
  /**
   * Who may read it and its documents: `user:NAME`, `group:NAME`, or `everyone`. Left out, its owner, or everyone where
   * it has none.
   */
  readers?: string[] | null;
  /** The slug of the documents' space. */
  space?: string | null;
  /** The address of a document, with `{path}` for its path. */
  link?: string | null;
  /** The branch or tag of a repository; null for its own. */
  ref?: string | null;
  /** How much of a site: a page, what its sitemap lists, or all below the address. */
  extent?: "page" | "sitemap" | "site" | null;
  /** The folder of a repository to read; null for all of it. */
  folder?: string | null;
};

/** A workspace to make. */
export type NewWorkspace = {
  name: string;
};

/** A note with what is pinned in it, as its reader may see it today. */
export type Note = {
  note: NoteSummary;
  entries: NoteEntry[];
};

/** Changes to a note; what is left out stays as it is. */
export type NoteChange = {
  title?: string | null;
  /** In Markdown; empty for none. */
  text?: "" | string | null;
  /** Whether everybody in the workspace may read it. */
  shared?: boolean | null;
  /** The ids of its entries as they should stand; others stand behind them. */
  order?: string[] | null;
};

/**
 * What is pinned: sections in Markdown with their claims, each with the citations that prove it. `question` is empty
 * for a passage of a document. `freshness` is the worst of its quotes today.
 */
export type NoteEntry = {
  entry_id: string;
  question: string;
  pinned_at: string;
  freshness: "fresh" | "moved" | "changed" | "deleted" | "withheld";
  sections: Section[];
  claims: SectionClaim[];
  sources: Source[];
};

/** Notes of one's own and those that others share, the last changed first. `text` is its beginning. */
export type NoteList = {
  notes: NoteSummary[];
  next_cursor: string | null;
};

/** A note without what is pinned in it. `is_own`: its reader may change it; others read it where it is shared. */
export type NoteSummary = {
  note_id: string;
  title: string;
  text: string;
  shared: boolean;
  is_own: boolean;
  created_at: string;
  updated_at: string;
  entries: number;
};

/** The file that a document was read from; `name` is "" where it came without one. */
export type Original = {
  sha256: string;
  size: number;
  media_type: string;
  name: string;
};

/** A selected document: how many of its segments were read (`segments`), and how many it has (`of`). */
export type PageUse = {
  document_id: string;
  title: string;
  segments: number;
  of: number;
};

export type PagesLoaded = {
  /** The version of the event schema. */
  schema: 1;
  run_id: string;
  session_id: string;
  /** Counts from 1 without gaps. */
  seq: number;
  at: string;
  type: "pages_loaded";
  used: PageUse[];
  cut: PageUse[];
  unused: string[];
};

/** What was read of the selected documents: those read whole, those read in part, and the ids of the others. */
export type PagesRead = {
  used: PageUse[];
  cut: PageUse[];
  unused: string[];
};

/** What to pin: an answer by its session and message, or a passage by its document and words. */
export type Pin = {
  session_id?: string | null;
  /** An answer of the session. */
  message_id?: string | null;
  /** One section of the answer, by its index. */
  section?: number | null;
  document_id?: string | null;
  /** A passage of the document, in its own words. */
  quote?: string | null;
  /** Where the claim begins in its section, or the quote in the canonical text. */
  start?: number | null;
};

/** The id of an entry. */
export type PinnedEntry = {
  entry_id: string;
};

/** The location of a quote in the current text. `segment_id` is the segment in which it begins. */
export type Place = {
  segment_id: string;
  segment_index: number;
  page_idx: number | null;
  start: number;
  end: number;
};

/** A rectangle on a page of some width and height as shown, in points from the upper left corner. */
export type PlaceBox = {
  page_idx: number;
  left: number;
  top: number;
  right: number;
  bottom: number;
  width: number;
  height: number;
};

/**
 * The place of canonical text from `start` to `end` in the original; what the format does not have is null. `boxes` are
 * of PDF alone, and empty where its original is not kept, or where no files may be read. `anchor` is the id to link to.
 * `passage` is what stands around a part of a segment, grown from it as an answer's passages are.
 */
export type PlaceInOriginal = {
  document_id: string;
  segment_index: number;
  start: number;
  end: number;
  page_idx: number | null;
  boxes: PlaceBox[];
  anchor: string | null;
  sheet: string | null;
  cell: string | null;
  slide: number | null;
  passage: ShownPassage | null;
};

/**
 * What one of several sources that contradict each other says: an exact quote, and in it the value that differs. `date`
 * (ISO 8601, as far as it is known) is the document's own, or the day on which the library last stored it.
 */
export type Position = {
  segment_id: string;
  document_id: string;
  title: string;
  start: number;
  end: number;
  quote: string;
  value: string;
  date: string;
  dated_by: "document" | "library" | "";
};

/** An error (RFC 9457). `code` is stable; `detail` is for people and may be reworded. */
export type Problem = {
  type: string;
  title: string;
  status: number;
  detail: string;
  code: string;
  suggestion: string;
  retryable: boolean;
  /** The failed run as urn:uuid, if there was one. */
  instance: string | null;
};

/**
 * A span of a cited segment that bears a claim: whole entries, in offsets of the canonical text. `highlight` is the
 * entry in it that bears the claim, where it is a passage of several. `copies` are the ids of segments of older
 * documents that hold a copy of it, or almost one.
 */
export type Proof = {
  segment_id: string;
  start: number;
  end: number;
  origin: "cited" | "matched";
  highlight?: Span;
  copies?: string[];
};

/** A question that the library answers, and the quote by which it does: `canonical_text[start:end] == quote`. */
export type ProvenQuestion = {
  question: string;
  language: string;
  document_id: string;
  title: string;
  segment_id: string;
  start: number;
  end: number;
  quote: string;
};

export type QueryRewritten = {
  /** The version of the event schema. */
  schema: 1;
  run_id: string;
  session_id: string;
  /** Counts from 1 without gaps. */
  seq: number;
  at: string;
  type: "query_rewritten";
  query: string;
  reason: string;
  attempt: number;
  why: Why[];
  fallback: Failure | null;
};

export type Queued = {
  /** The version of the event schema. */
  schema: 1;
  run_id: string;
  session_id: string;
  /** Counts from 1 without gaps. */
  seq: number;
  at: string;
  type: "queued";
  position: number;
};

/** A segment of canonical text; `start` and `end` are offsets in code points, `end` exclusive. */
export type RawSegment = {
  segment_index: number;
  page_idx: number | null;
  start: number;
  end: number;
  text: string;
};

/** A document's canonical text, as segments; joined in order they are the text. */
export type RawText = {
  document_id: string;
  title: string;
  segments: RawSegment[];
};

/** How many selected documents a question reads whole at most, and how many tokens of them. */
export type ReadWhole = {
  documents: number;
  tokens: number;
};

/**
 * What a refusal says: its code, which is the stop reason of its run, and the queries that were searched for. `library`
 * is False where the library was not searched. `web_failed` is True where what lies outside of it could not be
 * searched. `written_in` are languages (ISO 639-1) of the library that it was not searched in. `notices` is what a
 * family without a model says of itself, in order; left out where it says nothing. `missing_page` is there where the
 * question is about a page that there is not.
 */
export type Refusal = {
  code: "answer_complete" | "no_retrieval_needed" | "answered_from_catalogue" | "not_in_library" | "library_empty" | "nothing_found" | "search_failed" | "nothing_relevant" | "library_not_allowed" | "insufficient_evidence" | "claims_not_supported" | "repairs_used_up" | "budget_model_calls" | "budget_seconds" | "budget_tokens" | "budget_day" | "cancel_requested" | "client_disconnected" | "interrupted" | "server_stopped" | "error";
  tried: string[];
  library: boolean;
  web_failed: boolean;
  written_in: string[];
  notices?: ("quotes_only" | "add_model")[];
  missing_page?: MissingPage;
};

/** A document that was not ingested, and the reason. */
export type Refused = {
  name: string;
  code: string;
  reason: string;
  suggestion: string;
  status: "refused";
};

/** The question as it was understood. `sub_questions` are searched for too, where it joins several. */
export type RetrievalDecided = {
  /** The version of the event schema. */
  schema: 1;
  run_id: string;
  session_id: string;
  /** Counts from 1 without gaps. */
  seq: number;
  at: string;
  type: "retrieval_decided";
  needs_retrieval: boolean;
  reason: string;
  standalone_question: string;
  intent: "content_query" | "small_talk" | "about_library";
  why: Why[];
  fallback: Failure | null;
  sub_questions: string[];
};

/** The `data` of one Server-Sent Event. Ignore types and fields that you do not know. */
export type RunEvent =
  | Queued
  | RunStarted
  | RunResumed
  | StepStarted
  | StepFinished
  | RetrievalDecided
  | PagesLoaded
  | SourcesFound
  | SearchFailed
  | SourcesGraded
  | SourcesDisagree
  | QueryRewritten
  | ThinkingDelta
  | SectionStarted
  | TextDelta
  | SectionFinished
  | ClaimChecked
  | SectionChecked
  | SectionRevised
  | Correction
  | ContentRemoved
  | AnswerAssessed
  | TitleChanged
  | RunFinished
  | RunFailed;

export type RunFailed = {
  /** The version of the event schema. */
  schema: 1;
  run_id: string;
  session_id: string;
  /** Counts from 1 without gaps. */
  seq: number;
  at: string;
  type: "run_failed";
  code: string;
  message: string;
  suggestion: string;
  retryable: boolean;
};

/** The end of a run that did not fail. `cost` is None where no model was asked, or none that has a price. */
export type RunFinished = {
  /** The version of the event schema. */
  schema: 1;
  run_id: string;
  session_id: string;
  /** Counts from 1 without gaps. */
  seq: number;
  at: string;
  type: "run_finished";
  outcome: "answered" | "abstained" | "cancelled";
  stop_reason: string;
  message: Message;
  spent: Record<string, Spent>;
  cost: Cost | null;
};

/** A page of runs, newest first. */
export type RunList = {
  runs: RunStatus[];
  /** Send it as `cursor` for the runs that follow; null at the end. */
  next_cursor: string | null;
};

export type RunResumed = {
  /** The version of the event schema. */
  schema: 1;
  run_id: string;
  session_id: string;
  /** Counts from 1 without gaps. */
  seq: number;
  at: string;
  type: "run_resumed";
  attempt: number;
  sections: number[];
};

export type RunStarted = {
  /** The version of the event schema. */
  schema: 1;
  run_id: string;
  session_id: string;
  /** Counts from 1 without gaps. */
  seq: number;
  at: string;
  type: "run_started";
  question: string;
  message_id: string;
  family: "extractive" | "llm";
  model: string;
  budget: BudgetCaps;
  release: "checked" | "judged";
  fallback: Failure | null;
};

/** The status of a run in the ledger. */
export type RunStatus = {
  run_id: string;
  session_id: string;
  question: string;
  status: "queued" | "running" | "finished";
  outcome: "answered" | "abstained" | "failed" | "cancelled" | null;
  stop_reason: string | null;
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
};

/** A search that failed, of the MCP server in `servers` where it was none of the web or the library. */
export type SearchFailed = {
  /** The version of the event schema. */
  schema: 1;
  run_id: string;
  session_id: string;
  /** Counts from 1 without gaps. */
  seq: number;
  at: string;
  type: "search_failed";
  kind: "page" | "search" | "web";
  code: string;
  message: string;
  servers: string[];
};

/** Matching segments, best first. `degraded` names the reason why a part of search was left out. */
export type SearchResults = {
  query: string;
  degraded: string | null;
  results: Source[];
};

/**
 * One paragraph of the answer and the segment ids it cites, in citation order. `grounded` is False for text from the
 * model's own knowledge, which cites nothing and is not checked. `passage` is what a section that only quotes shows. A
 * `notice` is a fixed line about the answer, and no part of it: the question asks for more than quotes, or how a model
 * is added. `marks` are the sentences of a finished section behind which a mark stands, by their offsets in its text.
 */
export type Section = {
  text: string;
  source_ids: string[];
  grounded?: boolean;
  passage?: Proof;
  notice?: "quotes_only" | "add_model";
  marks?: Span[];
};

/**
 * The claims of a finished section: first as code decides them, and again once a judge has decided open ones. `judging`
 * is True where a judge's decision is to follow.
 */
export type SectionChecked = {
  /** The version of the event schema. */
  schema: 1;
  run_id: string;
  session_id: string;
  /** Counts from 1 without gaps. */
  seq: number;
  at: string;
  type: "section_checked";
  section_index: number;
  claims: Claim[];
  judging: boolean;
  fallback: Failure | null;
};

/** A claim with the index of its section, as the finished message lists it. */
export type SectionClaim = {
  start: number;
  end: number;
  text: string;
  verdict: "supported" | "contradicted" | "unsupported" | "unverified";
  reasons: string[];
  citations: Citation[];
  by?: "text" | "judge";
  judge?: JudgeMark;
  mark?: "shown" | "pending" | "withheld";
  why?: Why[];
  section_index: number;
};

/** `unknown_ids` counts the ids dropped because the writer cited them but this run never offered them. */
export type SectionFinished = {
  /** The version of the event schema. */
  schema: 1;
  run_id: string;
  session_id: string;
  /** Counts from 1 without gaps. */
  seq: number;
  at: string;
  type: "section_finished";
  section_index: number;
  text: string;
  source_ids: string[];
  unknown_ids: number;
};

/**
 * A section after repair; an empty text withdraws it. `moved` is True where nothing was wrong with it: another source
 * contradicts what it quoted, and the section that says so quotes both.
 */
export type SectionRevised = {
  /** The version of the event schema. */
  schema: 1;
  run_id: string;
  session_id: string;
  /** Counts from 1 without gaps. */
  seq: number;
  at: string;
  type: "section_revised";
  section_index: number;
  text: string;
  source_ids: string[];
  claims: Claim[];
  moved: boolean;
};

/** The start of a section; `grounded` is False for one from the model's own knowledge. */
export type SectionStarted = {
  /** The version of the event schema. */
  schema: 1;
  run_id: string;
  session_id: string;
  /** Counts from 1 without gaps. */
  seq: number;
  at: string;
  type: "section_started";
  section_index: number;
  fallback: Failure | null;
  grounded: boolean;
};

/**
 * A conversation without its messages. `page_ids` and `collection_ids` are the documents and collections last selected
 * in it, `page_id` is the host's page that it was started on. One that is `pinned` comes before the others.
 */
export type Session = {
  session_id: string;
  title: string;
  page_ids: string[];
  ephemeral: boolean;
  dialect: string;
  external_id: string | null;
  created_at: string;
  updated_at: string;
  page_id?: string | null;
  pinned: boolean;
  collection_ids?: string[];
};

/** Changes to a session; fields that are left out stay as they are. */
export type SessionChange = {
  title?: string | null;
  page_ids?: string[] | null;
  collection_ids?: string[] | null;
  /** Whether it comes before the others in the list. */
  pinned?: boolean | null;
};

/** A session with the newest messages of a branch, in chronological order. */
export type SessionDetail = {
  session: Session;
  messages: SessionMessage[];
  /** Send it as `cursor` for earlier messages; null at the beginning. */
  next_cursor: string | null;
};

/** Where in a session something was found: a part of a message, in which it stands from `start` to `end`. */
export type SessionHit = {
  session_id: string;
  message_id: string;
  role: "user" | "assistant";
  excerpt: string;
  start: number;
  end: number;
};

/** A page of sessions, pinned ones first, then the last used; of a search, only the last used first. */
export type SessionList = {
  sessions: Session[];
  /** Send it as `cursor` for the sessions that follow; null at the end. */
  next_cursor: string | null;
  /** Of a search: where in these sessions it was found, but for what only a title has. */
  hits: SessionHit[];
};

/**
 * A message; the second group of fields belongs to answers. Each citation has in `freshness` the state of its quote
 * today, and in `now` the quote's current position.
 */
export type SessionMessage = {
  message_id: string;
  run_id: string | null;
  parent_message_id: string | null;
  role: "user" | "assistant";
  content: string;
  created_at: string;
  /** The ids of all versions of this message, oldest first, if there are several. */
  versions: string[];
  /** The documents that a question asked to read in full. */
  page_ids: string[];
  /** The collections that a question was asked of. */
  collection_ids: string[];
  /** Those of `page_ids` that its collections held. */
  collected_ids: string[];
  /** The passage that a question is about. */
  selected_text?: string | null;
  /** Whether the question is still being answered. */
  answering: boolean;
  /** What the reader says of an answer. */
  feedback?: Feedback | null;
  outcome: "answered" | "abstained" | "failed" | "cancelled" | null;
  stop_reason: string | null;
  family?: "extractive" | "llm" | null;
  sections: Section[];
  citations: Citation[];
  sources: Source[];
  nearest: Source[];
  claims: SectionClaim[];
  assessment?: Assessment | null;
  disagreements: Disagreement[];
  /** What an answer that abstained says, in parts. */
  refusal?: Refusal | null;
  /** What was read of the selected documents. */
  pages?: PagesRead | null;
  spent: Record<string, Spent>;
  /** What an answer cost, as far as its models have prices. */
  cost?: Cost | null;
};

/** The title of a session. */
export type SessionTitle = {
  session_id: string;
  title: string;
};

/** A share as its owner sees it: of one answer, or with `message_id` None of the session. */
export type Share = {
  share_id: string;
  message_id: string | null;
  audience: "workspace" | "link";
  created_at: string;
  expires_at: string;
};

/** The shares of a session that still open, and what can be shared here: nothing where no audience is offered. */
export type ShareList = {
  shares: Share[];
  audiences: ("workspace" | "link")[];
  longest_seconds: number;
};

/**
 * The passage of a source that comes nearest to a question which was refused, in the form of a citation. `text` is the
 * quote as Markdown, as an answer would show it.
 */
export type ShownPassage = {
  start: number;
  end: number;
  quote: string;
  text: string;
  highlight?: Span;
  heading_path: string[];
  context: CitationContext[];
};

/** A document that shares most of its text with another. `share` is about the share of pairs of words in both. */
export type SimilarDocument = {
  document_id: string;
  title: string;
  share: number;
};

/**
 * A box of a slide, in shares of its width and height: the text from `start` to `end`, or a picture. `size` is that of
 * its letters, as a share of the slide's width.
 */
export type SlideBox = {
  left: number;
  top: number;
  width: number;
  height: number;
  size: number;
  start: number;
  end: number;
  picture: number | null;
};

/**
 * A segment kept for one answer, as clients see it. `index` is 1-based; `excerpt` at most 500 characters. A selected
 * page is one source, and so is a hit with its neighbours: `segments` are then all that were read of it, and the other
 * fields are of the first of them. Once it is cited, `excerpt` shows what is quoted of it. `answerhood` in [0, 1] is
 * the chance that what is shown of it answers the question, where the extractive reader has estimated it; `passage` is
 * what a refusal shows of it. One of a presentation has its `slide`, counting from 0, one of a workbook the name of its
 * `sheet`, one of a PDF the `page_label` of a page with a name of its own.
 */
export type Source = {
  index: number;
  segment_id: string;
  document_id: string;
  segment_index: number;
  page_idx: number | null;
  title: string;
  heading: string;
  kind: "page" | "search" | "web";
  source_type: string;
  slug: string | null;
  space: Space | null;
  url: string | null;
  score: number;
  excerpt: string;
  start: number;
  end: number;
  metadata: Record<string, unknown>;
  segments?: SourceSegment[];
  answerhood?: number;
  passage?: ShownPassage;
  slide?: number;
  sheet?: string;
  page_label?: string;
};

/** What to change of a source. */
export type SourceChange = {
  /**
   * Who may read it and its documents from the next request on: `user:NAME`, `group:NAME`, or `everyone`. The owner
   * always does.
   */
  readers: string[];
};

/** How many documents there are of a source; of a folder of the server no more than its name is told. */
export type SourceCount = {
  source_id: string;
  kind: string;
  location: string;
  documents: number;
};

/** What went with a source. */
export type SourceDeleted = {
  documents_deleted: number;
};

/** The sources of a workspace, ordered by their location. */
export type SourceList = {
  sources: SyncedSource[];
};

/** A segment of a source, and its span of the canonical text. */
export type SourceSegment = {
  segment_index: number;
  start: number;
  end: number;
};

export type SourcesDisagree = {
  /** The version of the event schema. */
  schema: 1;
  run_id: string;
  session_id: string;
  /** Counts from 1 without gaps. */
  seq: number;
  at: string;
  type: "sources_disagree";
  segment_ids: string[];
  reason: string;
  code: "another_value" | "denied" | null;
  parts: string[];
  positions: Position[];
};

/**
 * Segments that a search found. `servers` are the MCP servers that were searched, none where it was the web.
 * `also_searched` are words of the library that were searched for since it does not know one of the query's.
 */
export type SourcesFound = {
  /** The version of the event schema. */
  schema: 1;
  run_id: string;
  session_id: string;
  /** Counts from 1 without gaps. */
  seq: number;
  at: string;
  type: "sources_found";
  kind: "page" | "search" | "web";
  query: string;
  count: number;
  degraded: string | null;
  why: Why[];
  servers: string[];
  also_searched: string[];
};

/** `sources` is the whole list so far; it only ever grows, so that indices never change. */
export type SourcesGraded = {
  /** The version of the event schema. */
  schema: 1;
  run_id: string;
  session_id: string;
  /** Counts from 1 without gaps. */
  seq: number;
  at: string;
  type: "sources_graded";
  sources: Source[];
  dropped: Dropped[];
  fallback: Failure | null;
};

/** A space of the host's wiki: its id there, and the slug in its URLs. */
export type Space = {
  id: string | null;
  slug: string | null;
};

/** A slice of a document's canonical text. */
export type Span = {
  start: number;
  end: number;
};

/**
 * The usage of a node: model calls (retries count), tokens as the endpoint reports them, milliseconds. `models` are the
 * tokens by the model that was asked; it is left out where none was.
 */
export type Spent = {
  calls: number;
  tokens: number;
  ms: number;
  models?: Record<string, ModelUse>;
};

export type StepFinished = {
  /** The version of the event schema. */
  schema: 1;
  run_id: string;
  session_id: string;
  /** Counts from 1 without gaps. */
  seq: number;
  at: string;
  type: "step_finished";
  step: string;
  ms: number;
};

export type StepStarted = {
  /** The version of the event schema. */
  schema: 1;
  run_id: string;
  session_id: string;
  /** Counts from 1 without gaps. */
  seq: number;
  at: string;
  type: "step_started";
  step: string;
};

/**
 * What a document says of a question: claims whose checks were passed, each with its quotes. `state`: `said`; `nothing`
 * that answers it; `doubted`, where a model said something that its checks did not pass, which is left out; `unasked`,
 * where there was no time, or nobody could be asked.
 */
export type StudyAnswer = {
  document_id: string;
  state: "said" | "nothing" | "doubted" | "unasked";
  claims: SectionClaim[];
  sources: Source[];
};

/** Questions and documents to begin with. `making`: there may be more of them soon. */
export type Suggestions = {
  status: "ready" | "making";
  questions: ProvenQuestion[];
  documents: GuideBeginning[];
};

/** Why a sync ended before its end. */
export type SyncProblem = {
  code: string;
  message: string;
  suggestion: string;
  retryable: boolean;
};

/**
 * What a sync did, or would do. `deleted` counts documents, all other counts files. Files that are unchanged or were
 * only touched are not listed, and neither are those known to be unreadable. `problem` is what ended a sync before its
 * end.
 */
export type SyncReport = {
  source_id: string;
  dry_run: boolean;
  at: string;
  seconds: number;
  counts: Record<string, number>;
  files: FileReport[];
  notes: string[];
  problem?: SyncProblem | null;
};

/** A sync that goes on; its report will be on the source. */
export type SyncStarted = {
  source_id: string;
  syncing: boolean;
};

/** How to sync. */
export type SyncWish = {
  /** Only tell what would happen. */
  dry_run?: boolean;
  /** The share of documents that may be deleted; `1` for all. */
  most_deleted?: number;
};

/**
 * A source. `documents` is the number of its documents, `report` what its last sync did. Every place of it was there at
 * `synced_at`. `owner` and `readers` say who may read it and its documents.
 */
export type SyncedSource = {
  source_id: string;
  kind: "folder" | "git" | "site" | "s3";
  location: string;
  owner: string | null;
  readers: string[] | null;
  options: Record<string, unknown>;
  created_at: string;
  synced_at: string | null;
  report: Record<string, unknown> | null;
  documents: number;
  syncing: boolean;
};

export type TextDelta = {
  /** The version of the event schema. */
  schema: 1;
  run_id: string;
  session_id: string;
  /** Counts from 1 without gaps. */
  seq: number;
  at: string;
  type: "text_delta";
  section_index: number;
  delta: string;
};

export type ThinkingDelta = {
  /** The version of the event schema. */
  schema: 1;
  run_id: string;
  session_id: string;
  /** Counts from 1 without gaps. */
  seq: number;
  at: string;
  type: "thinking_delta";
  delta: string;
};

export type TitleChanged = {
  /** The version of the event schema. */
  schema: 1;
  run_id: string;
  session_id: string;
  /** Counts from 1 without gaps. */
  seq: number;
  at: string;
  type: "title_changed";
  title: string;
};

/** How many documents there are of a media type. */
export type TypeCount = {
  media_type: string;
  documents: number;
};

/**
 * A text that a document has, or had until `replaced_at`. `changed_by` is the user who stored it, None if that was
 * before it was kept.
 */
export type Version = {
  version: number;
  title: string;
  changed_at: string;
  changed_by: string | null;
  replaced_at: string | null;
  replaced_by: string | null;
  current: boolean;
};

/** The versions of a document, the current one first. */
export type VersionList = {
  versions: Version[];
};

/** A reason as clients get it: a stable code, its parts in the order of docs/reasons.md, and an English sentence. */
export type Why = {
  code: string;
  parts: (string | number)[];
  text: string;
};

/** A workspace that a request may choose, by its name in the header `X-Citewell-Workspace`. */
export type Workspace = {
  name: string;
};

/** The workspaces that the credentials allow, `current` is the one that this request was served in. */
export type Workspaces = {
  workspaces: Workspace[];
  current: string;
};
