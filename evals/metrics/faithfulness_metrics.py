"""Citation faithfulness: of the sentences that an answer shows with a mark, the share whose passages bear them.

Whether passages bear a sentence is told by the first of these that can:

- a label: the set says of this very sentence whether it is true (``evals.cases.PlantedSentence``);
- a judge of the evaluation, where one was asked (``ClaimRecord.faithful``);
- words: the sentence stands in a passage as it is;
- gold, where a question's answers and evidence are known. A sentence that says an answer is borne where one of its
  passages holds evidence, and not borne where none does. One that says none, on a passage with evidence, is not borne
  where the whole answer says none either: it tells something else of what the evidence says.

What none of them can tell is in no share; ``Faithfulness`` says how much that is.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, get_args

from typing_extensions import TypedDict

from evals.gold_passages import plain
from evals.metrics import Figure, Metric
from evals.metrics.answer_metrics import contains
from evals.metrics.passage_metrics import has_gold, is_gold, passage_of, says_answer
from evals.records import ClaimRecord, PlantedRecord, Record, claims_by_writer, is_marked

ToldBy = Literal["label", "judge", "words", "gold"]
# Fences, rules below the head of a table, markers of lists, and the signs of emphasis, code, cells and headings.
_MARKUP = re.compile(r"^\s*```.*$|^[\s|:-]+$|^\s*(?:[-*+•]|\d+[.)])\s|[*_`|\\#>]", re.MULTILINE)


class Faithfulness(TypedDict):
    """How many sentences carry a mark, how many of them could be told, and how many of those their passages bear.

    ``by`` counts those told by what told them; ``judge`` names the model that was asked, if any.
    """

    marked: int
    told: int
    borne: int
    by: dict[ToldBy, int]
    judge: str | None


def faithfulness_of(records: Iterable[Record], judge: str | None = None) -> Faithfulness:
    """Count the sentences with a mark of some records."""
    told = [_told(claim, record) for record in records for claim in marked_sentences(record)]
    known = [each for each in told if each is not None]
    by = Counter(teller for teller, _ in known)
    return Faithfulness(
        marked=len(told),
        told=len(known),
        borne=sum(borne for _, borne in known),
        by={teller: by[teller] for teller in get_args(ToldBy)},
        judge=judge,
    )


def headline(found: Faithfulness, figure: Figure | None) -> str:
    """Say citation faithfulness in a sentence or two, with what it rests on."""
    if figure is None:
        return f"Citation faithfulness: of {found['marked']} sentences shown with a mark none could be told."
    by = ", ".join(f"{count} by {TELLERS[teller]}" for teller, count in found["by"].items() if count)
    judge = f" ({found['judge']})" if found["judge"] is not None else ""
    left = found["marked"] - found["told"]
    return (
        f"Citation faithfulness {figure['mean']:.3f} ({figure['low']:.3f} - {figure['high']:.3f}): of {found['told']} "
        f"sentences shown with a mark, {found['borne']} are borne by their passages. Told {by}{judge}; {left} not told."
    )


TELLERS: dict[ToldBy, str] = {
    "label": "labels of the set",
    "judge": "a judge",
    "words": "standing there word for word",
    "gold": "gold evidence and answers",
}


def marked_sentences(record: Record) -> list[ClaimRecord]:
    """Return the sentences of an answer's writer that a reader sees with a mark."""
    return [claim for claim in claims_by_writer(record) if is_marked(claim)]


def unborne_sentences(record: Record) -> list[tuple[ClaimRecord, ToldBy]]:
    """Return the sentences with a mark that their passages do not bear, and what tells so."""
    told = [(claim, _told(claim, record)) for claim in marked_sentences(record)]
    return [(claim, found[0]) for claim, found in told if found is not None and not found[1]]


def is_copied(claim: ClaimRecord) -> bool:
    """Return whether a sentence stands in one of its passages, but for markup, case, width and white space."""
    words = _bare(claim["text"])
    return bool(words) and any(words in _bare(passage_of(each).whole) for each in claim["citations"])


def label_of(claim: ClaimRecord, record: Record) -> bool | None:
    """Return whether the set says that a sentence is true; None where it says nothing of it."""
    words = _bare(claim["text"])
    found = [each["faithful"] for each in record.get("planted", []) if words and words in _bare(each["text"])]
    return found[0] if found else None


def _bare(text: str) -> str:
    return plain(_MARKUP.sub("", text))


def _told(claim: ClaimRecord, record: Record) -> tuple[ToldBy, bool] | None:
    """Return what tells whether a sentence's passages bear it, and whether they do; None where nothing does."""
    if (label := label_of(claim, record)) is not None:
        return "label", label
    if "faithful" in claim:
        return "judge", claim["faithful"]
    if is_copied(claim):
        return "words", True
    by_gold = _told_by_gold(claim, record)
    return None if by_gold is None else ("gold", by_gold)


def _told_by_gold(claim: ClaimRecord, record: Record) -> bool | None:
    groups = [group for group in (record["answers"], *record.get("all_of", [])) if group]
    if not has_gold(record) or not groups:
        return None
    on_gold = any(is_gold(record, each) for each in claim["citations"])
    if any(contains(claim["text"], group) for group in groups):
        return on_gold
    return False if on_gold and not says_answer(record) else None


def _faithful(record: Record) -> Sequence[float]:
    found = (_told(claim, record) for claim in marked_sentences(record))
    return [float(each[1]) for each in found if each is not None]


def _marked(record: Record) -> Sequence[float]:
    return [float(is_marked(claim)) for claim in claims_by_writer(record)]


def _planted(faithful: bool, record: Record) -> Iterator[PlantedRecord]:
    """Yield the labelled sentences that an answer held as it was first written."""
    written = [_bare(section["text"]) for section in record["written"]]
    for each in record.get("planted", []):
        if each["faithful"] is faithful and any(_bare(each["text"]) in text for text in written):
            yield each


def _planted_marked(faithful: bool, record: Record) -> Sequence[float]:
    shown = [_bare(claim["text"]) for claim in marked_sentences(record)]
    return [float(any(text and text in _bare(each["text"]) for text in shown)) for each in _planted(faithful, record)]


FAITHFULNESS = (
    Metric(
        name="citation_faithfulness",
        title="Citation faithfulness",
        means="sentences shown with a mark whose passages bear them, of those that labels, words, gold or a judge tell",
        observe=_faithful,
    ),
    Metric(
        name="sentences_marked",
        title="Sentences with a mark",
        means="sentences of answers that are shown with a mark",
        observe=_marked,
        better="neither",  # without a mark is right where the sentence is wrong
    ),
    Metric(
        name="false_planted_marked",
        title="Planted false, with a mark",
        means="false sentences that the set planted in answers and that are shown with a mark",
        observe=lambda record: _planted_marked(False, record),
        better="lower",
    ),
    Metric(
        name="true_planted_marked",
        title="Planted true, with a mark",
        means="true sentences that the set planted in answers and that are shown with a mark",
        observe=lambda record: _planted_marked(True, record),
    ),
)
