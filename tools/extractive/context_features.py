"""Features of a candidate sentence from its context (title, heading, table header) and of what it adds to them."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graph.evidence import Segment
from text.normal_forms import flatten
from text.spellings import beside_numbers
from text.words import QuestionTerms, comparable_text
from tools.extractive.question_analysis import names_in, numbers_asked, numbers_in, share_missing
from tools.extractive.similarity import Bools, Floats, cover, cover_beyond, idf, measure_in_place, presence
from tools.rules.candidate_sentences import CandidateSentence


class SentenceContext(NamedTuple):
    """The document's title, the nearest heading above, and the header row of the table, each "" where there is none."""

    title: str
    heading: str
    header: str

    @property
    def text(self) -> str:
        return " ".join(part for part in self if part)


class ContextTable(NamedTuple):
    """The distinct contexts of some candidates, and the index of each candidate's context."""

    contexts: tuple[SentenceContext, ...]
    of_candidate: NDArray[np.int_]  # (candidates,)


def find_contexts(segments: Sequence[Segment], pool: Sequence[CandidateSentence]) -> ContextTable:
    """Return the context of each candidate. A table's first row is its header, and has none itself."""
    known: dict[SentenceContext, int] = {}
    of: list[int] = []
    segment, heading, header = -1, "", ""
    last: tuple[int, str, str] | None = None
    for candidate in pool:
        if candidate.segment != segment:
            segment, header = candidate.segment, ""
            heading = segments[segment].heading
        if candidate.shape == "heading":
            heading = candidate.text
        if candidate.shape != "row":
            header = ""
        if last != (segment, heading, header):
            last = segment, heading, header
            place = known.setdefault(SentenceContext(segments[segment].title, heading, header), len(known))
        of.append(place)
        if candidate.shape == "row":
            header = header or candidate.text
    return ContextTable(tuple(known), np.array(of, dtype=np.int_))


CONTEXT_FEATURES = (
    "terms_beyond_title",  # share of the weight of the terms which the title lacks
    "terms_in_place",  # share of all terms, context included
    "title",  # middle gram cover by the title
    "numbers_missing",  # share of the question's numbers that neither the sentence nor its context has
    "names_missing",  # share of the question's names that no segment read of the document has
    "likeness",  # by static embeddings, of the sentence alone and with its context
    "likeness_in_place",
)


Columns = Mapping[str, NDArray[Any]]  # by name, arrays with a column for each sentence


def context_columns(
    question: str, question_words: QuestionTerms, segments: Sequence[Segment], pool: Sequence[CandidateSentence]
) -> dict[str, NDArray[Any]]:
    """Compute the columns of each sentence and its context alone."""
    table = find_contexts(segments, pool)

    def present_in(units: Sequence[str], texts: Sequence[str] | Sequence[frozenset[str]]) -> Bools:
        return presence(units, texts)[:, table.of_candidate]

    terms, middle = question_words.terms, question_words.grams[1]
    return {
        "title_terms": present_in(terms, [comparable_text(context.title).spellings for context in table.contexts]),
        "surrounding_terms": present_in(terms, [comparable_text(context.text).spellings for context in table.contexts]),
        "titles": present_in(middle, [comparable_text(context.title).flat for context in table.contexts]),
        "numbers_missing": _numbers_missing(question, pool, table),
        **_likeness(question, pool, table),
    }


def context_features(
    question: str, segments: Sequence[Segment], pool: Sequence[CandidateSentence], held: Columns
) -> dict[str, Floats]:
    """Compute CONTEXT_FEATURES of the sentences that are read together, from the columns of each."""
    return {
        **_words(held),
        **{name: held[name] for name in ("numbers_missing", "likeness", "likeness_in_place")},
        "names_missing": _names_missing(question, segments, pool),
    }


def _words(held: Columns) -> Mapping[str, Floats]:
    """Compare the question's words with each sentence's context, and with what the sentence adds to it."""
    terms = held["terms"]
    term_weight = idf(terms)
    return {
        "terms_beyond_title": cover_beyond(term_weight, terms, held["title_terms"]),
        "terms_in_place": cover(term_weight, terms | held["surrounding_terms"]),
        "title": cover(idf(held["middle"]), held["titles"]),
    }


def _numbers_missing(question: str, pool: Sequence[CandidateSentence], table: ContextTable) -> Floats:
    wanted = numbers_asked(question)
    if not wanted:
        return np.zeros(len(pool))
    around = [wanted & numbers_in(context.text) for context in table.contexts]
    return np.array(
        [
            share_missing(wanted, wanted & numbers_in(candidate.text) | around[place])
            for candidate, place in zip(pool, table.of_candidate.tolist(), strict=True)
        ]
    )


def _names_missing(question: str, segments: Sequence[Segment], pool: Sequence[CandidateSentence]) -> Floats:
    names = names_in(question)
    if not names:
        return np.zeros(len(pool))
    read: dict[str, list[str]] = defaultdict(list)
    for segment in segments:
        read[segment.document_id].append(_flattened_whole(segment.title, segment.heading, segment.text))
    missing = {
        document_id: share_missing(names, frozenset(name for name in names if any(name in text for text in texts)))
        for document_id, texts in read.items()
    }
    return np.array([missing[segments[candidate.segment].document_id] for candidate in pool])


@lru_cache(maxsize=512)
def _flattened_whole(title: str, heading: str, text: str) -> str:
    flat = flatten(f"{title} {heading} {text}")
    return f"{flat}{' '.join(beside_numbers(flat.split()))} "


def _likeness(question: str, pool: Sequence[CandidateSentence], table: ContextTable) -> Mapping[str, Floats]:
    texts = [candidate.text for candidate in pool]
    openings = [f"{context.text}:" for context in table.contexts]
    alone, in_place = measure_in_place(question, texts, openings, table.of_candidate)
    return {"likeness": alone, "likeness_in_place": in_place}
