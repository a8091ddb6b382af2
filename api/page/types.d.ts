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
  type TurnView = import("./views/turn.js").TurnView;
  type Shelf = import("./state/shelf.js").Shelf;
  type Content = import("./state/document.js").Content;
  type Passage = import("./text/passages.js").Passage;
  type PdfDocument = import("./vendor/pdf/pdf.js").PdfDocument;
  type Placed = import("./views/layout_blocks.js").Placed;
  type View = import("./views/reader_views.js").View;
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
