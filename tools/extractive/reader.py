"""Order the sentences of a run's segments by how well they answer its question.

A linear model over the features of ``features.py``, fitted as a listwise softmax (Cao et al. 2007, ListNet's top-one
probability) by ``evals/fit_reader.py``. Logistic models beside it tell whether the answer is there at all, and which
sentences of a selected page belong to it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from graph.evidence import Hit
from tools.extractive.arrays import Floats
from tools.extractive.candidates import Candidate, Shape, candidates
from tools.extractive.definitions import defines
from tools.extractive.features import Evidence, evidence
from tools.extractive.fitted import fitted_weights
from tools.extractive.instructions import speaks_to_machines
from tools.extractive.likeness import likeness
from tools.extractive.membership import membership
from tools.extractive.parts import parts
from tools.extractive.signals import found_signals, page_signals
from tools.extractive.whole_page import about_whole_page
from tools.extractive.wording import question_wording

# Set by hand, since the data sets at hand hold hardly any code, planted instructions or definitions. Headings are
# never quoted.
SHAPE_PENALTY: Mapping[Shape, float] = {"prose": 0.0, "item": 0.0, "row": 0.0, "code": 1.5, "heading": 6.0}
INSTRUCTION_PENALTY = 4.0
DEFINITION_BONUS = 3.0


@dataclass(frozen=True, slots=True)
class Reading:
    """The candidates of a question, best first with their scores in log odds, and how likely one answers it.

    ``members`` holds the chance that each belongs to what the selected pages say on the question, and is empty where
    most of what was read was found by a search.
    """

    candidates: tuple[Candidate, ...]
    scores: tuple[float, ...]
    answerable: float
    members: tuple[float, ...] = ()

    @property
    def shares(self) -> list[float]:
        """The reader's belief in each candidate; together they are 1."""
        odds = np.exp(np.array(self.scores) - max(self.scores, default=0.0))
        return [float(share) for share in odds / odds.sum()] if self.scores else []


@dataclass(frozen=True, slots=True)
class Look:
    """What the models see of a question and some hits: the candidates, their features, each segment's relevance."""

    question: str
    pool: tuple[Candidate, ...]
    found: Evidence
    relevance: tuple[float, ...]

    def found_signals(self, scores: Floats) -> Floats:
        """Sum up hits of a search; ``scores`` are the reader's."""
        return found_signals(self.question, question_wording(self.question), self.found, scores, self.relevance)

    def page_signals(self, scores: Floats) -> Floats:
        """Sum up selected pages."""
        alike = likeness(self.question, [candidate.text for candidate in self.pool])
        return page_signals(question_wording(self.question), self.found, scores, alike)

    def membership(self, scores: Floats) -> Floats:
        """Give the features by which sentences of a page belong to an answer."""
        alike = likeness(self.question, [candidate.text for candidate in self.pool])
        return membership(self.pool, self.found, scores, alike)


def look(question: str, hits: Sequence[Hit]) -> Look | None:
    """Compute the features of every sentence of the hits; None where they hold none."""
    segments = [hit.segment for hit in hits]
    pool = candidates(segments, unaccented=question.isascii())
    if not pool:
        return None
    relevance = relevances(hits)
    return Look(question, tuple(pool), evidence(question, segments, relevance, pool), tuple(relevance))


def relevances(hits: Sequence[Hit]) -> list[float]:
    """Give what the search says of each hit; a selected page counts as much as the best that was found beside it.

    A page comes with a score that stands for its having been chosen, so it may not outweigh what was measured.
    """
    best = max((hit.score for hit in hits if hit.kind != "page"), default=1.0)
    return [best if hit.kind == "page" else hit.score for hit in hits]


def read(question: str, hits: Sequence[Hit]) -> Reading:
    """Score every sentence of the hits against the question.

    About 2 ms for ten segments of 300 tokens that were read lately, 10 ms for others.
    """
    seen = look(question, hits)
    if seen is None:
        return Reading((), (), 0.0)
    weights = fitted_weights()
    raw = seen.found.features @ weights.reader
    pages = [hit for hit in hits if hit.kind == "page"]
    penalty = np.array([_handicap(question, candidate) for candidate in seen.pool])
    members: Floats | None = None
    if 2 * len(pages) > len(hits):
        members = weights.membership.chance(seen.membership(raw), handicap=penalty)
    scores = raw - penalty
    order = np.argsort(-scores, kind="stable")
    return Reading(
        candidates=tuple(seen.pool[i] for i in order),
        scores=tuple(float(scores[i]) for i in order),
        answerable=_answerable(seen, raw, hits, pages),
        members=() if members is None else tuple(float(members[i]) for i in order),
    )


def _handicap(question: str, candidate: Candidate) -> float:
    return (
        SHAPE_PENALTY[candidate.shape]
        + INSTRUCTION_PENALTY * speaks_to_machines(candidate.text)
        - DEFINITION_BONUS * defines(question, candidate.text)
    )


def _answerable(seen: Look, scores: Floats, hits: Sequence[Hit], pages: Sequence[Hit]) -> float:
    """Give the chance that the answer stands in the pages or in what was found, each judged by itself.

    A question about a page as a whole shares no word with it, and is answered by any page.
    """
    weights = fitted_weights()
    if pages and about_whole_page(seen.question):
        return 1.0
    if len(pages) == len(hits):
        return float(weights.page.chance(seen.page_signals(scores)))
    if not pages:
        return float(weights.found.chance(seen.found_signals(scores)))
    found = [hit for hit in hits if hit.kind != "page"]
    return max(read(seen.question, pages).answerable, read(seen.question, found).answerable)


def read_parts(question: str, hits: Sequence[Hit]) -> list[Reading]:
    """Read for each thing that the question asks; for most questions that is one reading."""
    return [read(part, hits) for part in parts(question)]
