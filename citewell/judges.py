"""What a judge of the entry point group ``citewell.judges`` is made of."""

from graph.errors import BudgetExhausted, DependencyFailed
from graph.ports import Judge, Judgement, OpenClaim
from graph.usage import Meter
from tools.judges.judge_registry import JudgeKind
from tools.settings import JudgeSettings, ModelSettings

__all__ = [
    "BudgetExhausted",
    "DependencyFailed",
    "Judge",
    "JudgeKind",
    "JudgeSettings",
    "Judgement",
    "Meter",
    "ModelSettings",
    "OpenClaim",
]
