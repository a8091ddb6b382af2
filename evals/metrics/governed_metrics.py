"""Metrics of documents whose context changes what a sentence means, and of their twins in which it does not.

The sentence of a governed document that answers by its words is its trap (``evals.gold_passages.Trap``). An answer is
wrong and ticked if it quotes the trap, or most of it, under a supported claim and says nowhere what governs it: not in
that quote, not in its context, and not in another quote. That most words are the same is not enough here, since what
replaces a trap often differs from it in a word.
"""

from collections.abc import Sequence

from evals.gold_passages import holds_most
from evals.metrics import Metric
from evals.metrics.answer_metrics import contains
from evals.metrics.manual_metrics import is_hit, shown_quotes
from evals.records import CitationRecord, GoldTrap, Record, citations_of

TWIN = "twin"


def is_twin(record: Record) -> bool:
    """Return whether a question's document has no trap though its pair's has."""
    return record["tags"].get("side") == TWIN


def ticked_traps(record: Record) -> list[CitationRecord]:
    """Return the citations that make an answer wrong and ticked; none of a document without a trap."""
    trap = record.get("trap")
    if trap is None or record["outcome"] != "answered":
        return []
    return [
        citation
        for claim in record["claims"]
        if claim["verdict"] == "supported"
        for citation in claim["citations"]
        if holds_most(citation["quote"], trap["text"]) and not _is_governed(citation, trap, record)
    ]


def _is_governed(citation: CitationRecord, trap: GoldTrap, record: Record) -> bool:
    """Return whether a reader of a quote is shown what governs it, whole or most of it."""
    if not trap["governs"]:
        return False
    quoted = [(citation["start"], citation["quote"])]
    hangs_on = [(each["start"], each["text"]) for each in citation.get("context", [])]
    own = [text for _, text in sorted([*quoted, *hangs_on])]
    shown = [*own, " ".join(own), *(each["quote"] for each in citations_of(record))]
    return any(holds_most(text, trap["governs"]) for text in shown)


def is_answered_past_trap(record: Record) -> bool:
    """Return whether a governed document's question got an answer that holds, without any quote of the trap."""
    trap = record.get("trap")
    return (
        trap is not None
        and record["outcome"] == "answered"
        and contains(record["answer"], record["answers"])
        and not any(holds_most(quote.text, trap["text"]) for quote in shown_quotes(record))
    )


def is_twin_answered(record: Record) -> bool:
    """Return whether a twin's question was answered, by a quote of the evidence or in the words of an answer."""
    if record["outcome"] != "answered":
        return False
    quoted = any(is_hit(quote, record.get("passages", [])) for quote in shown_quotes(record))
    return quoted or contains(record["answer"], record["answers"])


def _wrong(record: Record) -> Sequence[float]:
    return (float(bool(ticked_traps(record))),) if record.get("trap") else ()


def _past_trap(record: Record) -> Sequence[float]:
    return (float(is_answered_past_trap(record)),) if record.get("trap") and record["answers"] else ()


def _twin(record: Record) -> Sequence[float]:
    return (float(is_twin_answered(record)),) if is_twin(record) else ()


GOVERNED = (
    Metric(
        name="wrong_and_ticked",
        title="Wrong and ticked",
        means="governed documents whose trap is quoted as supported, without what governs it",
        observe=_wrong,
        better="lower",
    ),
    Metric(
        name="answered_past_trap",
        title="Answered past the trap",
        means="governed documents that say what holds instead: answered so, without quoting the trap",
        observe=_past_trap,
    ),
    Metric(
        name="twin_answered",
        title="Twins answered",
        means="twins answered with a quote of the evidence, or in the words of an answer",
        observe=_twin,
    ),
)
