"""Metrics of questions over manuals, whose gold evidence is passages: right answers, and quotes that hit a passage.

An answer is right if it was given, contains one of the answers and one of every group that the question asks for, and
at least one of its quotes hits a passage (``evals.gold_passages.quote_hits``). Only answerable questions are measured;
one that was refused or failed counts 0, unless a measure says otherwise.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from evals.gold_passages import quote_hits
from evals.metrics import Metric
from evals.metrics.answer_metrics import contains
from evals.records import GoldPassage, Record, SectionRecord, citations_of, first_claims_by_writer


class Quote(NamedTuple):
    """A text that an answer shows or rests on, and the name of its document."""

    document: str
    text: str


def shown_quotes(record: Record) -> list[Quote]:
    """Return the quotes of the finished answer, in the order shown."""
    return [Quote(each["document"], each["quote"]) for each in citations_of(record)]


def written_quotes(record: Record) -> list[Quote]:
    """Return what the answer rested on as first checked.

    These are the quotes of each section's claims; where a section has claims and none got a quote, as when all of them
    were called unsupported, the segments that it cites.
    """
    texts = {source["segment_id"]: Quote(source["document"], source["text"]) for source in record["sources"]}
    found: list[Quote] = []
    for place, section in enumerate(_first_sections(record)):
        claims = [claim for claim in first_claims_by_writer(record) if claim["section"] == place]
        quotes = [Quote(each["document"], each["quote"]) for claim in claims for each in claim["citations"]]
        found += quotes or [texts[cited] for cited in section["source_ids"] if claims and cited in texts]
    return found


def written_text(record: Record) -> str:
    """Return the answer as the model first wrote it, before any repair, withdrawal or refusal."""
    return "\n\n".join(section["text"] for section in _first_sections(record))


def _first_sections(record: Record) -> Sequence[SectionRecord]:
    """Return the sections as first written, without the run's own on sources that disagree."""
    return record["written"][: len(record["written"]) - len(record["disagreements"])]


def has_passages(record: Record) -> bool:
    """Return whether a question's evidence is passages."""
    return bool(record.get("passages"))


def says_answer(text: str, record: Record) -> bool:
    """Return whether a text contains one of a question's answers, if it has any, and one of each of its groups."""
    groups = [group for group in (record["answers"], *record.get("all_of", [])) if group]
    return all(contains(text, group) for group in groups)


def is_hit(quote: Quote, passages: Iterable[GoldPassage]) -> bool:
    """Return whether a quote hits any of some passages of its own document."""
    return any(quote.document == each["document"] and quote_hits(quote.text, each["text"]) for each in passages)


def is_right(record: Record) -> bool:
    """Return whether the finished answer is right; a refusal is not."""
    if record["outcome"] != "answered":
        return False
    return says_answer(record["answer"], record) and _any_hit(shown_quotes(record), record)


def is_right_as_written(record: Record) -> bool:
    """Return whether the answer was right as first written, by its first text and ``written_quotes``."""
    return says_answer(written_text(record), record) and _any_hit(written_quotes(record), record)


def passages_found(record: Record) -> float:
    """Return the share of the passages that quotes hit, in [0, 1]; a hit alternative stands for one that was not."""
    passages, quotes = record.get("passages", []), shown_quotes(record)
    hit = [each for each in passages if any(is_hit(quote, [each]) for quote in quotes)]
    needed = sum(not each["alternative"] for each in passages) or 1
    return min(1.0, len(hit) / needed)


def _any_hit(quotes: Iterable[Quote], record: Record) -> bool:
    return any(is_hit(quote, record.get("passages", [])) for quote in quotes)


def _of_answerable(measure: Callable[[Record], float]) -> Callable[[Record], Sequence[float]]:
    def observe(record: Record) -> Sequence[float]:
        return (float(measure(record)),) if has_passages(record) else ()

    return observe


def _first_hits(record: Record) -> bool:
    return _any_hit(shown_quotes(record)[:1], record)


def _hits(record: Record) -> Iterator[float]:
    return (float(is_hit(quote, record.get("passages", []))) for quote in shown_quotes(record))


def _precision(record: Record) -> Sequence[float]:
    return list(_hits(record)) if has_passages(record) else ()


def _quotes_answer(record: Record) -> bool:
    return any(contains(quote.text, record["answers"]) for quote in shown_quotes(record))


def _source_hit(record: Record) -> bool:
    gold = {each["document"] for each in record.get("passages", [])}
    return any(source["document"] in gold for source in record["sources"])


MANUALS = (
    Metric(
        name="right",
        title="Right",
        means="answered, with every answer that is asked for, and a quote that hits a gold passage",
        observe=_of_answerable(is_right),
    ),
    Metric(
        name="right_as_written",
        title="Right as written",
        means="the same of the answer as first written, before repair, withdrawal or refusal",
        observe=_of_answerable(is_right_as_written),
    ),
    Metric(
        name="first_quote_gold",
        title="First quote gold",
        means="questions whose first quote hits a gold passage",
        observe=_of_answerable(_first_hits),
    ),
    Metric(
        name="passage_precision",
        title="Passage precision",
        means="quotes that hit a gold passage, of answerable questions",
        observe=_precision,
    ),
    Metric(
        name="passage_recall",
        title="Passage recall",
        means="gold passages that a quote hits; an alternative stands for one that none hits",
        observe=_of_answerable(passages_found),
    ),
    Metric(
        name="quotes_answer",
        title="Quotes an answer",
        means="questions with a quote, of any file, that contains a gold answer",
        observe=_of_answerable(_quotes_answer),
    ),
    Metric(
        name="source_hit",
        title="Source hit",
        means="questions for which a segment of a gold file was kept",
        observe=_of_answerable(_source_hit),
    ),
)
