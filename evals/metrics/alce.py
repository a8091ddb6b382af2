"""ALCE's citation recall and precision (Gao et al. 2023), by any function that tells support.

Statements are the claims of the finished answer; a statement cites what its section does. Two things differ from the
published script: an id that the run never offered counts as a citation, so that inventing one costs precision, and no
citation is left out however many there are, so that citing everything does too.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import NamedTuple

from evals.metrics import Metric
from evals.metrics.support import SupportFunction, shipped
from evals.records import Record, SectionRecord


class StatementScore(NamedTuple):
    """A statement's recall, 0 or 1, how many of its citations count as precise, and how many there are."""

    recall: float
    precise: int
    citations: int


@dataclass(frozen=True, slots=True)
class Alce:
    """The two measures, resting on a function of support."""

    support: SupportFunction

    def statement(self, text: str, passages: Sequence[str], unknown: int) -> StatementScore:
        """Score a statement by the passages that it cites and the number of ids it gives that name none.

        Recall is 1 where the passages support it together and no id is unknown. A citation is precise where recall is
        1 and it is not irrelevant: unable to support the statement, while the others can without it.
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
        """Give the mean recall of an answer's statements; nothing where it makes none."""
        scores = self._scores(record)
        return (fmean(score.recall for score in scores),) if scores else ()

    def precision(self, record: Record) -> Sequence[float]:
        """Give the share of an answer's citations that are precise, 0 where it cites nothing."""
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
        """The measures, whose explanations name the function and how well it agrees with people."""
        rating = self.support.rating
        worth = "" if rating is None else f" (AUROC {rating['auroc']:.3f} on labels by people)"
        by = f"as {self.support.name} tells it{worth}"
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
    """Give the texts that a section cites, and how many of its ids name none."""
    known = [passages[source_id] for source_id in section["source_ids"] if source_id in passages]
    return known, section["unknown_ids"] + len(section["source_ids"]) - len(known)


ALCE = Alce(shipped())
