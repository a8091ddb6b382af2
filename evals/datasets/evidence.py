"""Gold evidence from what a data set tells of its answers: a span, or only the words."""

import re
from collections.abc import Iterable

from evals.cases import Document, Sentence


def sentences_over(document: Document, start: int, end: int) -> frozenset[Sentence]:
    """Give the sentences that a span touches, such as the one that an answer stands in."""
    return frozenset(
        Sentence(document.name, index)
        for index, (first, last) in enumerate(document.spans)
        if first < end and start < last
    )


def answer_evidence(document: Document, answers: Iterable[str]) -> tuple[frozenset[Sentence], ...]:
    """Give an alternative for each place where one of the answers stands in a document, whatever its case."""
    places = {
        found.span() for answer in answers for found in re.finditer(re.escape(answer), document.text, re.IGNORECASE)
    }
    return tuple(dict.fromkeys(sentences_over(document, *place) for place in sorted(places)))
