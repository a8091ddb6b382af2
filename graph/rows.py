"""Rows of a session's state, for whoever runs no graph: to import ``graph.state`` brings in LangGraph.

They are ``typing_extensions.TypedDict``s of builtins, so that later releases can read today's checkpoints, and so that
LangGraph can describe the input form on Python 3.11.
"""

from collections.abc import Iterable
from typing import Literal, NotRequired

from typing_extensions import TypedDict

from graph.evidence import JudgeMark, MissingPage, Proof, SourceKind, Verdict
from graph.reasons import Why, texts, why_each

TURNS_KEPT = 6
MOST_READ_WHOLE = 100  # selected pages; among more the run only searches
Outside = Literal["search_web", "search_mcp"]
Gathering = Literal["load_selected_pages", "search_segments", "search_web", "search_mcp"]
FIRST_STEP = "decide_retrieval"  # it clears the state of the last run
ANSWER_KEPT = 1000  # characters: enough of an answer for later questions, few enough for every checkpoint


class Turn(TypedDict):
    """A finished exchange, in the form that later questions need.

    ``from_catalogue`` is whether it was about the library itself, which a client's history does not say; ``refused``
    whether it found no answer.
    """

    question: str
    standalone_question: str
    answer: str
    from_catalogue: NotRequired[bool]
    refused: NotRequired[bool]


class SourceRow(TypedDict):
    """A gathered segment. ``index`` is the 1-based number of its source, 0 until grading keeps it.

    Segments of a selected page are one source, and so are a hit and its neighbours. ``beside`` is the hit that a
    neighbour was gathered with. ``copies`` are the ids of segments of
    older documents with the same text, which are no sources. ``within`` are the offsets of the place that the question
    names, of which the segment is a part; no other part of it is read. ``turn`` is its place among what its wording
    found, where the library was searched in several.
    """

    index: int
    segment_id: str
    kind: SourceKind
    score: float
    beside: NotRequired[str]
    copies: NotRequired[list[str]]
    within: NotRequired[list[int]]
    turn: NotRequired[int]


class PlaceSpan(TypedDict):
    """A contiguous place in a document, with the indexes of the first and the last segment that it is in."""

    document_id: str
    start: int
    end: int
    first: int
    last: int


class Places(TypedDict):
    """What a question names of the library: ``spans`` in reading order, or without any the ``documents`` alone.

    ``whole``: the question asks for nothing but what stands there. ``missing`` is a page that none of the documents in
    question has; there is nothing else then.
    """

    spans: list[PlaceSpan]
    documents: list[str]
    whole: bool
    missing: MissingPage | None


class Found(TypedDict):
    """What a gathering node adds to the candidates."""

    found: list[SourceRow]


class ClaimRow(TypedDict):
    """A checked claim, with its offsets in the text of its section; ``judge`` is there where a judge spoke of it.

    Code has found something against a ``doubted`` one, such as a number that no source holds. ``pending`` is there as
    long as a judge has yet to speak.
    """

    section_index: int
    start: int
    end: int
    verdict: Verdict
    reasons: list[str]
    why: NotRequired[list[Why]]  # the reasons with their codes
    proofs: list[Proof]
    judge: NotRequired[JudgeMark]
    doubted: NotRequired[bool]
    pending: NotRequired[bool]


def claim_row(
    section_index: int,
    start: int,
    end: int,
    verdict: Verdict,
    reasons: Iterable[str] = (),
    proofs: Iterable[Proof] = (),
    *,
    doubted: bool = False,
) -> ClaimRow:
    """Return the row of a claim, with each of its reasons once."""
    said = why_each(reasons)
    row = ClaimRow(
        section_index=section_index,
        start=start,
        end=end,
        verdict=verdict,
        proofs=list(proofs),
        reasons=texts(said),
        why=said,
    )
    return ClaimRow(**row, doubted=True) if doubted else row


class DisputeRow(TypedDict):
    """Two passages that contradict each other on a claim: the one it cites and one of another source.

    ``untold`` is where the claim starts in its section, as long as no reader has been told that it is checked: it does
    nothing but quote its passage, and is told together with the other one.
    """

    section_index: int
    untold: NotRequired[int]
    own: Proof
    other: Proof
    reason: str
    values: NotRequired[list[str]]  # of own and other


class RevisionRow(TypedDict):
    """A revision of a failed section, not yet checked; an empty text withdraws the section."""

    section_index: int
    text: str
    source_ids: list[str]
