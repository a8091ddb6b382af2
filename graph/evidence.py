"""Types for stored segments, and for an answer with its sources, claims and proofs.

Rows in graph state or events are ``TypedDict``s of builtins; values that only pass between ports are frozen
dataclasses. Every offset counts Unicode code points of a document's canonical text, end exclusive, unless its type
says otherwise.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from sys import intern
from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from graph.reasons import Why

Verdict = Literal["supported", "contradicted", "unsupported", "unverified"]
Origin = Literal["cited", "matched"]
VerdictSource = Literal["text", "judge"]  # code that compares texts, or a judge
Mark = Literal[
    "shown",  # a reader sees a mark behind the claim: its passages bear it, as far as anyone competent says
    "pending",  # a judge has yet to speak
    "withheld",  # somebody doubts the claim, or nothing proves it
]
SourceKind = Literal["page", "search", "web"]
Outcome = Literal["answered", "abstained", "failed", "cancelled"]
FamilyName = Literal["extractive", "llm"]
Intent = Literal["content_query", "small_talk", "about_library"]
SearchMode = Literal["auto", "always", "off"]
WebMode = Literal["off", "fallback", "also", "first"]
Effort = Literal["fast", "balanced", "thorough"]
AnswerFrom = Literal["library", "library_then_model", "model"]
Release = Literal["checked", "judged"]
WhileRunning = Literal["reject", "enqueue", "interrupt"]
NoticeCode = Literal["quotes_only", "add_model"]  # fixed lines of a family without a model
DisagreementCode = Literal["another_value", "denied"]
Freshness = Literal["fresh", "moved", "changed", "deleted", "withheld"]
DatedBy = Literal["document", "library", ""]  # its own date, or the day on which the library last stored it
BlockKind = Literal[
    "heading",
    "paragraph",
    "list_item",
    "table_row",
    "code",
    "quote",
    "term",  # of a definition list, the signature of a function, the name of an option
    "caption",  # of a table, figure or code block
    "label",  # of an admonition: "Note", "Deprecated since version 2"
    "footnote",
    "contents",  # a line of a table of contents or of an index, which answers nothing
]
ContextRole = Literal[
    "heading",
    "term",
    "caption",
    "header",  # the row that names the columns
    "label",
    "lead",  # the sentence that introduces a list or code, or the item that a nested one belongs to
    "before",  # the sentence that "it" or "this" points to
]
StopReason = Literal[
    "answer_complete",  # sections were written from sources
    "no_retrieval_needed",  # answered directly
    "answered_from_catalogue",  # a question about the library itself: its documents, their names and dates
    "not_in_library",  # answered from the model's own knowledge, since the sources hold no answer
    "library_empty",  # nothing was found, since the reader's library holds no document yet
    "nothing_found",  # no gathering node found a candidate
    "search_failed",  # the web could not be searched, and nothing else found a candidate
    "nothing_relevant",  # there were candidates, but none is relevant
    "library_not_allowed",  # the question needs the library and search was off
    "insufficient_evidence",  # sources were kept, but the writer found no answer in them
    "claims_not_supported",  # an answer was written, but its sources support none of it
    "repairs_used_up",  # answered without the claims that failed and that no repair fixed
    "budget_model_calls",  # answered or abstained with steps skipped, since a cap was reached
    "budget_seconds",
    "budget_tokens",
    "budget_day",  # so did a limit on what may be spent in a day
    "cancel_requested",
    "client_disconnected",
    "interrupted",  # replaced by another question of the session
    "server_stopped",
    "error",
]


# How a document names its readers: everybody in its workspace, or users and groups.
EVERYONE = "everyone"
USER = "user:"
GROUP = "group:"


@dataclass(frozen=True, slots=True)
class Identity:
    """The tenant and the user of a request. Every read and write of stored rows is scoped to one identity.

    ``groups`` are the user's as the credentials name them: documents may have groups as readers. The other fields
    narrow what it may do: ``spaces`` are the ids or slugs of the only spaces whose documents it reads and writes, None
    for all. ``is_shared``: strangers to each other act as this user, so that only the id of a session opens it.
    ``assigns_owners``: it may give documents to other users. ``reads_files``: of documents that it may read, it may
    read the files as well.
    """

    workspace: str = "default"
    user: str = "local"
    groups: tuple[str, ...] = ()
    spaces: tuple[str, ...] | None = None
    is_shared: bool = field(default=False, compare=False)
    assigns_owners: bool = field(default=True, compare=False)
    reads_files: bool = field(default=True, compare=False)

    @property
    def readers(self) -> list[str]:
        """The readers that documents may name to let this identity read them."""
        return [EVERYONE, USER + self.user, *(GROUP + group for group in self.groups)]


class Space(TypedDict):
    """A space of the host's wiki: its id there, and the slug in its URLs."""

    id: str | None
    slug: str | None


