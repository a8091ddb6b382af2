"""What a run may spend, and the meter that counts it."""

from dataclasses import dataclass

from graph.errors import BudgetExhausted


@dataclass(slots=True)
class Meter:
    """Counts the model calls and tokens of one node against what the run has left.

    ``calls_left`` and ``tokens_left`` are the run's remaining caps when the node starts; None means no cap.
    """

    calls_left: int | None = None
    tokens_left: int | None = None
    calls: int = 0
    tokens: int = 0

    def call(self) -> None:
        """Count a model call before it is made; a retry is a call.

        Raises BudgetExhausted where the run has no call or token left.
        """
        if self.calls_left is not None and self.calls >= self.calls_left:
            raise BudgetExhausted("model_calls")
        if self.tokens_left is not None and self.tokens >= self.tokens_left:
            raise BudgetExhausted("tokens")
        self.calls += 1

    def used(self, tokens: int) -> None:
        """Count tokens that the endpoint reported for a call."""
        self.tokens += tokens
