"""Protocols of the graph's dependencies, and the resources that bind live implementations to nodes.

Two families, ``tools/llm`` and ``tools/extractive``, implement the ports that read and write language; each
implementation passes its port's kit in ``tests/contract``. Unless a port documents otherwise, it raises
``DependencyFailed`` or a subclass when its backend fails. When the meter is empty, only ``revise`` and ``assess`` raise
``BudgetExhausted``; every other port works by rule instead, with the reason in ``fallback``.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Protocol

from graph.evidence import (
    Asks,
    Effort,
    ExamFigure,
    Failure,
    FamilyName,
    Hit,
    Identity,
    Intent,
    LibraryQuestion,
    NearPassage,
    NoticeCode,
    Origin,
    Page,
    Proof,
    SearchMode,
    Segment,
    Verdict,
)
from graph.rows import Places, Turn
from graph.usage import Meter


@dataclass(frozen=True, slots=True)
class Preparation:
    """A prepared question: standalone, with the decision whether the library is needed.

    ``search_queries`` are searched for beside the question itself, by their language (ISO 639-1): in the library's
    other languages, and in its own as it was asked where it may not be the follow-up that it looks like.
    ``sub_questions`` are what a question that joins or compares several has to be looked up for, each in words that
    stand alone; none for a single one. ``beyond_quotes`` is what a family that only quotes does instead, where the
    question asks for work on the texts, such as a summary. ``about_library`` is what a model takes a question to ask of
    the catalogue, for which the rules had no word.
    """

    standalone_question: str
    needs_retrieval: bool
    reason: str
    intent: Intent
    language: str  # ISO 639-1 of the question
    fallback: Failure | None = None
    search_queries: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    sub_questions: tuple[str, ...] = ()
    beyond_quotes: Failure | None = None
    about_library: Asks | None = None


class QuestionPreparer(Protocol):
    async def prepare(
        self,
        question: str,
        turns: Sequence[Turn],
        *,
        search: SearchMode,
        has_pages: bool,
        general_knowledge: bool,
        search_languages: Sequence[str] = (),
        meter: Meter,
    ) -> Preparation:
        """Make the question standalone and decide whether to retrieve, in at most one model call.

        With ``general_knowledge`` a question that any model knows the answer to needs no retrieval.
        ``search_languages`` are those of the library (ISO 639-1, the most common first), none where they do not matter:
        a model that is asked words the search in each of them but the question's own. It is asked for that alone only
        where the question is in none of them. An unreadable reply falls back to retrieving for the question as asked,
        with the reason in ``fallback``.
        """
        ...


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A search query and its scope. Empty ``document_ids`` and ``spaces`` (ids or slugs) mean everywhere."""

    text: str
    identity: Identity
    top_k: int = 10
    min_score: float = 0.3
    spaces: tuple[str, ...] = ()
    document_ids: tuple[str, ...] = ()
    expand: int = 1


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Hits, best first. ``degraded`` is one sentence about a search leg that did not answer, or None.

    ``also_searched`` are known words that stood in for others of the query, which the library does not know.
    """

    hits: tuple[Hit, ...]
    degraded: str | None = None
    also_searched: tuple[str, ...] = field(default=(), kw_only=True)


class SegmentSearcher(Protocol):
    async def search(self, query: SearchQuery) -> SearchResult:
        """Return the segments relevant to a query, among those its identity may read.

        Scores are calibrated to [0, 1], descending, and none is below ``min_score``. At most ``top_k`` segments are
        found by score; each may add up to ``expand`` neighbours from its document on either side.
        """
        ...


class SegmentReader(Protocol):
    async def read_segments(self, segment_ids: Sequence[str], identity: Identity) -> list[Segment]:
        """Return segments in the order of their ids; ids that the identity may not read are left out."""
        ...

    async def read_pages(self, document_ids: Sequence[str], identity: Identity) -> list[Page]:
        """Return whole documents in the order of their ids; ids that the identity may not read are left out."""
        ...


class WebSearcher(Protocol):
    async def search_web(
        self, query: str, identity: Identity, *, top_k: int, min_score: float, seconds: float | None
    ) -> SearchResult:
        """Search the web and store the results, so that citations of them stay provable for a limited time.

        Hits are segments of the stored web documents with ``kind="web"``, best first. ``seconds`` is the time the run
        has left, None for no cap. Raises WebUnavailable where the search itself fails; a result page that can't be
        read is left out and named in ``degraded``.
        """
        ...


@dataclass(frozen=True, slots=True)
class ServerFailure:
    """An MCP server that failed: its name, the error's code, and a sentence that names it."""

    server: str
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class McpSearchResult(SearchResult):
    """Hits of all ``servers`` that answered, and the ``failures`` of the others."""

    failures: tuple[ServerFailure, ...] = ()
    servers: tuple[str, ...] = ()


