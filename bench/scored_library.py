"""A library in memory whose segments carry the features of the score, for fitting it. Scores as the SQL does."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tools.parsers import parse
from tools.retrieval.scoring import CONTEXT, CONTEXT_NORM, IDF_POWER, dense_coverage
from tools.segmenting import SegmentSize, segment
from tools.static_embedding import StaticEmbedder, count_tokens
from tools.terms import UNSPACED_TERM, weigh_question, weigh_segment


@dataclass(frozen=True, slots=True)
class Passage:
    """A document of a data set."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Features:
    """For each segment what the score is made of: lexical ratio, coverage, and similarity times coverage."""

    ratio: NDArray[np.float64]
    coverage: float
    similarity: NDArray[np.float64]

    def columns(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Give the regression's columns of some segments: intercept, lexical, dense, dense offset."""
        ones = np.ones(len(rows))
        return np.stack([ones, self.ratio[rows], self.similarity[rows], ones * self.coverage], axis=1)


class ScoredLibrary:
    """Segments of passages with their terms and vectors. ``passage_of`` tells which passage a segment is of."""

    def __init__(self, passages: list[Passage]) -> None:
        self.passage_of: list[int] = []
        self.bodies: list[str] = []
        self._postings: dict[int, list[tuple[int, float]]] = {}
        for number, passage in enumerate(passages):
            parsed = parse(passage.text.encode(), name="passage.txt")
            for span in segment(parsed, SegmentSize(300), count_tokens):
                vector = weigh_segment(parsed.text[span.start : span.end], title=passage.title)
                for term, weight in zip(vector.ids.tolist(), vector.weights.tolist(), strict=True):
                    self._postings.setdefault(term, []).append((len(self.bodies), weight))
                self.passage_of.append(number)
                self.bodies.append(parsed.text[span.start : span.end])
        self._vectors = np.zeros((0, 0), np.float32)

    async def embed(self, embedder: StaticEmbedder) -> None:
        """Embed the segments; before this there are no features."""
        self._vectors = await embedder.embed(self.bodies)

    async def features(self, question: str, embedder: StaticEmbedder) -> Features:
        """Compute the features of every segment for a question."""
        asked = weigh_question(question)
        total, attainable, own = len(self.bodies), 0.0, np.zeros(len(self.bodies))
        unspaced = len(self._postings.get(UNSPACED_TERM, []))
        for term, weight, expected, is_unspaced in zip(
            asked.ids.tolist(), asked.weights.tolist(), asked.expected.tolist(), asked.unspaced.tolist(), strict=True
        ):
            postings = self._postings.get(term, [])
            alike = max(unspaced or total, len(postings)) if is_unspaced else total
            idf = weight * math.log(1 + (alike - len(postings) + 0.5) / (len(postings) + 0.5)) ** IDF_POWER
            attainable += expected * idf
            for row, saturated in postings:
                own[row] += idf * saturated
        coverage = dense_coverage(embedder.coverage(question))
        similarity = self._vectors @ (await embedder.embed([question]))[0]
        return Features(self._in_context(own) / max(attainable, 1e-6), coverage, coverage * similarity)

    def _in_context(self, own: NDArray[np.float64]) -> NDArray[np.float64]:
        passages = np.array(self.passage_of)
        joined = passages[1:] == passages[:-1]
        beside = np.full(len(own), -np.inf)
        beside[:-1][joined] = own[1:][joined]
        beside[1:][joined] = np.maximum(beside[1:][joined], own[:-1][joined])
        return np.where(np.isfinite(beside), (own + CONTEXT * np.maximum(beside, 0)) / CONTEXT_NORM, own)