@dataclass(frozen=True, slots=True)
class ContextSlice:
    """A slice of canonical text that an entry hangs on, and what it is to the entry; it may be in another segment.

    Those of one entry are in order, the outermost first: the path of headings above it, then what it hangs on there.
    """

    role: ContextRole
    start: int
    end: int
    text: str


def nearest_heading(context: Sequence[ContextSlice]) -> str:
    """Return the heading right above what hangs on these slices, "" if there is none; outer ones come before it."""
    return next((each.text for each in reversed(context) if each.role == "heading"), "")


def without_outer_headings(context: Sequence[ContextSlice]) -> Sequence[ContextSlice]:
    """Return the slices without the headings that come before the nearest one."""
    nearest = max((at for at, each in enumerate(context) if each.role == "heading"), default=0)
    return context[nearest:]


@dataclass(frozen=True, slots=True)
class SegmentBlock:
    """The part of a parsed block that is in a segment, in offsets of the canonical text.

    ``context`` is what the whole block hangs on, the outermost first; ``anchor`` its id in the file, for links, or "".
    ``depth`` is how deep a heading stands among headings, from 1; 0 of other blocks, and where it was stored without.
    """

    start: int
    end: int
    kind: BlockKind
    context: tuple[ContextSlice, ...] = ()
    anchor: str = ""
    depth: int = 0


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Segment:
    """A contiguous slice of canonical text, with its location in the document.

    ``text == canonical_text[start:end]``. ``page_idx`` is 0-based, or None where the format has no pages; ``heading``
    is the path of headings above the segment, joined by " > ". ``blocks`` are in order and do not overlap; there are
    none where the segment was stored without its structure. ``updated_at`` is when the document was last stored (ISO
    8601, UTC), and ``content_hash`` is the same for copies of one text under one title; ``media_type`` is the format
    that the document was read as; "" where they are not known.
    """

    document_id: str
    segment_index: int
    start: int
    end: int
    text: str
    page_idx: int | None = None
    heading: str = ""
    tokens: int = 0
    title: str = ""
    source_type: str = "document"
    slug: str | None = None
    space: Space | None = None
    url: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    blocks: tuple[SegmentBlock, ...] = ()
    updated_at: str = ""
    content_hash: str = ""
    media_type: str = ""

    @property
    def segment_id(self) -> str:
        # Interned: a run asks for it dozens of times, and keeps what it gets.
        return intern(f"{self.document_id}:{self.segment_index}")


@dataclass(frozen=True, slots=True)
class Page:
    """A document read whole: its segments in order, which join to its canonical text."""

    document_id: str
    title: str
    segments: tuple[Segment, ...]


@dataclass(frozen=True, slots=True)
class Hit:
    """A segment that a search returned, with its calibrated relevance in [0, 1].

    ``own_score`` is the score that it was found with, 0 for a neighbour added to another hit. ``around`` has the
    segment by its id, joined with its neighbours, where they were read too. ``copies`` are the ids of segments of older
    documents with the same text, the newest first. ``whole``: the question asks for all that it says. ``turn`` is its
    place among what its wording found, from 0, where there were several.
    """

    segment: Segment
    score: float
    kind: SourceKind = "search"
    own_score: float = 0.0
    around: Mapping[str, Segment] | None = None
    copies: tuple[str, ...] = ()
    whole: bool = False
    turn: int = 0

    @property
    def segment_id(self) -> str:
        return self.segment.segment_id

    @property
    def wide(self) -> Segment:
        """The segment joined with its neighbours, as far as they were read."""
        return self.segment if self.around is None else self.around.get(self.segment_id, self.segment)


Asks = Literal["list", "find", "changed", "mention", "edit"]


class LibraryQuestion(TypedDict):
    """What a question asks about the library itself: its documents, newest first.

    ``changed`` are those added or changed from the day ``since`` to the day ``until`` (ISO 8601, UTC), ``find`` those
    whose title or file name has ``name``, or is it where the name ``is_file``, ``mention`` those in whose text it is.
    ``edit`` is no question but an order to change files or folders: of the file that it names. ``media_type`` keeps one
    format, "" all.
    """

    asks: Asks
    name: str
    is_file: bool
    media_type: str
    since: str
    until: str


