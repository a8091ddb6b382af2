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
