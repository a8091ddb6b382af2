"""A synthetic library to measure on: prose with the word frequencies of natural text, determined by a seed.

Frequent words come from the bundled tokenizer's vocabulary in its own order, roughly that of frequency; rare ones are
joined from two of them, an endless supply. A document draws most words by Zipf's law, and the rest from a few words
that no other document has, so that documents have subjects.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from tools.embeddings.static_embedding import bundled_tokenizer
from tools.retrieval.segmenting import SegmentSpan

SEGMENTS_PER_DOCUMENT = 20
SEGMENT_BYTES = 540
TOKENS = 150
WORDS = 80  # of a segment, about
RARE_WORDS = 300_000
ZIPF_SHIFT = 2.7
ZIPF_EXPONENT = 1.18
SUBJECT_WORDS = 40
SUBJECT_SHARE = 0.2
SENTENCE_WORDS = (6, 24)
OPENINGS = ("what is the", "how does a", "when did the", "which of the", "why is there a")


@dataclass(frozen=True, slots=True)
class BenchDocument:
    """A document cut into segments of about ``SEGMENT_BYTES`` bytes."""

    document_id: str
    title: str
    text: str
    spans: list[SegmentSpan]

    def bodies(self) -> list[str]:
        """Return the text of each segment."""
        return [self.text[span.start : span.end] for span in self.spans]


class Corpus:
    """A generator of documents and questions from a seed."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        vocabulary = bundled_tokenizer().get_vocab()
        pieces = [piece[1:].lower() for piece in sorted(vocabulary, key=vocabulary.__getitem__) if piece[0] == "▁"]
        words = list(dict.fromkeys(piece for piece in pieces if len(piece) > 1 and piece.isascii() and piece.isalpha()))
        joined = self._random.integers(len(words), size=(RARE_WORDS, 2)).tolist()
        self._words = words + [words[left] + words[right] for left, right in joined]
        frequency = (np.arange(len(self._words)) + ZIPF_SHIFT) ** -ZIPF_EXPONENT
        self._cumulative = np.cumsum(frequency) / frequency.sum()

    def documents(self, count: int) -> Iterator[BenchDocument]:
        """Yield documents of ``SEGMENTS_PER_DOCUMENT`` segments each."""
        for _ in range(count):
            subject = self._draw(SUBJECT_WORDS, skip=100)
            bodies = self._bodies(subject)
            ends = np.cumsum([len(body) for body in bodies]).tolist()
            spans = [
                SegmentSpan(index, end - len(body), end, None, "", TOKENS)
                for index, (body, end) in enumerate(zip(bodies, ends, strict=True))
            ]
            document_id = str(UUID(bytes=self._random.bytes(16)))
            yield BenchDocument(document_id, " ".join(subject[:3]).title(), "".join(bodies), spans)

    def words_within(self, least: float, most: float) -> list[str]:
        """Return the words that a segment holds with a probability in this range, so far as its subject allows."""
        frequency = np.diff(self._cumulative, prepend=0.0) * (1 - SUBJECT_SHARE)
        share = 1 - (1 - frequency) ** WORDS
        return [self._words[place] for place in np.flatnonzero((share >= least) & (share < most)).tolist()]

    def question(self, body: str) -> str:
        """Return a question about a segment in some of the words of one of its sentences, common ones included."""
        words = max(body.lower().split(". "), key=len).split()
        start = int(self._random.integers(max(1, len(words) - 9)))
        kept = [word.strip(".") for word in words[start : start + 9] if self._random.random() > 0.2]
        opening = OPENINGS[int(self._random.integers(len(OPENINGS)))]
        return f"{opening} {' '.join(kept)} in the {self._draw(1)[0]}?"

    def _draw(self, count: int, skip: int = 0) -> list[str]:
        return [self._words[rank] for rank in self._ranks((count,), skip).tolist()]

    def _ranks(self, shape: tuple[int, ...], skip: int = 0) -> NDArray[np.int64]:
        ranks = np.searchsorted(self._cumulative, self._random.random(shape)) + skip
        return np.minimum(ranks, len(self._words) - 1)

    def _bodies(self, subject: list[str]) -> list[str]:
        count = SEGMENTS_PER_DOCUMENT * SEGMENT_BYTES // 3
        words = self._draw(count)
        for place in np.flatnonzero(self._random.random(count) < SUBJECT_SHARE).tolist():
            words[place] = subject[(place * place) % len(subject)]
        stream = iter(words)
        bodies: list[str] = []
        for _ in range(SEGMENTS_PER_DOCUMENT):
            sentences: list[str] = []
            while sum(map(len, sentences)) < SEGMENT_BYTES:
                length = int(self._random.integers(*SENTENCE_WORDS))
                sentences.append(" ".join(islice(stream, length)).capitalize() + ". ")
            text = "".join(sentences)[:SEGMENT_BYTES]
            bodies.append(text[: text.rindex(" ")] + " ")
        return bodies


def workspace_sizes(segments: int = 100_000, workspaces: int = 100) -> list[int]:
    """Return the segments per workspace, in whole documents: 30 % in the first, 1 % in the second, the rest falling."""
    first, second = int(segments * 0.3), int(segments * 0.01)
    shares = 1 / (np.arange(workspaces - 2) + 4.0)
    rest = shares / shares.sum() * (segments - first - second)
    sizes = [first, second, *rest.tolist()]
    return [max(1, round(size / SEGMENTS_PER_DOCUMENT)) * SEGMENTS_PER_DOCUMENT for size in sizes]