class McpSearcher(Protocol):
    @property
    def servers(self) -> tuple[str, ...]:
        """The names of the servers, in the order of the settings."""
        ...

    async def search_mcp(
        self, query: str, identity: Identity, *, top_k: int, min_score: float, seconds: float | None
    ) -> McpSearchResult:
        """Search the configured MCP servers side by side, and store the results as those of the web are.

        Hits are segments of the stored documents with ``kind="web"``, best first. A server that fails is named in
        ``failures``, and what can't be read of another's results in ``degraded``; neither stops the others.
        """
        ...


class PassageFinder(Protocol):
    async def find_passage(
        self, text: str, document_ids: Sequence[str], identity: Identity, *, session_id: str = ""
    ) -> list[Segment]:
        """Return the segments that contain a passage selected by a reader, in reading order, so that it can be cited.

        The passage is looked up in the given documents, or where none is given in the library, ignoring white space and
        the notation of Markdown; if none contains it, it is stored as a separate document of that user, which is
        deleted with the session, or outside of any after a day.
        """
        ...


class PlaceFinder(Protocol):
    async def find(
        self, question: str, identity: Identity, *, spaces: Sequence[str] = (), document_ids: Sequence[str] = ()
    ) -> Places | None:
        """Return the places and documents that a question names, among those its identity may read; None for none.

        Those are pages by number, what begins as the question says ("clause 14", "Điều 5"), sheets by name, and
        documents by the name of their file or by their date. Empty ``document_ids`` and ``spaces`` mean everywhere.
        """
        ...


@dataclass(frozen=True, slots=True)
class ListedDocument:
    """A document of the catalogue. ``place`` is its file path, its address or its space, "" where it has none."""

    document_id: str
    title: str
    place: str
    created_at: datetime
    updated_at: datetime
    author: str = ""
    pages: int | None = None
    size: int | None = None  # bytes of its file


@dataclass(frozen=True, slots=True)
class Listing:
    """Documents, the most recently changed first, of ``total`` in all, or ``at_least`` so many."""

    documents: tuple[ListedDocument, ...]
    total: int
    at_least: bool = False


class LibraryLanguages(Protocol):
    async def __call__(self, identity: Identity) -> tuple[str, ...]:
        """Return the languages of what the identity may read (ISO 639-1), the most common first; () if unknown."""
        ...


class Catalogue(Protocol):
    async def recognise(
        self,
        question: str,
        turns: Sequence[Turn],
        identity: Identity,
        *,
        spaces: Sequence[str] = (),
        alone: bool = True,
    ) -> LibraryQuestion | None:
        """Return what a question asks about the library itself, None where it is one for the contents of documents.

        A question that only seems to name a document, as "Where is pg_hba.conf?" may, is one for the contents unless
        there is such a document. ``turns`` are those before, the last of which it may follow up. ``alone`` is False
        where a conversation, a selection or the model's own knowledge may be meant.
        """
        ...

    async def list(
        self, asked: LibraryQuestion, identity: Identity, *, spaces: Sequence[str] = (), most: int = 20
    ) -> Listing:
        """List the documents asked for that the identity may read, ``most`` at most; empty ``spaces`` mean all."""
        ...


