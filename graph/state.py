"""What a checkpoint carries: ids, scores, counters and the last turns as text, never document text.

Rows are ``typing_extensions.TypedDict``s of builtins, so that a checkpoint written today can be read by any later
release, and so that LangGraph can describe the input form on Python 3.11. Reducers live here and nowhere else.
"""

import operator
from dataclasses import dataclass, field
from typing import Annotated, Literal

from typing_extensions import TypedDict

from graph.evidence import Intent, Origin, Section, SourceKind, Spent, StopReason, Verdict

SCHEMA_VERSION = 1
TURNS_KEPT = 6


class Turn(TypedDict):
    """A finished exchange, as later questions need it."""

    question: str
    standalone_question: str
    answer: str


class Candidate(TypedDict):
    """A segment that a gathering node brought, before grading."""

    segment_id: str
    kind: SourceKind
    score: float


class SourceRow(TypedDict):
    """A segment that grading kept. ``index`` is 1-based and never changes within a run."""

    index: int
    segment_id: str
    kind: SourceKind
    score: float


class CitationRow(TypedDict):
    """A proven span, by offsets alone; the quote is read back from canonical text."""

    section_index: int
    source_index: int
    segment_id: str
    start: int
    end: int
    origin: Origin
    verdict: Verdict


def merge_spent(before: dict[str, Spent], after: dict[str, Spent]) -> dict[str, Spent]:
    """Add up what each node has used; a node that runs again adds to its own row."""
    merged = dict(before)
    for node, spent in after.items():
        so_far = merged.get(node, Spent(calls=0, tokens=0, ms=0.0))
        merged[node] = Spent(
            calls=so_far["calls"] + spent["calls"],
            tokens=so_far["tokens"] + spent["tokens"],
            ms=round(so_far["ms"] + spent["ms"], 3),
        )
    return merged


@dataclass(frozen=True)
class InputState:
    """What a run is asked: the question, and documents to read whole."""

    question: str = ""
    page_ids: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class State(InputState):
    """A session between and during runs.

    ``asked`` and what follows belong to the run in progress, or to the last one; decide_retrieval resets them all.
    """

    schema_version: int = SCHEMA_VERSION
    turns: list[Turn] = field(default_factory=list)

    asked: str = ""
    standalone_question: str = ""
    needs_retrieval: bool = True
    intent: Intent = "content_query"
    language: str = "en"
    candidates: Annotated[list[Candidate], operator.add] = field(default_factory=list)
    sources: list[SourceRow] = field(default_factory=list)
    sections: list[Section] = field(default_factory=list)
    citations: list[CitationRow] = field(default_factory=list)
    outcome: Literal["", "answered", "abstained"] = ""
    stop_reason: StopReason | Literal[""] = ""
    spent: Annotated[dict[str, Spent], merge_spent] = field(default_factory=dict)


def answer_text(sections: list[Section]) -> str:
    """Join section texts into the plain answer: one blank line between paragraphs."""
    return "\n\n".join(section["text"] for section in sections)