class Span(TypedDict):
    """A slice of a document's canonical text."""

    start: int
    end: int


class Proof(TypedDict):
    """A span of a cited segment that bears a claim: whole entries, in offsets of the canonical text.

    ``highlight`` is the entry in it that bears the claim, where it is a passage of several. ``copies`` are the ids of
    segments of older documents that hold a copy of it, or almost one.
    """

    segment_id: str
    start: int
    end: int
    origin: Origin
    highlight: NotRequired[Span]
    copies: NotRequired[list[str]]


class Section(TypedDict):
    """One paragraph of the answer and the segment ids it cites, in citation order.

    ``grounded`` is False for text from the model's own knowledge, which cites nothing and is not checked. ``passage``
    is what a section that only quotes shows. A ``notice`` is a fixed line about the answer, and no part of it: the
    question asks for more than quotes, or how a model is added. ``marks`` are the sentences of a finished section
    behind which a mark stands, by their offsets in its text.
    """

    text: str
    source_ids: list[str]
    grounded: NotRequired[bool]
    passage: NotRequired[Proof]
    notice: NotRequired[NoticeCode]
    marks: NotRequired[list[Span]]


def section_of(
    text: str,
    source_ids: Sequence[str],
    *,
    grounded: bool = True,
    passage: Proof | None = None,
    notice: NoticeCode | None = None,
) -> Section:
    """Return a section with those of its fields that say something of it."""
    section = Section(text=text, source_ids=list(source_ids))
    if not grounded:
        section["grounded"] = False
    if passage is not None:
        section["passage"] = passage
    if notice is not None:
        section["notice"] = notice
    return section


class NearPassage(TypedDict):
    """A passage of a candidate that was not kept, and the chance in [0, 1] that it answers."""

    proof: Proof
    answerhood: float


class CitationContext(TypedDict):
    """A slice of the canonical text that a quote hangs on, such as the term that it defines."""

    role: ContextRole | Literal["governs"]  # of what takes a quote back, in answers that earlier releases stored
    start: int
    end: int
    text: str


class ShownPassage(TypedDict):
    """The passage of a source that comes nearest to a question which was refused, in the form of a citation.

    ``text`` is the quote as Markdown, as an answer would show it.
    """

    start: int
    end: int
    quote: str
    text: str
    highlight: NotRequired[Span]
    heading_path: list[str]
    context: list[CitationContext]


class SourceSegment(TypedDict):
    """A segment of a source, and its span of the canonical text."""

    segment_index: int
    start: int
    end: int


class Source(TypedDict):
    """A segment kept for one answer, as clients see it. ``index`` is 1-based; ``excerpt`` at most 500 characters.

    A selected page is one source, and so is a hit with its neighbours: ``segments`` are then all that were read of it,
    and the other fields are of the first of them. Once it is cited, ``excerpt`` shows what is quoted of it.
    ``answerhood`` in [0, 1] is the chance that what is shown of it answers the question, where the extractive reader
    has estimated it; ``passage`` is what a refusal shows of it. One of a presentation has its ``slide``, counting from
    0, one of a workbook the name of its ``sheet``, one of a PDF the ``page_label`` of a page with a name of its own.
    """

    index: int
    segment_id: str
    document_id: str
    segment_index: int
    page_idx: int | None
    title: str
    heading: str
    kind: SourceKind
    source_type: str
    slug: str | None
    space: Space | None
    url: str | None
    score: float
    excerpt: str
    start: int
    end: int
    metadata: dict[str, Any]
    segments: NotRequired[list[SourceSegment]]
    answerhood: NotRequired[float]
    passage: NotRequired[ShownPassage]
    slide: NotRequired[int]
    sheet: NotRequired[str]
    page_label: NotRequired[str]


class Place(TypedDict):
    """The location of a quote in the current text. ``segment_id`` is the segment in which it begins."""

    segment_id: str
    segment_index: int
    page_idx: int | None
    start: int
    end: int


class Copy(TypedDict):
    """An older document that says what a passage says, in the same words or almost, with its title and date.

    The date is ISO 8601, as far as it is known; "" where the documents are all of one date, which tells nothing. It
    ``differs`` where what is highlighted of the passage does not stand in it word for word.
    """

    segment_id: str
    document_id: str
    title: str
    date: str
    dated_by: DatedBy
    differs: bool