@dataclass(frozen=True, slots=True)
class Grading:
    """The ids of relevant candidates with their scores, best first, and of dropped ones with the reason.

    ``chose_in_pages``: the grader has read every sentence of the selected pages and kept those segments that answer.
    Without it the graph keeps every selected page, whatever was dropped. ``answerable`` is the calibrated chance that
    the candidates hold the answer, in [0, 1]; None from a grader that does not estimate it. ``nearest`` are the
    passages that come nearest to an answer where none is kept, likeliest first, from a grader that reads passages.
    ``beyond_quotes``: the question asks for work on the texts, such as a count, which the family does not do and no
    candidate says.
    """

    kept: tuple[tuple[str, float], ...]
    dropped: tuple[tuple[str, str], ...] = ()
    fallback: Failure | None = None
    chose_in_pages: bool = False
    answerable: float | None = None
    nearest: tuple[NearPassage, ...] = ()
    beyond_quotes: bool = False


class RelevanceGrader(Protocol):
    async def grade(self, question: str, candidates: Sequence[Hit], *, meter: Meter) -> Grading:
        """Grade the candidates as one batch and keep those relevant to the question.

        Every candidate is either kept or dropped, none twice, and no id is added. An unreadable reply keeps the
        candidates by their search score, with the reason in ``fallback``.
        """
        ...


@dataclass(frozen=True, slots=True)
class Rewriting:
    """Another search query for a question, and why it may find more; empty where there is none.

    ``beside`` are the same in other languages, which the library is searched for too.
    """

    query: str
    reason: str
    fallback: Failure | None = None
    beside: tuple[str, ...] = ()


class QueryRewriter(Protocol):
    async def rewrite(
        self, question: str, tried: Sequence[str], *, languages: Sequence[str], meter: Meter
    ) -> Rewriting:
        """Rewrite the question as a search query that was not tried yet, in the first of these languages (ISO 639-1).

        A model also words it in each of the others.
        A reply that is unreadable or repeats a query falls back to rewriting by rule, with the reason in ``fallback``.
        """
        ...


@dataclass(frozen=True, slots=True)
class DraftOpened:
    """The start of a section. ``fallback`` is why something simpler than the family's writer writes it.

    ``source_ids`` are the offered ids that the section cites, where they are known before its text, else None; ids
    that its writer adds within the text are in ``DraftClosed`` only.
    """

    fallback: Failure | None = None
    source_ids: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class DraftText:
    """More text of the open section."""

    delta: str


@dataclass(frozen=True, slots=True)
class DraftClosed:
    """The end of the open section. Joined deltas equal ``text``; ``source_ids`` hold only offered ids, none twice.

    ``passage`` is what the section shows where it only quotes; its text is then that passage as Markdown. A ``notice``
    is a fixed line, which nothing is to be checked of.
    """

    text: str
    source_ids: tuple[str, ...]
    unknown_ids: int = 0
    passage: Proof | None = None
    notice: NoticeCode | None = None


@dataclass(frozen=True, slots=True)
class DraftThinking:
    """Thinking of a reasoning model; never part of the answer."""

    delta: str


Draft = DraftOpened | DraftText | DraftClosed | DraftThinking
Drafts = AsyncGenerator[Draft, None]  # of one answer; closing it ends the writing


def fixed_section(text: str, *, notice: NoticeCode | None = None, fallback: Failure | None = None) -> tuple[Draft, ...]:
    """Return the drafts of a section that is written at once and cites nothing."""
    return DraftOpened(fallback, ()), DraftText(text), DraftClosed(text, (), notice=notice)


@dataclass(frozen=True, slots=True)
class FaultyClaim:
    """A claim that failed the check, with the reasons for its verdict."""

    text: str
    verdict: Verdict
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FaultySection:
    """A section to revise, with its failed claims."""

    section_index: int
    text: str
    claims: tuple[FaultyClaim, ...]


@dataclass(frozen=True, slots=True)
class Revision:
    """A revised section; an empty text withdraws it. ``source_ids`` contain only offered ids."""

    section_index: int
    text: str
    source_ids: tuple[str, ...]
    unknown_ids: int = 0


