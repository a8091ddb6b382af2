"""Usage limits of a run: a meter for calls, tokens and seconds, and what each step reserves for later steps."""

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
    """What a step may use of what is left: all calls but ``reserved``, and a ``share`` of the seconds in (0, 1]."""

    reserved: int = 0
    share: float = 1.0


# The writing call is reserved first, then the one that grades; see the order above.
ALLOWANCES: dict[str, Allowance] = {
    "decide_retrieval": Allowance(reserved=1, share=0.25),
    "search_web": Allowance(share=0.25),
    "grade_segments": Allowance(reserved=1, share=0.5),
    "rewrite_query": Allowance(reserved=2, share=0.25),
    "generate_answer": Allowance(),
    "check_claims": Allowance(reserved=1, share=0.5),
    "assess_quality": Allowance(),
}


@dataclass(slots=True)
class Meter:
    """Counts the model calls and tokens of one node against what the run has left.

    ``calls_left``, ``tokens_left`` and ``seconds_left`` are what the node may use when it starts; None means no cap.
    ``exhausted`` names the cap that was met first.
    """

    calls_left: int | None = None
    tokens_left: int | None = None
    seconds_left: float | None = None
    calls: int = 0
    tokens: int = 0
    exhausted: Cap | None = None
    _began: float = field(default_factory=time.monotonic)

    def call(self) -> None:
        """Count a model call before it is made; a retry is a call.

        Raises BudgetExhausted where the run has no call, token or second left.
        """
        if self.calls_left is not None and self.calls >= self.calls_left:
            raise self.spent("model_calls")
        if self.tokens_left is not None and self.tokens >= self.tokens_left:
            raise self.spent("tokens")
        remaining = self.remaining()
        if remaining is not None and remaining <= 0:
            raise self.spent("seconds")
        self.calls += 1

    def used(self, tokens: int) -> None:
        """Count tokens that the endpoint reported for a call."""
        self.tokens += tokens

    def remaining(self) -> float | None:
        """Return the seconds that the node still has, at least 0; None where there is no cap."""
        if self.seconds_left is None:
            return None
        return max(0.0, self.seconds_left - (time.monotonic() - self._began))

    def met(self) -> Cap:
        """Name the cap that leaves nothing for another call."""
        if self.exhausted is not None:
            return self.exhausted
        if self.remaining() == 0.0:
            return "seconds"
        out_of_tokens = self.tokens_left is not None and self.tokens >= self.tokens_left
        return "tokens" if out_of_tokens else "model_calls"

    def spent(self, cap: Cap) -> BudgetExhausted:
        """Note the cap that was met, and give the error to raise."""
        self.exhausted = self.exhausted or cap
        return BudgetExhausted(cap)