class Citation(TypedDict):
    """A proof of a claim. It exists only where ``canonical_text[start:end] == quote``.

    ``highlight`` is the entry in the quote that bears the claim, where the quote is a passage of several;
    ``heading_path`` has the headings above that entry, the outermost first. ``context`` is what the quote hangs on,
    the outermost first. ``anchor`` is the id of its place in the page that the document was taken from, where the
    document has a url. ``copies`` are other documents with a copy of the quote; then ``date`` is that of the
    quote's own document, "" where their dates tell nothing. ``slide``, ``sheet`` and ``cell`` are where it stands
    in a presentation or a workbook; slides count from 0. ``page_label`` is as in a Source. When an old session is
    read, ``freshness`` shows whether the quote is fresh, moved, changed or deleted, and ``now`` is its current
    location, if the offsets or the segment number have changed. It is withheld, and empty, where the reader may no
    longer read its document. In the list of a finished message ``mark`` is that of its claim.
    """

    segment_id: str
    document_id: str
    segment_index: int
    page_idx: int | None
    start: int
    end: int
    quote: str
    origin: Origin
    verdict: Verdict
    source_index: int
    section_index: int
    highlight: NotRequired[Span]
    heading_path: NotRequired[list[str]]
    context: NotRequired[list[CitationContext]]
    anchor: NotRequired[str]
    copies: NotRequired[list[Copy]]
    date: NotRequired[str]
    dated_by: NotRequired[DatedBy]
    slide: NotRequired[int]
    sheet: NotRequired[str]
    cell: NotRequired[str]
    page_label: NotRequired[str]
    freshness: NotRequired[Freshness]
    now: NotRequired[Place]
    mark: NotRequired[Mark]


class ExamFigure(TypedDict):
    """A judge's result in the held-out half of an exam in one language: right verdicts out of all."""

    language: str
    right: int
    of: int


class CodeFinding(TypedDict):
    """What code said of a claim before a judge did: its verdict, whether the claim had no mark by it, and why."""

    verdict: Verdict
    doubted: bool
    why: list[Why]


class JudgeMark(TypedDict):
    """The judge that spoke of a claim: the name of its model, and its result in the exam of the claim's language.

    ``exam`` is None until it has passed: what it then ``says`` may take a mark away, but proves nothing. ``version``,
    ``language`` (ISO 639-1) and ``probability`` are what it takes to decide on the claim once it has passed, ``code``
    what counts once it has failed; of that, earlier releases stored ``doubted`` alone.
    """

    model: str
    exam: ExamFigure | None
    says: NotRequired[Verdict]
    version: NotRequired[str]
    language: NotRequired[str]
    probability: NotRequired[float | None]
    code: NotRequired[CodeFinding]
    doubted: NotRequired[bool]


class Claim(TypedDict):
    """One sentence of a section, the unit of checking. Offsets are into the section's text.

    ``by`` is who gave the verdict; an ``unverified`` claim of which no judge has spoken has none. ``judge`` is there
    where a judge spoke of it. ``mark`` is whether a reader sees a mark behind it; messages of earlier releases lack it.
    ``why`` are the reasons again, with their codes and parts.
    """

    start: int
    end: int
    text: str
    verdict: Verdict
    reasons: list[str]
    citations: list[Citation]
    by: NotRequired[VerdictSource]
    judge: NotRequired[JudgeMark]
    mark: NotRequired[Mark]
    why: NotRequired[list[Why]]


class SectionClaim(Claim):
    """A claim with the index of its section, as the finished message lists it."""

    section_index: int


class Position(TypedDict):
    """What one of several sources that contradict each other says: an exact quote, and in it the value that differs.

    ``date`` (ISO 8601, as far as it is known) is the document's own, or the day on which the library last stored it.
    """

    segment_id: str
    document_id: str
    title: str
    start: int
    end: int
    quote: str
    value: str
    date: str
    dated_by: DatedBy


class Disagreement(TypedDict):
    """Sources that contradict each other, with a human-readable reason.

    ``code`` says in what: ``another_value``, whose ``parts`` are the values, or ``denied``, that one says "not". Values
    and ``positions`` are in one order, the newest source first.
    """

    segment_ids: list[str]
    reason: str
    code: NotRequired[DisagreementCode]
    parts: NotRequired[list[str]]
    positions: NotRequired[list[Position]]


