"""Marks of an exam: when its outcome is sure, the threshold that it chose, and the result.

An exam ends as soon as two sequential tests are decided, of false claims called supported and of true ones that are
not, or when no answer to what is left could change the outcome. Where all claims are answered, their shares decide.

A judge whose word alone keeps to the bounds needs no threshold on its probabilities. Of another one that reports some,
the first half of the answers chooses the threshold, and the second, which had no part in that choice, is held to it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from graph.evidence import ExamFigure
from graph.ports import Judgement
from graph.reasons import Reason
from tools.judges.sequential_testing import MISSED, WRONG, Share

MOST_WRONG = 0.05  # of the false claims, called supported
LEAST_RIGHT = 0.8  # of the true claims, called supported
NO_PROBABILITY = Reason("no_probability")


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
    """The result of an exam in one language. All shares are at the threshold.

    ``wrong`` is the share of false claims called supported, ``proven`` that of true ones, ``right`` that of right
    verdicts, and ``silent`` that of claims without a verdict: of all claims that were asked, or of the held half where
    the other, with ``chosen_wrong``, chose the threshold. ``calls``, ``tokens`` and ``seconds`` are what all took.
    """

    language: str
    threshold: float | None
    wrong: Share
    proven: Share
    right: Share
    silent: Share
    calls: int
    tokens: int
    seconds: float
    taken_at: datetime
    chosen_wrong: Share = field(default_factory=lambda: Share(0, 0))

    @property
    def passed(self) -> bool:
        """Whether the judge has a say in this language."""
        return not self.faults

    @property
    def missed(self) -> Share:
        """The share of true claims that it did not call supported."""
        return Share(self.proven.of - self.proven.count, self.proven.of)

    @property
    def faults(self) -> list[str]:
        """What the judge failed by, in words and numbers; empty if it passed."""
        faults = []
        if self.chosen_wrong.mean > MOST_WRONG:
            faults.append(
                f"it called at least {self.chosen_wrong.count} of {self.chosen_wrong.of} false claims supported at any"
                f" threshold (at most {MOST_WRONG:.0%} may be)"
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


def held_to(judgement: Judgement, result: LanguageResult) -> Judgement:
    """Return a judgement with the result that a judge passed with, held to its threshold.

    It is none where the judge reported no probability that the threshold asks for.
    """
    if judgement.verdict is None:
        return judgement
    if judgement.verdict != "supported" or accepts(judgement, result.threshold):
        return replace(judgement, exam=result.figure)
    if judgement.probability is None:
        return Judgement(None, reason=NO_PROBABILITY)
    reason = Reason("below_threshold", judgement.probability, result.threshold or 0.0)
    return replace(judgement, verdict="unsupported", reason=reason, exam=result.figure)


@dataclass(frozen=True, slots=True)
class Spent:
    """What an exam has taken so far: requests, tokens read and written, and seconds."""

    calls: int = 0
    tokens: int = 0
    seconds: float = 0.0

    def __add__(self, more: "Spent") -> "Spent":
        return Spent(self.calls + more.calls, self.tokens + more.tokens, self.seconds + more.seconds)


def mark(
    language: str, answers: Sequence[Answer], labels: Sequence[bool], spent: Spent, *, taken_at: datetime
) -> LanguageResult | None:
    """Return the result of an exam in a language, None as long as it is not sure.

    ``answers`` are those to the first claims, and ``labels`` what is true of all, in their order.
    """

    def at(threshold: float | None, held: Sequence[Answer] = answers, chosen: Sequence[Answer] = ()) -> LanguageResult:
        return LanguageResult(
            language=language,
            threshold=threshold,
            wrong=share_wrong(held, threshold),
            proven=share_proven(held, threshold),
            right=Share(sum(answer.right(threshold) for answer in held), len(held)),
            silent=Share(sum(answer.judgement.verdict is None for answer in held), len(held)),
            calls=spent.calls,
            tokens=spent.tokens,
            seconds=round(spent.seconds, 1),
            taken_at=taken_at,
            chosen_wrong=share_wrong(chosen, threshold),
        )

    best = choose_threshold(answers)
    by_word = at(None if best is None else 0.0)
    wrong, missed = WRONG.decide(by_word.wrong), MISSED.decide(by_word.missed)
    is_over = len(answers) == len(labels)
    if by_word.passed and (is_over or wrong == missed == "pass"):
        return by_word
    true = sum(labels)
    if missed == "fail" or Share(true - by_word.missed.count, true).mean < LEAST_RIGHT:  # whatever is still to come
        return by_word  # since a threshold only takes away
    if wrong != "fail" and Share(by_word.wrong.count, len(labels) - true).mean <= MOST_WRONG:
        return None
    if best is None:
        return by_word
    at_best = at(best)
    if "fail" in (WRONG.decide(at_best.wrong), MISSED.decide(at_best.missed)):
        return at_best
    if not is_over:
        return None
    chosen, held = _halves(answers)
    return at(choose_threshold(chosen), held, chosen)


def _halves(answers: Sequence[Answer]) -> tuple[list[Answer], list[Answer]]:
    """Split answers into the first half of the true and of the false claims, and the others."""
    halves: tuple[list[Answer], list[Answer]] = ([], [])
    for label in (True, False):
        of_label = [answer for answer in answers if answer.supported is label]
        middle = len(of_label) // 2
        halves[0].extend(of_label[:middle])
        halves[1].extend(of_label[middle:])
    return halves
