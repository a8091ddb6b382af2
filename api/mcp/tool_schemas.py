"""Arguments and results of the tools, from which their JSON schemas are made."""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field, model_validator
from pydantic.json_schema import SkipJsonSchema

from answers.verification import MOST_BYTES
from api.fields import Body, ModelName, Name, PageIds, Printable, Question
from api.routes.verify_routes import GivenSource, Text
from graph.evidence import Assessment, Citation, CitationContext, Message, Outcome, Section, Source, WebMode
from tools.library.given_texts import MOST_TEXTS

DOCUMENT_ID = "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
SEGMENT_ID = rf"^{DOCUMENT_ID}:[0-9]{{1,9}}$"
FETCHED_ID = rf"^{DOCUMENT_ID}(?::[0-9]{{1,7}})?$"
Query = Annotated[str, Field(min_length=1, max_length=10_000), Printable]
Spaces = Annotated[list[Name], Field(max_length=100)]


class SearchArguments(Body):
    """What to search for, and where."""

    query: Query = Field(description="What to look for, in words; a question works as well.")
    top_k: Annotated[int, Field(ge=1, le=30)] = Field(default=10, description="How many passages to return at most.")
    min_score: Annotated[float, Field(ge=0, le=1)] = Field(default=0.3, description="The least relevance, 0 to 1.")
    spaces: Spaces = Field(default=[], description="Search these spaces alone, by id or slug; empty for all.")
    document_ids: PageIds = Field(default=[], description="Search these documents alone; empty for all.")


class FoundSegment(Body):
    """A passage that matches; ``id`` is what `fetch` takes, and ``url`` opens it.

    Offsets count code points of the document's text, end exclusive.
    """

    id: str
    segment_id: str
    document_id: str
    segment_index: int
    title: str
    heading: str
    page_idx: int | None
    url: str
    source_type: str
    score: float
    start: int
    end: int
    text: str


class SearchResults(Body):
    """Matching passages, best first. ``degraded`` is the reason why a part of search was left out."""

    query: str
    degraded: str | None
    results: list[FoundSegment]


class FetchArguments(Body):
    """What to read, by an id that `search` has returned."""

    id: Annotated[str, Field(pattern=FETCHED_ID)] = Field(
        description="The id of a result of `search`, or a document_id for the beginning of that document."
    )


class FetchedPlace(Body):
    """Where a text stands in its document; ``next`` is the id of what follows it, None at the end."""

    document_id: str
    start: int
    end: int
    next: str | None


class FetchedText(Body):
    """The part of a document that a passage stands in; ``url`` opens the document at that passage."""

    id: str
    title: str
    text: str
    url: str
    metadata: FetchedPlace


class ReadArguments(Body):
    """A document by parts, the entry around an offset of it, or one segment."""

    document_id: UUID | None = Field(default=None, description="A document, read in parts.")
    part: Annotated[int, Field(ge=1, le=1_000_000)] = Field(default=1, description="Which part of it, from 1.")
    offset: Annotated[int, Field(ge=0, le=2**31 - 1)] | None = Field(
        default=None, description="With document_id: read only the entry (paragraph, list item, row) at this offset."
    )
    segment_id: Annotated[str, Field(pattern=SEGMENT_ID)] | None = Field(
        default=None, description="One passage, as search and citations name it; instead of document_id."
    )

    @model_validator(mode="after")
    def _one_place(self) -> "ReadArguments":
        if (self.document_id is None) == (self.segment_id is None):
            raise ValueError("send either document_id or segment_id")
        if self.segment_id is not None and self.offset is not None:
            raise ValueError("offset goes with document_id")
        return self


class SegmentPlace(Body):
    """Where a segment stands in the text that was read."""

    segment_id: str
    start: int
    end: int
    page_idx: int | None
    heading: str


class ReadText(Body):
    """A stretch of a document: ``text`` is its canonical text from ``start`` to ``end``, in code points.

    ``part`` of ``parts`` is None for a segment or an entry; ``context`` is what an entry hangs on, such as the header
    of a table.
    """

    kind: Literal["part", "segment", "entry"]
    document_id: str
    title: str
    url: str
    start: int
    end: int
    text: str
    part: int | None
    parts: int | None
    context: list[CitationContext]
    segments: list[SegmentPlace]


class AskArguments(Body):
    """A question, and what may be read for its answer."""

    question: Question = Field(description="The question, in any language.")
    document_ids: PageIds = Field(default=[], description="Answer from these documents alone; empty for the library.")
    session_id: UUID | None = Field(
        default=None, description="Continue this session, as an earlier answer named it; a new one without it."
    )
    spaces: Spaces = Field(default=[], description="Search these spaces alone, by id or slug; empty for all.")
    web: WebMode = Field(default="off", description="Whether to search the web too, where the deployment can.")
    model: ModelName = ""


class LinkedCitation(Citation):
    """A citation with the address that opens its document at the quote."""

    url: str


class Answer(Body):
    """An answer with its proof.

    ``citations`` are exact quotes of stored text with the verdict on the claim that each bears; ``nearest`` is what a
    refusal shows instead, and ``assessment`` has the chance that the question is answered. Each ``url`` can be opened.
    ``notices`` say what of the run fell back to something simpler, or failed.
    """

    session_id: str
    run_id: str
    message_id: str
    outcome: Outcome
    stop_reason: str
    answer: str
    sections: list[Section]
    citations: list[LinkedCitation]
    sources: list[Source]
    nearest: list[Source]
    assessment: Assessment | None
    notices: list[str]
    message: Annotated[SkipJsonSchema[Message], Field(exclude=True)]  # with marks and claims, for the answer's text


class VerifyArguments(Body):
    """A text, and what to check its claims against: given sources, documents of the library, or all of it."""

    text: Annotated[Text, Field(max_length=MOST_BYTES)] = Field(
        description="The text to check, in Markdown; marks such as [1] name the sources by number."
    )
    sources: Annotated[list[GivenSource | Text], Field(min_length=1, max_length=MOST_TEXTS)] | None = Field(
        default=None, description="Texts to check against; without them each claim is looked up in the library."
    )
    document_ids: PageIds = Field(default=[], description="Look up claims in these documents of the library alone.")
    question: Question | None = Field(default=None, description="The question that the text answers, if any.")
    strict: bool = Field(default=False, description="Let the text pass only if every claim is supported.")

    @model_validator(mode="after")
    def _one_library(self) -> "VerifyArguments":
        if self.sources is not None and self.document_ids:
            raise ValueError("leave document_ids out: with sources, the library is not searched")
        return self
