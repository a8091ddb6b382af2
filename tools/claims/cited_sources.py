"""The segments that claims are checked against, with their sentences found by words, forms and terms."""

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log
from operator import attrgetter

from answers.citations import context_of_quote
from graph.evidence import ContextRole, Segment, without_outer_headings
from tools.claims.alignment import is_content
from tools.claims.exact_forms import exact_form
from tools.claims.sentence_parsing import ParsedSentence, parse_sentence
from tools.claims.source_sentences import SourceSentence, parse_source, quantities_of, rough_words, terms_of
from tools.rules.candidate_sentences import CandidateSentence, candidate_sentences

_VALUE = re.compile(r"#-?\d+(?:\.\d+)?(?:e\+\d+)?")
UNSETTLED = 4  # tokens at the end of a text that may be read otherwise with what follows
_STOPPED = re.compile(r"[.!?。！？][\"'”’»)\]*_]*\s*\Z")
_MORE = "|"
_COMPOUND = re.compile(r"(?<![^\W_])[^\W_]++(?:[_.:/-]{1,3}[^\W_]++)++")
_NAMING = frozenset[ContextRole]({"term", "caption", "header", "label"})  # every word of them, and signs, may be named
MOST_SHARING = 48  # sentences with words of a claim that are compared with it
MOST_POSTINGS = 400  # places of its words that are looked at for one claim, the rarest words first


@dataclass(frozen=True, slots=True)
class NamedAround:
    """What a sentence hangs on may be named in what it says: parsed words, and words and signs as they are written.

    A name of several parts is one of ``compounds`` as a whole: ``work_mem`` is not named by ``maintenance_work_mem``.
    """

    keys: frozenset[str] = frozenset()
    written: frozenset[str] = frozenset()
    compounds: frozenset[str] = frozenset()


def compounds_of(text: str) -> frozenset[str]:
    """Return the names of several parts in a text, such as ``work_mem``, in lower case."""
    return frozenset(found.casefold() for found in _COMPOUND.findall(text))


def exact_words(texts: Iterable[str]) -> frozenset[str]:
    """Return the words and signs of texts as exact forms hold them, in lower case."""
    return frozenset(key.casefold() for text in texts for key in exact_form(text))


