/** The names that most modules speak of, so that none has to say again where they are defined. */

export {};

declare global {
  // What the page knows and shows.
  type App = import("./state/app.js").App;
  type Reading = import("./state/app.js").Reading;
  type Notice = import("./state/app.js").Notice;
  type Cell<T> = import("./state/cell.js").Cell<T>;
  type Turn = import("./state/turns.js").Turn;
  type RunView = import("./state/run.js").RunView;
  type Answer = import("./state/run.js").Answer;
  type Step = import("./state/run.js").Step;
  type SectionView = import("./state/sections.js").SectionView;
  /** The view of a turn, or of a part of it; `answering` while the session answers any question. */
  type TurnView = { element: HTMLElement; show: (turn: Turn, answering?: boolean) => void };
  type Shelf = import("./state/shelf.js").Shelf;
  type Content = import("./state/document.js").Content;
  type Passage = import("./text/passages.js").Passage;
  type PdfDocument = import("./vendor/pdf/pdf.js").PdfDocument;
  type Placed = import("./views/layout_blocks.js").Placed;
  /** A way of showing a document. */
  type View = {
    element: HTMLElement;
    /** What scrolls of it, if not all. */
    scroller?: HTMLElement;
    /** What stands between its parts in a text that is selected over several. */
    between?: string;
    /** Buttons of its own. */
    tools?: HTMLElement[];
    /** The parts that text is selected in, in order. */
    segments: () => readonly HTMLElement[];
    /** Begins what takes time. */
    prepare?: (document: Wire.Document, signal: AbortSignal) => void;
    show: (content: Content, signal: AbortSignal) => Promise<void>;
    mark: (passages: Passage[], current: Passage | null) => void;
    /** Brings what is marked most into sight. */
    reveal: (passage: Passage, signal: AbortSignal) => Promise<void>;
  };
  /** What can be done with documents from anywhere on the shelf. */
  type ShelfActions = {
    tick: (documents: KnownDocument[], ticked: boolean) => Promise<void>;
    /** Tick what is on show, or a folder of it. */
    tickAll: (folder?: string) => Promise<void>;
    /** Read one at what was found in its text, if anything was. */
    read: (document: KnownDocument, found?: Source) => void;
    delete: (documents: KnownDocument[]) => Promise<void>;
    /** Show the card of one. */
    about: (document: Wire.Document) => void;
    /** Move the focus to one. */
    find: (id: string) => void;
  };
  type KnownDocument = { document_id: string; title: string; tokens?: number };
  type IconName = import("./views/icons.js").IconName;
  type Child = import("./dom.js").Child;

  // What comes over the wire.
  type Client = import("./api/client.js").Client;
  type Account = import("./api/types.js").Account;
  type Session = import("./api/types.js").Session;
  type SessionHit = import("./api/types.js").SessionHit;
  type NewRun = import("./api/types.js").NewRun;
  type RunEvent = import("./api/types.js").RunEvent;
  type Source = import("./api/types.js").Source;
  type Claim = import("./api/types.js").Claim;
  type Citation = import("./api/types.js").Citation;
  type Spent = import("./api/types.js").Spent;
  type Cost = import("./api/types.js").Cost;
  type Outcome = import("./api/types.js").Outcome;
  type Feedback = import("./api/types.js").Feedback;
}
