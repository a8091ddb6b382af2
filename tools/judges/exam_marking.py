"""Marks of an exam: its two halves, the threshold chosen on one, and the result held on the other.

One half chooses the threshold on the reported probability of support, the other, which had no part in that choice,
decides whether the judge passed. Intervals are Wilson's score intervals (E. B. Wilson, "Probable inference, the law of
succession, and statistical inference", JASA 22, 1927): they hold for small counts and for shares of 0 and 1. A half
has few false claims, so a pass says less than it seems: none wrong of 25 still has an upper limit of 13 %.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import sqrt
from typing import Literal

from graph.evidence import ExamFigure
from graph.ports import Judgement

MOST_WRONG = 0.05  # of the false claims, called supported
LEAST_RIGHT = 0.8  # of the true claims, called supported
NORMAL_95 = 1.959964  # the 97.5 % quantile of the normal distribution

Half = Literal["chosen", "held"]


@dataclass(frozen=True, slots=True)
class Share:
    """A count out of a number of claims."""

    count: int
    of: int

    @property
    def mean(self) -> float:
        return self.count / self.of if self.of else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """The Wilson score interval at 95 %: its lower and upper limit in [0, 1]."""
        if self.of == 0:
            return 0.0, 1.0
        squared = NORMAL_95**2
        centre = (self.mean + squared / (2 * self.of)) / (1 + squared / self.of)
        spread = NORMAL_95 * sqrt(self.mean * (1 - self.mean) / self.of + squared / (4 * self.of**2))
        spread /= 1 + squared / self.of
        low = 0.0 if self.count == 0 else max(0.0, centre - spread)
        return low, 1.0 if self.count == self.of else min(1.0, centre + spread)

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.count} of {self.of} ({low:.0%} to {high:.0%})"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a judge said of one claim of the exam, and what is true of it."""

    claim_id: str
    supported: bool
    judgement: Judgement

    def accepted(self, threshold: float | None) -> bool:
        """Return whether the claim counts as supported, given the threshold."""
        return accepts(self.judgement, threshold)

    def right(self, threshold: float | None) -> bool:
        """Return whether the verdict is right; no verdict never is."""
        accepted = self.accepted(threshold)
        return accepted if self.supported else self.judgement.verdict is not None and not accepted


def accepts(judgement: Judgement, threshold: float | None) -> bool:
    """Return whether a judgement says "supported" with a probability of at least the threshold.

    A threshold only takes away: "unsupported" stays so at any probability. Where the judge reports no probability for
    a claim, it counts as 0.
    """
    return judgement.verdict == "supported" and (judgement.probability or 0.0) >= (threshold or 0.0)


def halves(claims: Iterable[tuple[str, str, bool]]) -> dict[str, Half]:
    """Assign each claim, given as (id, language, supported), to a half by its id.

    Within a language and label the ids are ordered by their hash and dealt in turn, so the halves are the same in every
    process and differ by at most one claim of each label.
    """
    groups: defaultdict[tuple[str, bool], list[str]] = defaultdict(list)
    for claim_id, language, supported in claims:
        groups[language, supported].append(claim_id)
    assigned: dict[str, Half] = {}
    for ids in groups.values():
        for place, claim_id in enumerate(sorted(ids, key=lambda each: hashlib.sha256(each.encode()).digest())):
            assigned[claim_id] = "chosen" if place % 2 else "held"
    return assigned


def choose_threshold(answers: Sequence[Answer]) -> float | None:
    """Return the lowest threshold that keeps false claims called supported within 5 %, so as to lose fewest true ones.

    It is 0 where all may pass, and None for a judge without probabilities. Where even the highest reported probability
    lets too many pass, it is that one, and the judge fails in this half.
    """
    reported = {
        probability
        for answer in answers
        if answer.judgement.verdict == "supported" and (probability := answer.judgement.probability) is not None
    }
    if not reported:
        return None
    candidates = [0.0, *sorted(reported)]
    return next((each for each in candidates if share_wrong(answers, each).mean <= MOST_WRONG), candidates[-1])


def share_wrong(answers: Sequence[Answer], threshold: float | None) -> Share:
    """Return how many of the false claims count as supported."""
    false = [answer for answer in answers if not answer.supported]
    return Share(sum(answer.accepted(threshold) for answer in false), len(false))


def share_proven(answers: Sequence[Answer], threshold: float | None) -> Share:
    """Return how many of the true claims count as supported."""
    true = [answer for answer in answers if answer.supported]
    return Share(sum(answer.accepted(threshold) for answer in true), len(true))


@dataclass(frozen=True, slots=True)
class LanguageResult:
    """The result of an exam in one language. All shares are of the held half, at the threshold.

    ``wrong`` is the share of false claims called supported, ``proven`` that of true ones, ``right`` that of right
    verdicts, and ``silent`` that of claims without a verdict. ``chosen_wrong`` is ``wrong`` in the half that chose the
    threshold. ``calls``, ``tokens`` and ``seconds`` are what both halves took.
    """

    language: str
    threshold: float | None
    wrong: Share
    proven: Share
    right: Share
    silent: Share
    chosen_wrong: Share
    calls: int
    tokens: int
    seconds: float
    taken_at: datetime

    @property
    def passed(self) -> bool:
        """Whether the judge has a say in this language."""
        return not self.faults

    @property
    def faults(self) -> list[str]:
        """What the judge failed by, in words and numbers; empty if it passed."""
        faults = []
        if self.chosen_wrong.mean > MOST_WRONG:
            which = "at any threshold" if self.threshold is not None else "in the half that would choose a threshold"
            faults.append(
                f"it called at least {self.chosen_wrong.count} of {self.chosen_wrong.of} false claims supported {which}"
                f" (at most {MOST_WRONG:.0%} may be)"
            )
        if self.wrong.mean > MOST_WRONG:
            faults.append(f"it called {self.wrong} false claims supported (at most {MOST_WRONG:.0%} may be)")
        if self.proven.mean < LEAST_RIGHT:
            faults.append(f"it called {self.proven} true claims supported (at least {LEAST_RIGHT:.0%} must be)")
        if faults and self.silent.count:
            faults.append(f"{self.silent.count} of {self.silent.of} claims got no verdict")
        return faults

    def __str__(self) -> str:
        shares = f"it called supported {self.wrong} false and {self.proven} true claims"
        cost = f"{self.calls} calls, {self.tokens:,} tokens, {self.seconds:.0f} s"
        return f"{'passed' if self.passed else 'failed'}; {shares}; {cost}"

    @property
    def figure(self) -> ExamFigure:
        """The figure that verdicts carry."""
        return ExamFigure(language=self.language, right=self.right.count, of=self.right.of)


def mark(
    language: str,
    answers: Sequence[Answer],
    assigned: Mapping[str, Half],
    *,
    calls: int,
    tokens: int,
    seconds: float,
    taken_at: datetime,
) -> LanguageResult:
    """Choose the threshold on one half of a language's answers, and hold it on the other."""
    chosen = [answer for answer in answers if assigned[answer.claim_id] == "chosen"]
    held = [answer for answer in answers if assigned[answer.claim_id] == "held"]
    threshold = choose_threshold(chosen)
    return LanguageResult(
        language=language,
        threshold=threshold,
        wrong=share_wrong(held, threshold),
        proven=share_proven(held, threshold),
        right=Share(sum(answer.right(threshold) for answer in held), len(held)),
        silent=Share(sum(answer.judgement.verdict is None for answer in held), len(held)),
        chosen_wrong=share_wrong(chosen, threshold),
        calls=calls,
        tokens=tokens,
        seconds=seconds,
        taken_at=taken_at,
    )
