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
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Literal, Protocol

from graph.errors import BudgetExhausted
from graph.evidence import ModelUse, Spent, StopReason, add_use

Cap = Literal["model_calls", "seconds", "tokens", "day"]
STOP_REASONS: Mapping[str, StopReason] = {
    "model_calls": "budget_model_calls",
    "seconds": "budget_seconds",
    "tokens": "budget_tokens",
    "day": "budget_day",
}


def use_by_model(spent: Mapping[str, Spent]) -> dict[str, ModelUse]:
    """Return what all the steps used, by model."""
    total: dict[str, ModelUse] = {}
    for step in spent.values():
        for model, use in step.get("models", {}).items():
            add_use(total, model, use)
    return total


class Account(Protocol):
    """What pays for calls to models, up to what may be spent in a day."""

    async def refresh(self) -> None:
        """Read again what others have spent today, unless that was done a moment ago."""
        ...

    def may_call(self) -> bool:
        """Whether the limits of the day leave room for another call."""
        ...

    def charge(self, model: str, use: ModelUse, *, embedding: bool = False) -> None:
        """Charge what was used of a model."""
        ...


_ACCOUNT: ContextVar[Account | None] = ContextVar("_ACCOUNT", default=None)


@contextmanager
def charged_to(account: Account | None) -> Iterator[None]:
    """Charge an account with what the tasks below use: their meters, and the embeddings of what they search for."""
    token = _ACCOUNT.set(account)
    try:
        yield
    finally:
        _ACCOUNT.reset(token)


def current_account() -> Account | None:
    """Return the account that this task is charged to, None where nobody keeps one."""
    return _ACCOUNT.get()


@dataclass(frozen=True, slots=True)
class Allowance:
    """A step's share of the remaining budget: all calls but ``reserved``, and a ``share`` of the seconds in (0, 1]."""

    reserved: int = 0
    share: float = 1.0


# What comes before the answer leaves a call for writing it; what comes after leaves one for a repair.
ALLOWANCES: dict[str, Allowance] = {
    "decide_retrieval": Allowance(reserved=1, share=0.25),
    "search_web": Allowance(share=0.25),
    "search_mcp": Allowance(share=0.25),
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
    ``exhausted`` is the cap that was reached first. ``models`` is what was used of each model, which ``account`` is
    charged with too.
    """

    calls_left: int | None = None
    tokens_left: int | None = None
    seconds_left: float | None = None
    calls: int = 0
    tokens: int = 0
    models: dict[str, ModelUse] = field(default_factory=dict)
    exhausted: Cap | None = None
    account: Account | None = field(default_factory=current_account)
    _began: float = field(default_factory=time.monotonic)

    def call(self) -> None:
        """Count a model call before it is made; a retry counts as a call.

        Raises BudgetExhausted where the run has no call, token or second left, or the day no room.
        """
        if self.calls_left is not None and self.calls >= self.calls_left:
            raise self.exhaust("model_calls")
        if self.tokens_left is not None and self.tokens >= self.tokens_left:
            raise self.exhaust("tokens")
        remaining = self.remaining()
        if remaining is not None and remaining <= 0:
            raise self.exhaust("seconds")
        if self.account is not None and not self.account.may_call():
            raise self.exhaust("day")
        self.calls += 1

    def add_use(self, model: str, use: ModelUse) -> None:
        """Count what a call used of a model, and charge it."""
        self.tokens += use["input_tokens"] + use["output_tokens"]
        add_use(self.models, model, use)
        if self.account is not None:
            self.account.charge(model, use)

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
        if self.tokens_left is not None and self.tokens >= self.tokens_left:
            return "tokens"
        out_of_calls = self.calls_left is not None and self.calls >= self.calls_left
        return "day" if not out_of_calls and self.account is not None and not self.account.may_call() else "model_calls"

    def spent(self, ms: float) -> Spent:
        """Return what was used so far, as the account of a step that took ``ms`` milliseconds."""
        spent = Spent(calls=self.calls, tokens=self.tokens, ms=ms)
        return Spent(**spent, models=dict(self.models)) if self.models else spent

    def exhaust(self, cap: Cap) -> BudgetExhausted:
        """Record that a cap was reached, and return the error to raise."""
        self.exhausted = self.exhausted or cap
        return BudgetExhausted(cap)