class Sources:
    """The segments that one claim may rest on. Nothing of them is read before it is needed."""

    def __init__(self, segments: Sequence[Segment]) -> None:
        self.segments = tuple(segments)
        self.texts = tuple(
            parse_source(segment.text, tuple(block.start - segment.start for block in segment.blocks))
            for segment in segments
        )
        self._named_around: dict[tuple[int, int], NamedAround] = {}

    @cached_property
    def places(self) -> Sequence[tuple[int, SourceSentence]]:
        """Every sentence with the index of its segment."""
        return [(at, sentence) for at, text in enumerate(self.texts) for sentence in text.sentences]

    def asks_before(self, place: tuple[int, int, int], question: str) -> bool:
        """Whether a question stands right before a sentence, as a source stores it with its answer."""
        at, start, _ = place
        sentences = self.texts[at].sentences
        before = bisect_left(sentences, start, key=attrgetter("start")) - 1
        return before >= 0 and exact_form(question) in sentences[before].forms

    @cached_property
    def _above(self) -> Sequence[ParsedSentence]:
        above = dict.fromkeys(f"{each.title} . {each.heading}" for each in self.segments)
        return [parse_sentence(text) for text in above]

    @cached_property
    def named_above(self) -> frozenset[str]:
        """The words of titles and headings: what they name may be put in any sentence."""
        return frozenset(key for reading in self._above for key in reading.keys)

    @cached_property
    def words_above(self) -> frozenset[str]:
        """The words of titles and headings in lower case."""
        return frozenset[str]().union(*(rough_words(f"{each.title} {each.heading}") for each in self.segments))

    def named_around(self, at: int, sentence: SourceSentence) -> NamedAround:
        """Return what a sentence hangs on: the term that it defines, the header of its row, what its "it" points to.

        Words that negate are left out: they change what is said.
        """
        known = self._named_around.get((at, sentence.start))
        if known is None:
            segment = self.segments[at]
            keys: set[str] = set()
            written: set[str] = set()
            compounds: set[str] = set()
            for each in context_of_quote(segment, segment.start + sentence.start, segment.start + sentence.end):
                reading = parse_sentence(each["text"])
                denying = {key for key, denies in zip(reading.keys, reading.negates, strict=True) if denies}
                keys.update(token.key for token in reading.tokens if is_content(token) and token.key not in denying)
                written |= rough_words(each["text"]) - denying
                compounds |= compounds_of(each["text"])
                if each["role"] in _NAMING:
                    written |= exact_words([each["text"]]) - denying
            known = NamedAround(frozenset(keys), frozenset(written), frozenset(compounds))
            self._named_around[at, sentence.start] = known
        return known

    @cached_property
    def _around(self) -> Sequence[ParsedSentence]:
        """What the segments hang on outside of themselves."""
        slices = dict.fromkeys(
            each.text
            for segment in self.segments
            for block in segment.blocks
            for each in without_outer_headings(block.context)
            if not segment.start <= each.start < segment.end
        )
        return [parse_sentence(text) for text in slices]

    @cached_property
    def terms(self) -> frozenset[str]:
        """Everything that the texts, titles, headings and what they hang on are looked up by."""
        above = map(terms_of, (*self._above, *self._around))
        return frozenset[str]().union(*above, *(text.terms for text in self.texts))

    @cached_property
    def capitals(self) -> frozenset[str]:
        """The names that stand within sentences."""
        return frozenset[str]().union(*(text.capitals for text in self.texts))

    @cached_property
    def quantities(self) -> frozenset[str]:
        """Every number of the texts, titles, headings and what they hang on."""
        above = map(quantities_of, (*self._above, *self._around))
        return frozenset[str]().union(*above, *(text.quantities for text in self.texts))

    @cached_property
    def values(self) -> Sequence[float]:
        """The values of these numbers, in order."""
        return sorted(float(key[1:]) for key in self.quantities if _VALUE.fullmatch(key))

    @cached_property
    def candidates(self) -> Mapping[tuple[int, int], CandidateSentence]:
        """The sentences that may be quoted as evidence, by segment and start."""
        return {(each.segment, each.start): each for each in candidate_sentences(self.segments)}

    @cached_property
    def _postings(self) -> Mapping[str, Sequence[int]]:
        found: dict[str, list[int]] = defaultdict(list)
        for at, (_, sentence) in enumerate(self.places):
            for term in sentence.terms:
                found[term].append(at)
        return found

    @cached_property
    def keys(self) -> frozenset[str]:
        """Every token of every sentence, title and heading."""
        return self.named_above.union(*(sentence.reading.keys for _, sentence in self.places))

    def has_sentence(self, text: str) -> bool:
        """Whether a text is a sentence of these, but for notation."""
        form = exact_form(text)
        return any(each.has_form(form, whole=True) for each in self.texts)

    def has_beginning(self, text: str) -> bool:
        """Whether a text may be the beginning of a sentence of these, but for notation.

        Its last few tokens may be read otherwise with what follows them, except behind a stop.
        """
        form = exact_form(f"{text} {_MORE}")[:-1]  # which keeps the stop that a form leaves out at its end
        begun = form if _STOPPED.search(text) else form[: max(1, len(form) - UNSETTLED)]
        return any(each.has_form(begun, whole=False) for each in self.texts)

    @cached_property
    def _sharing(self) -> Mapping[str, Sequence[int]]:
        found: dict[str, list[int]] = defaultdict(list)
        for at, (_, sentence) in enumerate(self.places):
            for word in sentence.words:
                found[word].append(at)
        return found

    def sharing(self, words: frozenset[str], fewest: int) -> list[int]:
        """Return the places of sentences that hold at least so many of some words as written, the most first."""
        counts: Counter[int] = Counter()
        for word in sorted(words, key=lambda each: (len(self._sharing.get(each, ())), each)):
            if len(counts) >= MOST_POSTINGS:
                break
            counts.update(self._sharing.get(word, ())[:MOST_POSTINGS])
        return [place for place, count in counts.most_common(MOST_SHARING) if count >= fewest]

    def holding(self, words: frozenset[str], fewest: int) -> set[int]:
        """Return the same places in no order. In a short text each sentence is looked at, and none is indexed."""
        if len(self.places) < MOST_POSTINGS:
            found = {at for at, (_, sentence) in enumerate(self.places) if len(words & sentence.words) >= fewest}
            if len(found) <= MOST_SHARING:
                return found
        return set(self.sharing(words, fewest))

    def weight(self, term: str) -> float:
        """Return the weight of a term, by its rarity among the sentences."""
        return log(1 + (len(self.places) + 1) / (len(self._postings.get(term, ())) + 0.5))

    def known(self, word: str) -> bool:
        """Whether a word is a name within a sentence."""
        return word in self.capitals

    def closest(self, terms: frozenset[str], most: int) -> list[tuple[float, int, SourceSentence]]:
        """Return the sentences that hold most of the terms: share of their weight in [0, 1], segment, sentence.

        In a long text, sentences that share only common terms with the others may be left out.
        """
        weights = {term: self.weight(term) for term in terms}
        total = sum(weights[term] for term in sorted(terms))
        if not total:
            return []
        near: dict[int, float] = {}
        visits = 0
        for term in sorted(terms, key=lambda each: (len(self._postings.get(each, ())), each)):
            if visits > MOST_POSTINGS:
                break
            postings = self._postings.get(term, ())[:MOST_POSTINGS]
            visits += len(postings)
            for place in postings:
                near[place] = near.get(place, 0.0) + weights[term]
        chosen = sorted(near, key=lambda place: (-near[place], place))[: max(most, MOST_SHARING)]
        scored: list[tuple[float, int, SourceSentence]] = []
        for place in sorted(chosen):
            at, sentence = self.places[place]
            scored.append((sum(weights[term] for term in sorted(terms & sentence.terms)) / total, at, sentence))
        scored.sort(key=lambda found: -found[0])
        return scored[:most]

    def cover(self, terms: frozenset[str]) -> float:
        """Return the share of the terms that occurs anywhere in the sources; 1 without terms."""
        return len(terms & self.terms) / len(terms) if terms else 1.0
