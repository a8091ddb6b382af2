"""Questions of the conversation dialect, and the documents that its replies list."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import PurePath
from typing import Annotated, Any, ClassVar, NotRequired

from pydantic import ConfigDict, Field, StringConstraints, field_validator
from typing_extensions import TypedDict

from answers.citations import BETWEEN_QUOTES, excerpt
from answers.marks import marked_citations
from api.dialects.quotes import QuoteInContext, one_line, quotes_in_context, shown_excerpt
from api.dialects.section_buffer import FinalSection
from api.fields import CONTROL, AnswerFromField, ExactTypes, Question
from graph.evidence import Citation, Claim, Source

ConversationId = Annotated[str, StringConstraints(max_length=500)]


def _with_numbers(schema: dict[str, Any]) -> None:
    """Say in the schema of a request that a number counts as its digits."""
    query = schema["properties"]["query"]
    described = {key: query.pop(key) for key in ("title", "description") if key in query}
    schema["properties"]["query"] = {"anyOf": [query, {"type": "number"}], **described}
    schema["properties"]["conversationId"]["anyOf"].append({"type": "number"})


class ConversationQuestion(ExactTypes):
    """A question, and the conversation that it belongs to; unknown fields are ignored."""

    model_config = ConfigDict(coerce_numbers_to_str=True, json_schema_extra=_with_numbers)
    reads_text: ClassVar[bool] = True

    query: Question
    conversation_id: ConversationId | None = Field(
        default=None,
        alias="conversationId",
        description="The host's own id, in any format; without one a conversation is created.",
    )
    progress: bool = Field(default=False, description="Send `progress` and `source_preview` too.")
    thinking: bool = Field(default=False, description="Use the model's thinking model, and send `thinking` too.")
    answer_from: AnswerFromField = None

    @field_validator("conversation_id")
    @classmethod
    def _storable(cls, value: str | None) -> str | None:
        if value and CONTROL.search(value):
            raise ValueError("control characters are not allowed")
        return value or None


class DocumentSource(TypedDict):
    """A document in a client's list: ``pageNumber`` from 1, or null without pages; ``relevanceScore`` in [0, 1].

    Where a quote of it is a passage or hangs on something, such as a table's header, ``quotes`` has both, and
    ``excerpt`` shows both.
    """

    documentId: str
    documentName: str
    pageNumber: int | None
    relevanceScore: float
    excerpt: str
    quotes: NotRequired[list[QuoteInContext]]


class CitedDocuments:
    """The documents that the marks of an answer stand for, numbered from 1 in the order of the first ones.

    Numbers never change, so that marks in text that was already sent match the list at the end.
    """

    def __init__(self) -> None:
        self._known: dict[int, Source] = {}  # by index
        self._cited: dict[str, list[Citation]] = {}  # by document

    def learn(self, sources: Iterable[Source]) -> None:
        """Add sources that may be cited."""
        self._known.update({source["index"]: source for source in sources})

    def numbered(self, section: FinalSection) -> FinalSection:
        """Return a section whose citations number documents instead of segments."""
        return replace(section, claims=[self._numbered(claim) for claim in section.undecided_claims])

    def sources(self) -> list[DocumentSource]:
        """List the documents cited so far, by number, each represented by its most relevant cited segment."""
        return [self._source(citations) for citations in self._cited.values()]

    def _numbered(self, claim: Claim) -> Claim:
        in_order = sorted(marked_citations(claim), key=lambda citation: citation["source_index"])
        return {**claim, "citations": [{**each, "source_index": self._number(each)} for each in in_order]}

    def _number(self, citation: Citation) -> int:
        self._cited.setdefault(citation["document_id"], []).append(citation)
        return list(self._cited).index(citation["document_id"]) + 1

    def _source(self, citations: list[Citation]) -> DocumentSource:
        best = most_relevant(self._known[citation["source_index"]] for citation in citations)
        own = [citation for citation in citations if citation["source_index"] == best["index"]]
        own.sort(key=lambda citation: citation["start"])
        shown = document_source(best)
        for quotes in quotes_in_context({**each, "source_index": 0} for each in own).values():
            return {**shown, "excerpt": shown_excerpt(best, quotes), "quotes": quotes}
        quoted = [one_line(each["quote"]) for each in own]
        if all(quote in best["excerpt"] for quote in quoted):
            return shown
        return {**shown, "excerpt": excerpt(BETWEEN_QUOTES.join(dict.fromkeys(quoted)))}


def document_source(source: Source) -> DocumentSource:
    """Convert a segment to an entry for its document."""
    page = source["page_idx"]
    return DocumentSource(
        documentId=source["document_id"],
        documentName=document_name(source),
        pageNumber=None if page is None else page + 1,
        relevanceScore=source["score"],
        excerpt=source["excerpt"],
    )


def document_name(source: Source) -> str:
    """Return the name of the file that a document was read from, or its title where there is no file."""
    path = source["metadata"].get("file_path")
    return (PurePath(path).name if isinstance(path, str) else "") or source["title"]


def most_relevant(sources: Iterable[Source]) -> Source:
    """Return the most relevant of at least one source; the first one of equals."""
    return min(sources, key=lambda source: (-source["score"], source["index"]))
