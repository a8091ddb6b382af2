"""The llm family: one model of the settings, as the ports that a run uses."""

from graph.errors import InvalidRequest
from graph.ports import ClaimChecker, Family
from tools.extractive.rewriter import ExtractiveRewriter
from tools.llm.endpoint import Endpoint, RetryPolicy
from tools.llm.grading import LlmGrader
from tools.llm.preparing import LlmPreparer
from tools.llm.writing import LlmWriter
from tools.settings import ModelSettings


def llm_family(
    model: ModelSettings, *, thinking: bool, checker: ClaimChecker, retry: RetryPolicy | None = None
) -> Family:
    """Make the family of a model. Nothing is imported, opened or asked before its first call.

    Keep it for the life of the process: it remembers what its endpoint understands. With ``thinking`` the thinking
    model writes; preparing and grading stay with the plain one, whose decisions nobody waits to see argued. Raises
    InvalidRequest where the model has no thinking model.
    """
    plain = Endpoint(model, model.model, temperature=0.0, retry=retry)
    writer = LlmWriter(plain)
    if thinking:
        if model.thinking_model is None:
            raise InvalidRequest(
                f"The model {model.name!r} has no thinking model.",
                suggestion="Leave thinking out, or choose a model that has a thinking model.",
            )
        writer = LlmWriter(Endpoint(model, model.thinking_model, temperature=None, retry=retry), thinks=True)
    return Family("llm", model.name, LlmPreparer(plain), LlmGrader(plain), writer, checker, ExtractiveRewriter())
