"""Sentences of the segments that a claim is checked against, each parsed once and indexed by term."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log

from graph.evidence import Segment
from text.sentences import sentences, trimmed
from tools.claims.alignment import is_content
from tools.claims.lexicon import stem
from tools.claims.quantities import parts_of
from tools.claims.sentence_parsing import ParsedSentence, parse_sentence


@dataclass(frozen=True, slots=True)
class Content:
    """What a sentence says without the words that hold it together: in order, and as a set."""

    keys: tuple[str, ...]
    distinct: frozenset[str]


@dataclass(frozen=True, slots=True)
class SourceSentence:
    """A whole sentence of a segment, in offsets of its text, and what it holds."""

    start: int
    end: int
    reading: ParsedSentence
    terms: frozenset[str]
    content: Content


@dataclass(frozen=True, slots=True)
class SourceText:
    """A segment's text in sentences, in order; blank ones are left out."""

    sentences: tuple[SourceSentence, ...]
    terms: frozenset[str]
    capitals: frozenset[str]
    flat: str
    quantities: frozenset[str]


@lru_cache(maxsize=2048)
def parse_source(text: str) -> SourceText:
    """Split and read a text once. Takes time linear in the text."""
    found: list[SourceSentence] = []
    for start, end in sentences(text):
        start, end = trimmed(text, start, end)
        if start < end:
            reading = parse_sentence(text[start:end])
            found.append(SourceSentence(start, end, reading, terms_of(reading), content_of(reading)))
    return SourceText(
        tuple(found),
        frozenset(term for sentence in found for term in sentence.terms),
        frozenset(
            sentence.reading.keys[at]
            for sentence in found
            for at, name in enumerate(sentence.reading.names)
            if name == 2
        ),
        "\n".join("".join(sentence.reading.keys) for sentence in found),
        frozenset(quantity for sentence in found for quantity in quantities_of(sentence.reading)),
    )


def content_of(reading: ParsedSentence) -> Content:
    """Return the content of a sentence."""
    keys = tuple(token.key for token in reading.tokens if is_content(token))
    return Content(keys, frozenset(keys))


def terms_of(reading: ParsedSentence, begins: int = 0) -> frozenset[str]:
    """Return what a sentence is looked up by: stems of its content, and pairs of letters in scripts without spaces."""
    found: set[str] = set()
    past = ""
    for token in reading.tokens[begins:]:
        if token.kind == "letter":
            if past:
                found.add(past + token.key)
            elif is_content(token):
                found.add(token.key)
            past = token.key
            continue
        past = ""
        if is_content(token):
            found.add(stem(token.key))
    return frozenset(found)


def quantities_of(reading: ParsedSentence) -> frozenset[str]:
    """Return every number of a sentence, and of every date its parts, under the keys of ``lookup_keys``."""
    found = {"#1" for key in reading.keys if key in ("one", "một", "一")}
    for key in reading.keys:
        if key.startswith("@") and len(key) > 1:
            year, month, day = parts_of(key)
            found |= {f"#{part}" for part in (year, day) if part is not None}
            found |= {f"@{part}" for part in (month,) if part is not None}
        elif key.startswith("#") and len(key) > 1:
            found |= lookup_keys(key)
    return frozenset(found)


def lookup_keys(key: str) -> frozenset[str]:
    """Return the keys under which a number or date is looked for: of a date its year, else its day, else its month."""
    if key.startswith("@"):
        year, month, day = parts_of(key)
        return frozenset((f"#{year}" if year is not None else f"@{month}" if day is None else f"#{day}",))
    return frozenset((key, key.rstrip("s")))


class Sources:
    """The segments that one claim may rest on."""

    def __init__(self, segments: Sequence[Segment]) -> None:
        self.segments = tuple(segments)
        self.texts = tuple(parse_source(segment.text) for segment in segments)
        self.places = [(at, sentence) for at, text in enumerate(self.texts) for sentence in text.sentences]
        above = [parse_sentence(f"{segment.title} . {segment.heading}") for segment in segments]
        self.terms = frozenset[str]().union(*map(terms_of, above), *(text.terms for text in self.texts))
        self.capitals = frozenset[str]().union(*(text.capitals for text in self.texts))
        self.quantities = frozenset[str]().union(*map(quantities_of, above), *(text.quantities for text in self.texts))
        counts: dict[str, int] = {}
        for _, sentence in self.places:
            for term in sentence.terms:
                counts[term] = counts.get(term, 0) + 1
        self._counts = counts

    def weight(self, term: str) -> float:
        """Return the weight of a term, by its rarity among the sentences."""
        return log(1 + (len(self.places) + 1) / (self._counts.get(term, 0) + 0.5))

    def known(self, run: str) -> bool:
        """Whether letters occur twice in the text, or ``^word`` is a name within a sentence."""
        if run.startswith("^"):
            return run[1:] in self.capitals
        return any(run in text.flat for text in self.texts)

    def closest(self, terms: frozenset[str], most: int) -> list[tuple[float, int, SourceSentence]]:
        """Return the sentences that hold most of the terms: share of their weight in [0, 1], segment, sentence."""
        weights = {term: self.weight(term) for term in terms}
        total = sum(weights.values())
        if not total:
            return []
        scored = [
            (sum(weights[term] for term in terms & sentence.terms) / total, at, sentence)
            for at, sentence in self.places
        ]
        scored.sort(key=lambda found: -found[0])
        return [found for found in scored[:most] if found[0] > 0]

    def cover(self, terms: frozenset[str]) -> float:
        """Return the share of the terms that occurs anywhere in the sources; 1 without terms."""
        return len(terms & self.terms) / len(terms) if terms else 1.0