class AnswerWriter(Protocol):
    def write(self, question: str, sources: Sequence[Hit], *, language: str, meter: Meter) -> Drafts:
        """Write the answer in sections that cite the sources; no section means that they don't answer the question.

        Raises ModelReplyInvalid where the reply ends without a readable section.
        """
        ...

    async def revise(
        self, question: str, faulty: Sequence[FaultySection], sources: Sequence[Hit], *, language: str, meter: Meter
    ) -> list[Revision]:
        """Revise faulty sections from the sources, all of them in at most one model call.

        A section missing from the result stays unchanged. Raises ModelReplyInvalid where the reply is unreadable.
        """
        ...

    def converse(
        self,
        question: str,
        turns: Sequence[Turn],
        *,
        language: str,
        intent: Intent,
        own_knowledge: bool,
        meter: Meter,
    ) -> Drafts:
        """Reply without the library, such as to small talk, in sections without sources.

        With ``own_knowledge`` the reply is a whole answer from what the writer knows; a writer that only quotes gives
        none.
        """
        ...


@dataclass(frozen=True, slots=True)
class Dispute:
    """A span of another source of the run that contradicts a claim which its own sources support.

    ``values`` are what the claim's source and the other say in the same place; empty where one denies the other.
    """

    other: Proof
    reason: str
    values: tuple[str, str] = ("", "")


@dataclass(frozen=True, slots=True)
class CheckedClaim:
    """One sentence of a section with its verdict and proofs. Offsets are into the section's text.

    Code has found something against a ``doubted`` one: without a judge it carries no mark.
    """

    start: int
    end: int
    text: str
    verdict: Verdict
    reasons: tuple[str, ...] = ()
    proofs: tuple[Proof, ...] = ()
    disputes: tuple[Dispute, ...] = ()
    doubted: bool = False


@dataclass(frozen=True, slots=True)
class WrittenSection:
    """A section to check: its text, the segments it cites, and the other sources of the run.

    With origin ``matched`` the section cites nothing usable, and ``segments`` are all that its writer saw: a claim then
    is proven only by a copy, and its other proofs are what comes nearest.

    Claims before the offset ``start`` are checked already. While the section is ``open``, more text may follow, and
    claims that it could change are left out.
    """

    text: str
    segments: tuple[Segment, ...]
    others: tuple[Segment, ...] = ()
    origin: Origin = "cited"
    question: str = ""
    start: int = 0
    open: bool = False


class ClaimChecker(Protocol):
    def read_ahead(self, segments: Sequence[Segment]) -> None:
        """Start to read segments that claims will be checked against, so that the first one need not wait for that."""
        ...

    async def check(self, section: WrittenSection) -> Sequence[CheckedClaim]:
        """Split a section into claims and find the best supporting spans of each, without a model.

        Claims come in order and do not overlap. The proofs of one that is open are what a judge reads it against:
        spans of what its section cites, and with the origin ``matched`` of others that are nearer to it.
        """
        ...


@dataclass(frozen=True, slots=True)
class CitedEntry:
    """A passage that a claim cites, as a judge reads it.

    ``text`` is an exact slice of the source; ``context`` holds further exact slices that it depends on, such as the
    sentences before it, the lead-in of a list, or the header of a table.
    """

    text: str
    title: str = ""
    heading: str = ""
    context: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OpenClaim:
    """A claim that code left open, with its entries, the question, and the sentence before it in the answer."""

    claim: str
    entries: tuple[CitedEntry, ...]
    question: str = ""
    before: str = ""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a judge says of a claim: a verdict, or None with the ``reason`` why it has none.

    ``probability`` of support in [0, 1] is None where the endpoint reports none. ``exam`` is the result that gives the
    judge its say; a verdict without it may take a mark away, and proves nothing.
    """

    verdict: Verdict | None
    probability: float | None = None
    reason: str = ""
    exam: ExamFigure | None = None


class Judge(Protocol):
    """A model that says whether entries bear out a claim."""

    @property
    def name(self) -> str:
        """The name of its model, as verdicts state it."""
        ...

    @property
    def version(self) -> str:
        """A digest of the model and of everything in its requests but the claims: an exam holds for one version."""
        ...

    async def judge(self, claims: Sequence[OpenClaim], *, meter: Meter) -> list[Judgement]:
        """Judge each claim by its entries alone, in order; one request, or as many as the endpoint's limits ask for.

        A verdict is ``supported``, ``contradicted`` or ``unsupported``; a part of the reply that can't be read is a
        Judgement without a verdict. Raises DependencyFailed or BudgetExhausted where no claim could be judged.
        """
        ...


class QualityAssessor(Protocol):
    async def assess(self, question: str, answer: str, *, meter: Meter) -> float:
        """Score the answer's usefulness to the user in [0, 1]; secondary to the verdicts."""
        ...


