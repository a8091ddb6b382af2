"""Checkpointed state of a session: ids, scores, counters and the last turns as text, never document text."""

import operator
from dataclasses import dataclass, field
from typing import Annotated, Literal

from typing_extensions import TypedDict

from graph.evidence import (
    Assessment,
    Disagreement,
    Failure,
    Intent,
    Origin,
    Section,
    SourceKind,
    Spent,
    StopReason,
    Verdict,
)

SCHEMA_VERSION = 1
TURNS_KEPT = 6
FIRST_STEP = "decide_retrieval"  # which clears what the last run left
ANSWER_KEPT = 1000  # characters of an answer: what later questions refer to, and little enough for every checkpoint


class Turn(TypedDict):
    """A finished exchange, as later questions need it."""

    question: str
    standalone_question: str
    answer: str


class SourceRow(TypedDict):
    """A gathered segment. ``index`` is its 1-based number among the sources, 0 until grading keeps it."""

    index: int
    segment_id: str
    kind: SourceKind
    score: float


class ProofRow(TypedDict):
    """A span that proves a claim, by offsets alone; the quote is read back from canonical text."""

    source_index: int
    segment_id: str
    start: int
    end: int
    origin: Origin


class ClaimRow(TypedDict):
    """A checked claim, by its offsets in the text of its section."""

    section_index: int
    start: int
    end: int
    verdict: Verdict
    reasons: list[str]
    proofs: list[ProofRow]


class DisputeRow(TypedDict):
    """Two passages that contradict each other on a claim: the one that it cites, and one of another source."""

    section_index: int
    own: ProofRow
    other: ProofRow
    reason: str


class RevisionRow(TypedDict):
    """A failed section as it was written again, before it is checked; an empty text withdraws it."""

    section_index: int
    text: str
    source_ids: list[str]


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


def first_cap(before: str, after: str) -> str:
    """Keep the cap that was met first, however many nodes of a round meet one."""
    return before or after


@dataclass(frozen=True)
class InputState:
    """What a run is asked: the question, documents to read whole, and a passage that a reader marked.

    ``history`` takes the place of what the session remembers, for this run and those after it; None leaves it.
    """

    question: str = ""
    page_ids: list[str] = field(default_factory=list)
    selected_text: str = ""
    history: list[Turn] | None = None


@dataclass(frozen=True)
class State(InputState):
    """A session between and during runs.

    ``schema_version`` is that of the release which ran last. ``asked`` and what follows belong to the run in progress,
    or to the last one; decide_retrieval resets them all.
    """

    schema_version: int = SCHEMA_VERSION
    turns: list[Turn] = field(default_factory=list)

    asked: str = ""
    started_at: float = 0.0  # seconds since the epoch
    standalone_question: str = ""
    needs_retrieval: bool = True
    intent: Intent = "content_query"
    language: str = "en"

    query: str = ""  # what is searched for now; "" for nothing more
    tried: list[str] = field(default_factory=list)
    rounds: int = 0
    rewrites: int = 0
    candidates: Annotated[list[SourceRow], operator.add] = field(default_factory=list)
    graded: list[str] = field(default_factory=list)  # ids of the segments that a grader has judged
    sources: list[SourceRow] = field(default_factory=list)

    sections: list[Section] = field(default_factory=list)
    claims: list[ClaimRow] = field(default_factory=list)
    disputes: list[DisputeRow] = field(default_factory=list)
    disagreements: list[Disagreement] = field(default_factory=list)
    repairing: list[int] = field(default_factory=list)  # sections that failed and are to be written again
    revisions: list[RevisionRow] = field(default_factory=list)
    repairs: int = 0
    fallback: Failure | None = None  # what was left out that no event has told yet; the last one does

    assessment: Assessment | None = None
    outcome: Literal["", "answered", "abstained"] = ""
    stop_reason: StopReason | Literal[""] = ""
    exhausted: Annotated[str, first_cap] = ""  # the cap that was met first
    spent: Annotated[dict[str, Spent], merge_spent] = field(default_factory=dict)


def answer_text(sections: list[Section]) -> str:
    """Join section texts into the plain answer: one blank line between paragraphs, withdrawn ones left out."""
    return "\n\n".join(section["text"] for section in sections if section["text"])


def question_with_passage(state: State) -> str:
    """Return what is asked, with the passage that a reader marked under it."""
    if not state.selected_text:
        return state.standalone_question
    return f"{state.standalone_question}\n\n“{state.selected_text}”"
