"""ALCE's citation recall and precision (Gao et al. 2023), by any function that scores support.

The measures are only as good as their support function, so its rating on human labels is shown with every figure
that uses it. Any function of two texts works: an inference model's, a language model's, or ours.

Statements are the claims of the finished answer; a statement cites the same sources as its section. Two things differ
from the published script: an id that is not among the run's sources counts as a citation, so that inventing one costs
precision, and no citation is left out however many there are, so that citing everything does too.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import fmean
from typing import NamedTuple

from typing_extensions import TypedDict

from evals.metrics import Metric
from evals.records import Record, SectionRecord
from graph.evidence import Segment
from tools.claims.evidence import share_held

Score = Callable[[str, str], float]  # of a premise and a statement; higher means more likely supported


class Rating(TypedDict):
    """How well a function separates what people labelled supported from the rest; ``of`` names the labelled data."""

    claims: int
    auroc: float
    balanced_accuracy: float
    of: str


@dataclass(frozen=True, slots=True)
class SupportFunction:
    """A named function of a premise and a statement; a score of ``threshold`` or more means supported.

    ``rating`` is its known rating, if any.
    """

    name: str
    score: Score
    threshold: float
    rating: Rating | None = None

    def holds(self, premise: str, statement: str) -> bool:
        """Return whether the premise supports the statement."""
        return self.score(premise, statement) >= self.threshold


class SupportDescription(TypedDict):
    """The support function of some figures, with its rating; null if unknown."""

    name: str
    rating: Rating | None


def described(function: SupportFunction) -> SupportDescription:
    """Return a function's name and rating, to show with figures that use it."""
    return SupportDescription(name=function.name, rating=function.rating)


@lru_cache(maxsize=1 << 14)  # the measures of a run and of its groups score the same pairs repeatedly
def _share_held(premise: str, statement: str) -> float:
    return share_held(statement, [Segment("premise", 0, 0, len(premise), premise)])


_RATING = Rating(claims=349, auroc=0.771, balanced_accuracy=0.690, of="WiCE")  # nothing of it is fitted
WORD_COVERAGE = SupportFunction("word coverage", _share_held, 0.5, _RATING)


class StatementScore(NamedTuple):
    """A statement's recall, 0 or 1, its number of precise citations, and its number of citations."""

    recall: float
    precise: int
    citations: int


@dataclass(frozen=True, slots=True)
class Alce:
    """The two measures by a support function."""

    support: SupportFunction

    def statement(self, text: str, passages: Sequence[str], unknown: int) -> StatementScore:
        """Score a statement by the passages that it cites and its number of unknown ids.

        Recall is 1 if the passages together support it and no id is unknown. A citation is precise if recall is 1 and
        it is not irrelevant; it is irrelevant if it cannot support the statement alone and the others can without it.
        """
        count = len(passages) + unknown
        if not passages or unknown or not self.support.holds("\n".join(passages), text):
            return StatementScore(0.0, 0, count)
        precise = sum(not self._is_irrelevant(place, passages, text) for place in range(len(passages)))
        return StatementScore(1.0, precise, count)

    def _is_irrelevant(self, place: int, passages: Sequence[str], text: str) -> bool:
        others = [*passages[:place], *passages[place + 1 :]]
        return (
            bool(others)
            and not self.support.holds(passages[place], text)
            and self.support.holds("\n".join(others), text)
        )

    def recall(self, record: Record) -> Sequence[float]:
        """Return the mean recall of an answer's statements; empty if it has none."""
        scores = self._scores(record)
        return (fmean(score.recall for score in scores),) if scores else ()

    def precision(self, record: Record) -> Sequence[float]:
        """Return the share of an answer's citations that are precise, 0 if it cites nothing."""
        scores = self._scores(record)
        if not scores:
            return ()
        count = sum(score.citations for score in scores)
        return (sum(score.precise for score in scores) / count if count else 0.0,)

    def _scores(self, record: Record) -> list[StatementScore]:
        if record["outcome"] != "answered":
            return []
        passages = {each["segment_id"]: f"Title: {each['title']}\n{each['text']}" for each in record["sources"]}
        return [
            self.statement(claim["text"], *_cited(record["sections"][claim["section"]], passages))
            for claim in record["claims"]
        ]

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The measures; their explanations name the function and its agreement with people."""
        rating = self.support.rating
        worth = "" if rating is None else f" (AUROC {rating['auroc']:.3f} on labels by people)"
        by = f"by {self.support.name}{worth}"
        return (
            Metric(
                name="alce_recall",
                title="ALCE recall",
                means=f"statements of an answer that their sources support together, {by}",
                observe=self.recall,
            ),
            Metric(
                name="alce_precision",
                title="ALCE precision",
                means=f"citations of an answer that its statements need, {by}; invented ids count",
                observe=self.precision,
            ),
        )


def _cited(section: SectionRecord, passages: dict[str, str]) -> tuple[list[str], int]:
    """Return the texts that a section cites, and its number of unknown ids."""
    known = [passages[source_id] for source_id in section["source_ids"] if source_id in passages]
    return known, section["unknown_ids"] + len(section["source_ids"]) - len(known)


ALCE = Alce(WORD_COVERAGE)