class Assessment(TypedDict):
    """The assessment of an answer by its verdicts. ``supported``: no claim is doubted and at least one was proven.

    ``utility`` in [0, 1] is derived from verdicts, coverage of the question and outcome; ``model_score`` is a model's
    opinion, None unless one was asked. ``answerhood`` in [0, 1] is the chance that what is shown answers the question,
    which no verdict says: the extractive reader's, calibrated, or else ``model_score``; None where nobody estimated it.
    """

    supported: bool
    utility: float
    claims: dict[Verdict, int]
    reason: str
    model_score: float | None
    answerhood: NotRequired[float | None]
    why: NotRequired[list[Why]]


class Failure(TypedDict):
    """A failure for which a fallback was used: its code, and a sentence about what was done instead.

    ``why`` is what was done instead, with its code.
    """

    code: str
    message: str
    suggestion: NotRequired[str]
    why: NotRequired[list[Why]]


class ModelUse(TypedDict):
    """What was used of one model. ``cached_tokens`` of its ``input_tokens`` came from the endpoint's prompt cache.

    ``estimated_calls`` of its ``calls`` are those whose endpoint reported no tokens, so that they are estimated.
    """

    calls: int
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    estimated_calls: int


def add_use(total: dict[str, ModelUse], model: str, use: ModelUse) -> None:
    """Add what was used of a model to a total by model, in place."""
    before = total.get(model)
    total[model] = use if before is None else _sum(before, use)


def _sum(one: ModelUse, other: ModelUse) -> ModelUse:
    return ModelUse(
        calls=one["calls"] + other["calls"],
        input_tokens=one["input_tokens"] + other["input_tokens"],
        cached_tokens=one["cached_tokens"] + other["cached_tokens"],
        output_tokens=one["output_tokens"] + other["output_tokens"],
        estimated_calls=one["estimated_calls"] + other["estimated_calls"],
    )


class Spent(TypedDict):
    """The usage of a node: model calls (retries count), tokens as the endpoint reports them, milliseconds.

    ``models`` are the tokens by the model that was asked; it is left out where none was.
    """

    calls: int
    tokens: int
    ms: float
    models: NotRequired[dict[str, ModelUse]]


class Cost(TypedDict):
    """What a run cost: an exact decimal number in units of ``currency`` (ISO 4217).

    ``unpriced`` are the models that it used and that have no price, so that the amount is without them; ``estimated``
    says that the tokens of some calls are estimated.
    """

    amount: str
    currency: str
    unpriced: list[str]
    estimated: bool


class PageUse(TypedDict):
    """A selected document: how many of its segments were read (``segments``), and how many it has (``of``)."""

    document_id: str
    title: str
    segments: int
    of: int


class PagesRead(TypedDict):
    """What was read of the selected documents: those read whole, those read in part, and the ids of the others."""

    used: list[PageUse]
    cut: list[PageUse]
    unused: list[str]


class MissingPage(TypedDict):
    """A page that there is not, counted from 1, and the last one there is: of the document with the ``title``.

    Without a title it is that of the longest document in question.
    """

    page: int
    pages: int
    title: str


class Refusal(TypedDict):
    """What a refusal says: its code, which is the stop reason of its run, and the queries that were searched for.

    ``library`` is False where the library was not searched. ``web_failed`` is True where what lies outside of it could
    not be searched. ``written_in`` are languages (ISO 639-1) of the library that it was not searched in. ``notices`` is
    what a family without a model says of itself, in order; left out where it says nothing. ``missing_page`` is there
    where the question is about a page that there is not.
    """

    code: StopReason
    tried: list[str]
    library: bool
    web_failed: bool
    written_in: list[str]
    notices: NotRequired[list[NoticeCode]]
    missing_page: NotRequired[MissingPage]


class Message(TypedDict):
    """The finished answer as stored and sent. ``nearest`` is what an abstention shows instead of sources.

    ``refusal`` has the parts of what an abstention says; ``pages`` is there where documents were selected.
    """

    answer: str
    sections: list[Section]
    citations: list[Citation]
    sources: list[Source]
    nearest: NotRequired[list[Source]]
    family: NotRequired[FamilyName]
    claims: NotRequired[list[SectionClaim]]
    assessment: NotRequired[Assessment]
    disagreements: NotRequired[list[Disagreement]]
    refusal: NotRequired[Refusal]
    pages: NotRequired[PagesRead]


def answer_text(sections: list[Section]) -> str:
    """Join section texts into the plain answer, with a blank line between them; withdrawn ones are left out."""
    return "\n\n".join(section["text"] for section in sections if section["text"])
