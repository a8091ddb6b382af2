/**
 * The wire's words as the page uses them: those of the API's description, and names for what it leaves unnamed.
 *
 * Offsets count Unicode code points, end exclusive: those of citations into a document's canonical text, those of
 * claims into their section's text.
 */

import type { Citation, Claim, Source } from "./wire.d.ts";
import type * as Described from "./wire.d.ts";

export type * from "./wire.d.ts";
// Every module names them by this, as Wire.Session, without an import.
export as namespace Wire;

export type Verdict = Claim["verdict"];
export type SourceKind = Source["kind"];
export type Freshness = NonNullable<Citation["freshness"]>;
export type Outcome = NonNullable<Described.SessionMessage["outcome"]>;

/** What a reply is, by the list that it must have. */
interface Replies {
  blocks: Described.Layout;
  boxes: Described.PlaceInOriginal;
  collections: Described.CollectionList;
  data: Described.ModelList;
  deleted: Described.DocumentsDeleted;
  documents: Described.DocumentPage;
  entries: Described.Note;
  files: Required<Described.JobDetail>;
  jobs: Described.JobPage;
  messages: Described.SessionDetail;
  nodes: Described.GraphStructure;
  notes: Described.NoteList;
  restored: Described.DocumentsRestored;
  results: Described.SearchResults;
  runs: Described.RunList;
  segments: Described.RawText;
  sentences: Described.Guide;
  sessions: Described.SessionList;
  shares: Described.ShareList;
  types: Described.LibrarySummary;
  versions: Described.VersionList;
  workspaces: Described.Workspaces;
}

/** Of any other reply nothing is known. */
export type ReplyWith<List extends string> = List extends keyof Replies ? Replies[List] : any;
