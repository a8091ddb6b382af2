"""Metrics of the gate: whether a quote is the right slice of its segment, and whether wrong sections get a mark.

A wrong section is caught if no sentence of it stands in the finished answer with a mark: it stands without one, or was
repaired or withdrawn. One that is true and cites the wrong id is also caught if its mark is where it stands, and one
with an unknown id if that id was dropped. Sections that the scripted writer left out, since it was not shown what they
quote, are in none of these measures.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial

from evals.gate.gate_model import RECORDED_FAULTS, RecordedFault, RecordedReply, RecordedSection
from evals.metrics import Better, Metric
from evals.metrics.answer_metrics import words
from evals.records import ClaimRecord, Record, citations_of, claims_by_writer, is_marked


def _whole(record: Record) -> list[float]:
    known = {
        (gold["document"], gold["index"]): (gold["start"], gold["end"])
        for gold in [*record["accepted"], *(gold for chosen in record["evidence"] for gold in chosen)]
    }
    whole: list[float] = []
    for citation in citations_of(record):
        spans = [known.get((citation["document"], index)) for index in citation["sentences"]]
        found = [span for span in spans if span is not None]
        if found and len(found) == len(spans):
            start, end = min(found)[0], max(found)[1]
            whole.append(float((start, end) == (citation["start"], citation["end"])))
    return whole


def _own_words(record: Record) -> list[float]:
    return [_share_quoted(claim) for claim in claims_by_writer(record) if claim["verdict"] == "supported"]


def _share_quoted(claim: ClaimRecord) -> float:
    claimed = Counter(words(claim["text"]))
    quoted = Counter(words(" ".join(citation["quote"] for citation in claim["citations"])))
    return (claimed & quoted).total() / max(1, claimed.total())


QUOTES = (
    Metric(
        name="whole_quotes",
        title="Quotes whole",
        means="citations of gold evidence that start and end at sentence boundaries",
        observe=_whole,
    ),
    Metric(
        name="claims_in_own_quotes",
        title="Claims in their own quotes",
        means="words of a supported claim that occur in its own quotes",
        observe=_own_words,
    ),
)

_Replies = Mapping[str, RecordedReply]
_Predicate = Callable[[RecordedSection, int, Record], bool]  # a section, its index among those written, the record


def caught_metrics(replies: _Replies) -> tuple[Metric, ...]:
    """Return the measures of the scripted writer's run."""
    of_fault = tuple(
        _metric(
            replies, f"caught_{fault}", f"Caught: {fault.replace('_', ' ')}", _MEANS[fault], _is_caught, faults=(fault,)
        )
        for fault in RECORDED_FAULTS
    )
    return (
        _metric(
            replies, "caught", "Wrong half caught", "wrong sections that get no mark for what is wrong", _is_caught
        ),
        *of_fault,
        _metric(
            replies,
            "wrong_shown",
            "Wrong, shown with a mark",
            "sections with a wrong number, fact or source that the finished answer shows with a mark",
            lambda *section: not _is_caught(*section),
            faults=_SHOWN_WRONG,
            better="lower",
        ),
        _metric(
            replies,
            "wrong_proven",
            "Wrong, shown as supported",
            "the same, with the verdict supported",
            _is_proven,
            faults=_SHOWN_WRONG,
            better="lower",
        ),
        _metric(
            replies,
            "false_alarms",
            "False alarms",
            "right sections that the finished answer shows without a mark, or not at all",
            lambda section, place, record: not _marks_of(section, record),
            faults=(None,),
            better="lower",
        ),
        Metric(
            name="sections_written",
            title="Sections written",
            means="recorded sections all of whose quotes were in the segments offered",
            observe=partial(_written_or_not, replies),
        ),
    )


_SHOWN_WRONG: tuple[RecordedFault, ...] = ("wrong_number", "invented", "wrong_id")
_MEANS: Mapping[RecordedFault, str] = {
    "wrong_number": "sections with a changed figure, date or unit that get no mark",
    "invented": "sections that no document states and that get no mark",
    "wrong_id": "true sections that cite a segment which does not state them, and get a mark elsewhere or none",
    "unknown_id": "true sections that cite an id which no segment has, and lost it",
}


def _metric(
    replies: _Replies,
    name: str,
    title: str,
    means: str,
    predicate: _Predicate,
    *,
    faults: tuple[RecordedFault | None, ...] = RECORDED_FAULTS,
    better: Better = "higher",
) -> Metric:
    def observe(record: Record) -> list[float]:
        reply = replies.get(record["case_id"])
        if reply is None:
            return []
        return [
            float(predicate(section, place, record))
            for section in reply.sections
            if section.fault in faults and (place := _place(section, record)) is not None
        ]

    return Metric(name=name, title=title, means=means, observe=observe, better=better)


def _place(section: RecordedSection, record: Record) -> int | None:
    """Return the index of a recorded section among those written; None if it is missing."""
    texts = [written["text"] for written in record["written"]]
    return texts.index(section.text) if section.text in texts else None


def _written_or_not(replies: _Replies, record: Record) -> list[float]:
    reply = replies.get(record["case_id"])
    return [] if reply is None else [float(_place(section, record) is not None) for section in reply.sections]


def _marks_of(section: RecordedSection, record: Record) -> list[ClaimRecord]:
    """Return the claims of a section that the finished answer shows with a mark."""
    return [claim for claim in record["claims"] if claim["text"] in section.text and is_marked(claim)]


def _is_caught(section: RecordedSection, place: int, record: Record) -> bool:
    if section.fault == "unknown_id":
        return record["written"][place]["unknown_ids"] >= len(section.cites)
    return not _wrong_marks(section, record)


def _is_proven(section: RecordedSection, place: int, record: Record) -> bool:
    return any(claim["verdict"] == "supported" for claim in _wrong_marks(section, record))


def _wrong_marks(section: RecordedSection, record: Record) -> list[ClaimRecord]:
    """Return the marked claims of a wrong section, but for true ones whose mark was moved to where they stand."""
    return [
        claim
        for claim in _marks_of(section, record)
        if section.fault != "wrong_id" or any(citation["origin"] == "cited" for citation in claim["citations"])
    ]
