"""Metrics of passages: whether what is shown holds the evidence and says the answer, and how much is shown.

The shown passages of an answer are its citations in the order shown, each once; those of a refusal are what came
nearest. One is right if it is of the document of a gold passage and holds it, is most of it, or holds three quarters of
its words (``evals.gold_passages.quote_hits``), by itself or with what is shown around it: headings, header row and
other context. Gold are the passages of a question or, where its evidence is sentences, each of these.

Answerable questions with known evidence are measured; one that was refused or failed counts 0, unless a measure says
otherwise.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple

from evals.gold_passages import plain, quote_hits
from evals.metrics import Metric
from evals.metrics.answer_metrics import contains
from evals.records import CitationRecord, GoldPassage, NearestPassage, Record, citations_of
from tools.settings import EXTRACTIVE


class Shown(NamedTuple):
    """A text that a reader is shown, and the texts shown around it in the document's order, headings first."""

    document: str
    text: str
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()

    @property
    def around(self) -> tuple[str, ...]:
        return (*self.before, *self.after)

    @property
    def whole(self) -> str:
        """The passage with all that is shown around it."""
        return "\n".join((*self.before, self.text, *self.after))


def shown_passages(record: Record) -> list[Shown]:
    """Return the passages of the finished answer, in the order shown, each place once."""
    places = {(each["document"], each["start"], each["end"]): each for each in citations_of(record)}
    return [passage_of(each) for each in places.values()]


def nearest_passages(record: Record) -> list[Shown]:
    """Return what a refusal shows as what came nearest; none of an answer."""
    return [_passage(each, each["text"]) for each in record.get("nearest", [])]


def passage_of(citation: CitationRecord) -> Shown:
    """Return the passage that a citation shows."""
    return _passage(citation, citation["quote"])


def _passage(shown: CitationRecord | NearestPassage, text: str) -> Shown:
    context = sorted(shown.get("context", []), key=lambda each: each["start"])
    before = tuple(each["text"] for each in context if each["start"] <= shown["start"])
    after = tuple(each["text"] for each in context if each["start"] > shown["start"])
    return Shown(shown["document"], text, (*shown.get("heading_path", []), *before), after)


def said_text(record: Record) -> str:
    """Return what an answer says: its text, and where it only quotes, what is shown around its passages too.

    The passages behind the marks of a model's own words are no part of it: they may say what the model does not.
    """
    around = [each.whole for each in shown_passages(record)] if record["family"] == EXTRACTIVE else []
    return "\n\n".join([record["answer"], *around])


def characters_shown(record: Record) -> int:
    """Count the answer's text, and headings and context of its passages that it does not repeat, each once."""
    answer = plain(record["answer"])
    around = {text for each in shown_passages(record) for text in each.around}
    return len(record["answer"]) + sum(len(text) for text in around if plain(text) not in answer)


def gold_passages(record: Record) -> list[GoldPassage]:
    """Return the passages that bear the answer, any of which is right; each sentence where those are the evidence."""
    if passages := record.get("passages"):
        return passages
    sentences = {(each["document"], each["text"]) for chosen in record["evidence"] for each in chosen}
    return [GoldPassage(document=document, text=text, alternative=False) for document, text in sorted(sentences)]


def has_gold(record: Record) -> bool:
    """Return whether a question can be answered and what bears its answer is known."""
    return record["expected"] == "answered" and bool(gold_passages(record))


def is_hit(shown: Shown, gold: Iterable[GoldPassage]) -> bool:
    """Return whether a shown passage is right by any of some gold passages."""
    return any(
        shown.document == each["document"]
        and (quote_hits(shown.text, each["text"]) or (bool(shown.around) and quote_hits(shown.whole, each["text"])))
        for each in gold
    )


def is_gold(record: Record, citation: CitationRecord) -> bool:
    """Return whether a passage is right, or holds an accepted sentence."""
    accepted = {(each["document"], each["index"]) for each in record["accepted"]}
    if any((citation["document"], index) in accepted for index in citation["sentences"]):
        return True
    return is_hit(passage_of(citation), gold_passages(record))


def shows_gold(record: Record, *, most: int | None = None) -> bool:
    """Return whether one of an answer's passages, or of its first ``most``, is right."""
    if record["outcome"] != "answered":
        return False
    gold = gold_passages(record)
    return any(is_hit(each, gold) for each in shown_passages(record)[:most])


