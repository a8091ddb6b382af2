"""Metrics of documents whose context changes what a sentence means, and of their twins in which it does not.

The sentence of a governed document that answers by its words is its trap (``evals.gold_passages.Trap``). An answer
misleads if it shows the trap, or most of it, without what governs it: that is neither in the passage, nor around it in
headings, header row or other context, nor in another passage. That most words are the same is not enough here, since
what replaces a trap often differs from it in a word.
"""

from collections.abc import Sequence

from evals.gold_passages import holds_most
from evals.metrics import Metric
from evals.metrics.answer_metrics import contains
from evals.metrics.passage_metrics import Shown, shown_passages, shows_gold
from evals.records import Record

TWIN = "twin"


def is_twin(record: Record) -> bool:
    """Return whether a question's document has no trap though its pair's has."""
    return record["tags"].get("side") == TWIN


def misleading_passages(record: Record) -> list[Shown]:
    """Return the shown passages that hold the trap without what governs it; none of a document without a trap.

    What was struck out or hidden has nothing that governs it, so no passage that shows it is right.
    """
    trap = record.get("trap")
    if trap is None or record["outcome"] != "answered":
        return []
    shown = shown_passages(record)
    texts = [each.text for each in shown]

    def is_governed(passage: Shown) -> bool:
        return any(holds_most(text, trap["governs"]) for text in (*texts, *passage.around, passage.whole))

    return [each for each in shown if holds_most(each.text, trap["text"]) and not is_governed(each)]


def is_answered_past_trap(record: Record) -> bool:
    """Return whether a governed document's question got an answer that holds, without showing the trap."""
    trap = record.get("trap")
    return (
        trap is not None
        and record["outcome"] == "answered"
        and contains(record["answer"], record["answers"])
        and not any(holds_most(shown.text, trap["text"]) for shown in shown_passages(record))
    )


def is_twin_answered(record: Record) -> bool:
    """Return whether a twin's question was answered, by a passage with the evidence or in the words of an answer."""
    return record["outcome"] == "answered" and (shows_gold(record) or contains(record["answer"], record["answers"]))


def _misled(record: Record) -> Sequence[float]:
    return (float(bool(misleading_passages(record))),) if record.get("trap") else ()


def _past_trap(record: Record) -> Sequence[float]:
    return (float(is_answered_past_trap(record)),) if record.get("trap") and record["answers"] else ()


def _twin(record: Record) -> Sequence[float]:
    return (float(is_twin_answered(record)),) if is_twin(record) else ()


GOVERNED = (
    Metric(
        name="shown_without_what_governs",
        title="Shown without what governs it",
        means="governed documents whose trap is shown without what governs it",
        observe=_misled,
        better="lower",
    ),
    Metric(
        name="answered_past_trap",
        title="Answered past the trap",
        means="governed documents that say what holds instead: answered so, without showing the trap",
        observe=_past_trap,
    ),
    Metric(
        name="twin_answered",
        title="Twins answered",
        means="twins answered with a passage that holds the evidence, or in the words of an answer",
        observe=_twin,
    ),
)
