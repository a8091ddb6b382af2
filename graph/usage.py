"""Usage limits of a run: a meter for calls, tokens and seconds, and what each step leaves for later ones.

Near a cap, steps are skipped in a fixed order, from the top of this list:

1. a model's opinion of the answer (``assess_quality``)
2. repair of failed sections (``rewrite_query`` to ``generate_answer``); the judge spares its calls while text comes
3. the judge's word on claims that code left open (``generate_answer``); the verdicts of code remain
4. grading by a model, in thorough effort; segments are kept by their search score
5. rewriting the search query by a model; it is reworded by rule
6. preparing the question by a model; it is made standalone by rule
7. writing by a model; the best sentences are quoted word for word

In balanced effort a first question spends its first call on writing, a follow-up its second, so that nearly all calls
are left for what comes after the answer. A call is known to exceed a token cap only once it has ended, so steps are
then skipped in the order in which they come.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from graph.errors import BudgetExhausted
from graph.evidence import StopReason

Cap = Literal["model_calls", "seconds", "tokens"]
STOP_REASONS: Mapping[str, StopReason] = {
    "model_calls": "budget_model_calls",
    "seconds": "budget_seconds",
    "tokens": "budget_tokens",
}


@dataclass(frozen=True, slots=True)
class Allowance:
    """A step's share of the remaining budget: all calls but ``reserved``, and a ``share`` of the seconds in (0, 1]."""

    reserved: int = 0
    share: float = 1.0


# What comes before the answer leaves a call for writing it; what comes after leaves one for a repair.
ALLOWANCES: dict[str, Allowance] = {
    "decide_retrieval": Allowance(reserved=1, share=0.25),
    "search_web": Allowance(share=0.25),
    "grade_segments": Allowance(reserved=1, share=0.5),
    "rewrite_query": Allowance(reserved=1, share=0.25),
    "generate_answer": Allowance(),
    "check_claims": Allowance(reserved=1, share=0.5),
    "assess_quality": Allowance(),
}


@dataclass(slots=True)
class Meter:
    """A meter of one node's model calls and tokens against what the run has left.

    ``calls_left``, ``tokens_left`` and ``seconds_left`` are what the node may use when it starts; None means no cap.
    ``exhausted`` is the cap that was reached first.
    """

    calls_left: int | None = None
    tokens_left: int | None = None
    seconds_left: float | None = None
    calls: int = 0
    tokens: int = 0
    exhausted: Cap | None = None
    _began: float = field(default_factory=time.monotonic)

    def call(self) -> None:
        """Count a model call before it is made; a retry counts as a call.

        Raises BudgetExhausted where the run has no call, token or second left.
        """
        if self.calls_left is not None and self.calls >= self.calls_left:
            raise self.exhaust("model_calls")
        if self.tokens_left is not None and self.tokens >= self.tokens_left:
            raise self.exhaust("tokens")
        remaining = self.remaining()
        if remaining is not None and remaining <= 0:
            raise self.exhaust("seconds")
        self.calls += 1

    def add_tokens(self, tokens: int) -> None:
        """Count tokens that the endpoint reported for a call."""
        self.tokens += tokens

    def remaining(self) -> float | None:
        """Return the seconds that the node still has, at least 0; None where there is no cap."""
        if self.seconds_left is None:
            return None
        return max(0.0, self.seconds_left - (time.monotonic() - self._began))

    def reached_cap(self) -> Cap:
        """Return the cap that allows no further call."""
        if self.exhausted is not None:
            return self.exhausted
        if self.remaining() == 0.0:
            return "seconds"
        out_of_tokens = self.tokens_left is not None and self.tokens >= self.tokens_left
        return "tokens" if out_of_tokens else "model_calls"

    def exhaust(self, cap: Cap) -> BudgetExhausted:
        """Record that a cap was reached, and return the error to raise."""
        self.exhausted = self.exhausted or cap
        return BudgetExhausted(cap)
