"""Quotes against the sentences that annotators selected: which ones a quote holds, and how well a set matches."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Match:
    """Precision, recall and F1 of a set of sentences with the reference that it matches best; 0 for an empty set."""

    precision: float
    recall: float
    f1: float


def sentence_spans(text: str, sentences: Iterable[str]) -> list[tuple[int, int]]:
    """Find sentences, given in order, in their text. Raises ValueError where one is not there."""
    spans: list[tuple[int, int]] = []
    at = 0
    for sentence in sentences:
        start = text.index(sentence, at)
        at = start + len(sentence)
        spans.append((start, at))
    return spans


def sentences_in(start: int, end: int, spans: Sequence[tuple[int, int]]) -> frozenset[int]:
    """Tell which sentences a quote holds: they share more than half of the shorter of the two."""
    return frozenset(
        index
        for index, (first, last) in enumerate(spans)
        if 2 * (min(end, last) - max(start, first)) > min(last - first, end - start)
    )


def best_match(quoted: frozenset[int], references: Iterable[frozenset[int]]) -> Match:
    """Score a set against each reference and keep the best by F1."""
    matches = [Match(0.0, 0.0, 0.0)]
    for reference in references:
        shared = len(quoted & reference)
        if shared:
            precision, recall = shared / len(quoted), shared / len(reference)
            matches.append(Match(precision, recall, 2 * precision * recall / (precision + recall)))
    return max(matches, key=lambda match: match.f1)
