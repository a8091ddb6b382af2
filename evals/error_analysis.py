"""The errors of one record, in words, for reports and comparisons."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, get_args

from evals.metrics.answer_metrics import contains
from evals.metrics.faithfulness_metrics import TELLERS, unborne_sentences
from evals.metrics.governed_metrics import is_twin, is_twin_answered, misleading_passages
from evals.metrics.passage_metrics import has_gold, is_gold, said_text
from evals.metrics.retrieval_metrics import gold_documents, is_searched, ranked_documents
from evals.records import Record, all_citations, citations_of

ErrorKind = Literal[
    "run_failed",
    "refused",
    "answered_without_evidence",
    "trap_shown",
    "citation_not_exact",
    "citation_not_offered",
    "no_gold_shown",
    "answer_not_contained",
    "mark_not_borne",
    "claim_failed",
    "id_invented",
    "gold_not_retrieved",
    "first_not_gold",
]
KINDS: tuple[ErrorKind, ...] = get_args(ErrorKind)  # the most severe first

TITLES: dict[ErrorKind, str] = {
    "run_failed": "The run failed",
    "refused": "Refused, though it can be answered",
    "answered_without_evidence": "Answered, though the library has no answer",
    "trap_shown": "A sentence is shown without what governs it",
    "citation_not_exact": "A quote differs from the text at its offsets",
    "citation_not_offered": "A cited segment was not among the run's sources",
    "no_gold_shown": "No passage holds gold evidence",
    "answer_not_contained": "The answer does not say what is asked for",
    "mark_not_borne": "A sentence has a mark, and its passages do not bear it",
    "claim_failed": "A claim failed its check",
    "id_invented": "An id was invented, and dropped",
    "gold_not_retrieved": "A gold document was not retrieved",
    "first_not_gold": "The first passage does not hold gold evidence",
}

_WRONG = frozenset(KINDS[: KINDS.index("answer_not_contained") + 1])  # a record with other errors is still right


@dataclass(frozen=True, slots=True)
class RecordError:
    """One error: its kind, and a sentence with the details."""

    kind: ErrorKind
    why: str


def errors_of(record: Record) -> list[RecordError]:
    """Return the errors of a record, the most severe first."""
    found = [mistake for find in _FINDERS for mistake in find(record)]
    return sorted(found, key=lambda mistake: KINDS.index(mistake.kind))


def is_right(record: Record) -> bool:
    """Return whether the outcome is as expected and an expected answer says what is asked for, with its evidence.

    It says one of the question's answers, and a passage behind one of its marks holds evidence; either is enough in a
    twin (``governed_metrics``). Where only one of the two is known, that alone decides; where neither is, every
    answer is right. All citations must be exact and name a source of the run.
    """
    return not any(mistake.kind in _WRONG for mistake in errors_of(record))


def documents_with_gold(record: Record) -> frozenset[str]:
    """Return the documents that hold gold evidence of any alternative."""
    passages = (passage["document"] for passage in record.get("passages", []))
    return frozenset(passages).union(*gold_documents(record))


def _outcome(record: Record) -> Iterator[RecordError]:
    if record["error"] is not None:
        yield RecordError("run_failed", f"{record['error']['code']}: {record['error']['message']}")
    elif record["outcome"] in {"failed", "cancelled"}:
        yield RecordError("run_failed", f"The run ended as {record['outcome']}: {_words(record['stop_reason'])}.")
    elif record["expected"] in {record["outcome"], "either"}:
        return
    elif record["expected"] == "answered":
        yield RecordError(
            "refused", f"It was refused ({_words(record['stop_reason'])}). {_where_gold_ranked(record)}".strip()
        )
    elif record["variant"] == "removed":
        yield RecordError(
            "answered_without_evidence", "It was answered although the documents with the answer were removed."
        )
    else:
        yield RecordError("answered_without_evidence", "It was answered although no document has the answer.")


def _where_gold_ranked(record: Record) -> str:
    if not _is_searched(record):
        return ""
    ranked = ranked_documents(record["retrieved"])
    best = [ranked.index(document) + 1 for document in documents_with_gold(record) if document in ranked]
    if not best:
        return "The search had not returned a gold document."
    return f"The search had ranked a gold document {min(best)} of {len(ranked)}."


def _is_searched(record: Record) -> bool:
    return is_searched(record) or (record["variant"] == "asked" and has_gold(record) and bool(record.get("passages")))


def _traps(record: Record) -> Iterator[RecordError]:
    trap = record.get("trap")
    if trap is not None and (misleading := misleading_passages(record)):
        told = f"“{trap['governs']}” is not told" if trap["governs"] else "it was struck out or hidden"
        yield RecordError("trap_shown", f"“{misleading[0].text}” is shown, and {told}.")


def _citations(record: Record) -> Iterator[RecordError]:
    for citation in all_citations(record):
        if not citation["exact"]:
            yield RecordError(
                "citation_not_exact", f"{citation['document']} does not read “{citation['quote']}” there."
            )
        if not citation["offered"]:
            yield RecordError("citation_not_offered", f"{citation['segment_id']} is not among the sources of the run.")
    unknown = sum(section["unknown_ids"] for section in record["sections"])
    if unknown:
        yield RecordError("id_invented", f"{unknown} of the ids in the written answer name no source.")


def _gold_quoted(record: Record) -> Iterator[RecordError]:
    if not has_gold(record) or record["outcome"] != "answered" or (is_twin(record) and is_twin_answered(record)):
        return
    citations = citations_of(record)
    right = [place for place, each in enumerate(citations, 1) if is_gold(record, each)]
    if not citations:
        yield RecordError("no_gold_shown", "The answer shows no passage.")
    elif not right:
        count = len(citations)
        none = "Its only passage does not hold" if count == 1 else f"None of its {count} passages holds"
        what = "a sentence of the gold evidence" if record["evidence"] else "a gold passage, or most of one"
        yield RecordError("no_gold_shown", f"{none} {what}.")
    elif right[0] > 1:
        yield RecordError(
            "first_not_gold", f"Passage {right[0]} of {len(citations)} is the first that holds gold evidence."
        )


def _marks(record: Record) -> Iterator[RecordError]:
    for claim, teller in unborne_sentences(record):
        yield RecordError("mark_not_borne", f"“{claim['text']}”, as told by {TELLERS[teller]}.")


def _claims(record: Record) -> Iterator[RecordError]:
    for claim in record["claims"]:
        if claim["verdict"] in {"contradicted", "unsupported"}:
            reasons = f": {'; '.join(claim['reasons'])}" if claim["reasons"] else ""
            yield RecordError("claim_failed", f"“{claim['text']}” is {claim['verdict']}{reasons}.")


def _retrieval(record: Record) -> Iterator[RecordError]:
    if not _is_searched(record):
        return
    ranked = ranked_documents(record["retrieved"])
    wanted = gold_documents(record) or [frozenset({name}) for name in documents_with_gold(record)]
    missing = min((gold - set(ranked) for gold in wanted), key=len)
    if missing:
        names = ", ".join(sorted(missing))
        yield RecordError(
            "gold_not_retrieved", f"{names}: not among the {len(ranked)} documents that the search returned."
        )


def _answer(record: Record) -> Iterator[RecordError]:
    if record["expected"] != "answered" or record["outcome"] != "answered":
        return
    groups = [group for group in (record["answers"], *record.get("all_of", [])) if group]
    text = said_text(record)
    missing = [_either(group) for group in groups if not contains(text, group)]
    if missing and not (is_twin(record) and is_twin_answered(record)):
        yield RecordError("answer_not_contained", f"It does not say {', nor '.join(missing)}.")


def _either(answers: list[str]) -> str:
    return " or ".join(f"“{answer}”" for answer in answers)


def _words(reason: str) -> str:
    return reason.replace("_", " ")


_FINDERS: tuple[Callable[[Record], Iterator[RecordError]], ...] = (
    _outcome,
    _traps,
    _citations,
    _gold_quoted,
    _marks,
    _claims,
    _retrieval,
    _answer,
)