def says_answer(record: Record) -> bool:
    """Return whether an answer says one of a question's answers, if it has any, and one of each of its groups."""
    groups = [group for group in (record["answers"], *record.get("all_of", [])) if group]
    text = said_text(record)
    return all(contains(text, group) for group in groups)


def is_right(record: Record) -> bool:
    """Return whether a question was answered, a shown passage is right, and the answer says all that is asked."""
    return shows_gold(record) and says_answer(record)


def gold_shown(record: Record) -> float:
    """Return the share of the gold passages that shown ones hold, in [0, 1], in the best set of evidence.

    An alternative passage that is shown stands for one that is not.
    """
    shown = shown_passages(record) if record["outcome"] == "answered" else []

    def held(gold: Sequence[GoldPassage]) -> int:
        return sum(any(is_hit(each, [wanted]) for each in shown) for wanted in gold)

    if passages := record.get("passages"):
        return min(1.0, held(passages) / (sum(not each["alternative"] for each in passages) or 1))
    sets = [
        [GoldPassage(document=each["document"], text=each["text"], alternative=False) for each in chosen]
        for chosen in record["evidence"]
    ]
    return max(held(chosen) / len(chosen) for chosen in sets)


def _of_answerable(measure: Callable[[Record], float]) -> Callable[[Record], Sequence[float]]:
    def observe(record: Record) -> Sequence[float]:
        return (float(measure(record)),) if has_gold(record) else ()

    return observe


def _precision(record: Record) -> Sequence[float]:
    if not has_gold(record) or record["outcome"] != "answered":
        return ()
    return [float(is_hit(each, gold_passages(record))) for each in shown_passages(record)]


def _nearest_is_gold(record: Record) -> bool:
    gold = gold_passages(record)
    return record["outcome"] == "abstained" and any(is_hit(each, gold) for each in nearest_passages(record))


def _found(most: int, record: Record) -> Sequence[float]:
    if not has_gold(record) or record["pages"] or not all("gold" in each for each in record["retrieved"]):
        return ()
    return (float(any(each.get("gold") for each in record["retrieved"][:most])),)


def _characters(record: Record) -> Sequence[float]:
    return (float(characters_shown(record)),) if record["outcome"] == "answered" else ()


def _count(record: Record) -> Sequence[float]:
    return (float(len(shown_passages(record))),) if record["outcome"] == "answered" else ()


PASSAGES = (
    Metric(
        name="right",
        title="Right",
        means="answered, a shown passage is right, and the answer says all that is asked for",
        observe=_of_answerable(is_right),
    ),
    Metric(
        name="passage_gold_at_1",
        title="First passage right",
        means="questions whose first shown passage is right",
        observe=_of_answerable(partial(shows_gold, most=1)),
    ),
    Metric(
        name="passage_gold_at_3",
        title="One of three passages right",
        means="questions of whose first three shown passages one is right",
        observe=_of_answerable(partial(shows_gold, most=3)),
    ),
    Metric(
        name="passage_precision",
        title="Passage precision",
        means="shown passages that are right, of answerable questions that were answered",
        observe=_precision,
    ),
    Metric(
        name="passage_recall",
        title="Passage recall",
        means="gold passages that a shown one holds, of the best set of evidence; an alternative stands for another",
        observe=_of_answerable(gold_shown),
    ),
    Metric(
        name="nearest_gold",
        title="Refused with gold nearest",
        means="answerable questions that were refused with a right passage among what came nearest",
        observe=_of_answerable(_nearest_is_gold),
        better="neither",  # better than nothing, worse than an answer
    ),
    *(
        Metric(
            name=f"found_gold_at_{most}",
            title=f"Found in the first {most}",
            means=f"questions for which one of the first {most} segments of their search holds a gold passage",
            observe=partial(_found, most),
        )
        for most in (1, 3, 10)
    ),
    Metric(
        name="characters_shown",
        title="Characters shown",
        means="characters of an answer's text, and of headings and context of its passages that it does not repeat",
        observe=_characters,
        unit="count",
        better="lower",
    ),
    Metric(
        name="passages_per_answer",
        title="Passages per answer",
        means="passages that an answer shows",
        observe=_count,
        unit="count",
        better="neither",
    ),
)
