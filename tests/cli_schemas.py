"""The JSON that ``citewell ask``, ``verify`` and ``documents`` print, as one JSON Schema that scripts may rely on.

``UPDATE_DOCS=1 pytest tests/unit/test_cli_output.py`` writes ``cli/output.schema.json`` anew. A change of it
is a change of the interface.
"""

from pathlib import Path
from typing import Any

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from answers.verification import Verification
from graph.evidence import (
    Assessment,
    Citation,
    Cost,
    Disagreement,
    Outcome,
    Section,
    SectionClaim,
    Source,
    Spent,
    StopReason,
)
from tools.library.catalogue import Document, DocumentDetails, RawText
from tools.library.versions import Version

SCHEMA = Path(__file__).resolve().parents[1] / "cli" / "output.schema.json"


class Told(TypedDict):
    """What went wrong, in words and as a code, what to do, and whether the same command may succeed later."""

    code: str
    message: str
    suggestion: str
    retryable: bool


class Failure(TypedDict):
    """What a command prints that failed before it had begun."""

    error: Told


class Asked(TypedDict):
    """What is known of a question, however its run has ended."""

    run_id: str
    session_id: str
    message_id: str
    question: str
    standalone_question: str | None
    needs_retrieval: bool | None
    family: str
    model: str
    outcome: Outcome
    stop_reason: StopReason


class FailedAnswer(Asked):
    """A question whose run failed."""

    error: Told


class Answer(Asked):
    """A question with its answer, or with what came nearest to it."""

    answer: str
    sections: list[Section]
    citations: list[Citation]
    sources: list[Source]
    nearest: list[Source]
    claims: list[SectionClaim]
    assessment: Assessment | None
    disagreements: list[Disagreement]
    spent: dict[str, Spent]
    cost: Cost | None


class ListedDocuments(TypedDict):
    """A page of the list of documents, and the cursor of the next one."""

    documents: list[Document]
    next_cursor: str | None


class DocumentVersions(TypedDict):
    """The texts that a document has had, the current one first."""

    versions: list[Version]


class DeletedDocument(TypedDict):
    """A document that was deleted."""

    document_id: str
    deleted: bool


DOCUMENTS: dict[str, Any] = {
    "ask": Answer | FailedAnswer | Failure,
    "verify": Verification | Failure,
    "documents list": ListedDocuments | Failure,
    "documents show": DocumentDetails | Failure,
    "documents raw": RawText | Failure,
    "documents versions": DocumentVersions | Failure,
    "documents delete": DeletedDocument | Failure,
}


def output_schema() -> dict[str, Any]:
    """Return the schema, whose ``$defs`` have the document of each command under its name; objects are closed."""
    kinds = [(command, "serialization", TypeAdapter(kind)) for command, kind in DOCUMENTS.items()]
    commands, shared = TypeAdapter.json_schemas(kinds, ref_template="#/$defs/{model}")  # type: ignore[arg-type]
    definitions = {**{command: schema for (command, _), schema in commands.items()}, **shared["$defs"]}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "What citewell prints with --json",
        "$defs": _closed(definitions),
    }


def _closed(part: Any) -> Any:
    if isinstance(part, list):
        return [_closed(each) for each in part]
    if not isinstance(part, dict):
        return part
    closed = {name: _closed(value) for name, value in part.items() if (name, type(value)) != ("title", str)}
    return {**closed, "additionalProperties": False} if "properties" in part else closed