class Titler(Protocol):
    async def title(self, question: str, *, language: str, meter: Meter) -> str:
        """Title a conversation by its first question, in that question's language, in at most one model call.

        1 to 60 characters without line breaks and quotation marks. A model can't make it fail: where none can be asked,
        or its reply is unreadable, the title is made from the words of the question.
        """
        ...


@dataclass(frozen=True, slots=True)
class ProposedQuestion:
    """A question that a model proposes, with the words of a segment that it says answer it, verbatim."""

    question: str
    segment_id: str
    quote: str


class QuestionProposer(Protocol):
    async def propose(
        self, segments: Sequence[Segment], *, asked: Sequence[str], language: str, meter: Meter
    ) -> list[ProposedQuestion]:
        """Propose questions in a language that these segments answer, none of those ``asked``, in one model call.

        What is proposed is not proven. Raises DependencyFailed or BudgetExhausted where no model could be asked, and
        ModelReplyInvalid where its reply can't be read.
        """
        ...


class SourceRoom(Protocol):
    """How much text of sources a family's writer reads in one request, in tokens as its model counts them."""

    def tokens(self, question: str) -> int:
        """Return the tokens left for sources beside the prompt, the question and the reply; 0 or less for none."""
        ...

    def measure(self, segment: Segment) -> int:
        """Return the tokens that a segment takes, with its id, title and heading."""
        ...


@dataclass(frozen=True, slots=True)
class EffortPorts:
    """The ports that the effort of a run replaces: who prepares the question, and who grades what was found."""

    preparer: QuestionPreparer
    grader: RelevanceGrader


@dataclass(frozen=True, slots=True)
class Family:
    """The ports of one family: a model that reads and writes, or the extractive reader.

    ``checker`` decides by code alone, and ``judge`` on claims that code left open, None where there is none.
    ``assessor`` asks a model for its opinion of the answer; it is used only where a run requests it, and None without a
    model. ``titler`` is None for a family that leaves sessions untitled, ``proposer`` for one that proposes no
    questions, ``room`` for one whose writer has no limit of its own. ``efforts`` holds the ports of efforts for which
    ``preparer`` and ``grader`` are not those to use. ``fallback`` says what of the request it does not fulfil, None for
    nothing.
    """

    name: FamilyName
    model: str
    preparer: QuestionPreparer
    grader: RelevanceGrader
    writer: AnswerWriter
    checker: ClaimChecker
    rewriter: QueryRewriter
    judge: Judge | None = None
    assessor: QualityAssessor | None = None
    titler: Titler | None = None
    proposer: QuestionProposer | None = None
    room: SourceRoom | None = None
    efforts: Mapping[Effort, EffortPorts] = field(default_factory=dict)
    fallback: Failure | None = None

    def at(self, effort: Effort) -> "Family":
        """Return the family with the preparer and the grader of a run's effort."""
        ports = self.efforts.get(effort)
        return self if ports is None else replace(self, preparer=ports.preparer, grader=ports.grader)


class Families(Protocol):
    def __call__(self, model: str, *, thinking: bool = False) -> Family:
        """Return the family for a request's model name; "" is the deployment's default.

        Where there is just one endpoint, it answers for a name that is not known, and a model that can't think ahead
        writes without; the family's ``fallback`` says so. Raises UnknownModel where there is none of that name.
        """
        ...


@dataclass(frozen=True, slots=True)
class Resources:
    """The live ports of a process, opened once and bound to nodes by the builder."""

    searcher: SegmentSearcher
    reader: SegmentReader
    families: Families
    passages: PassageFinder | None = None
    web: WebSearcher | None = None
    mcp: McpSearcher | None = None
    places: PlaceFinder | None = None
    catalogue: Catalogue | None = None
    languages: LibraryLanguages | None = None
