"""The family of the language model backend, for one model of the settings."""

from collections.abc import Callable

from graph.errors import InvalidRequest
from graph.ports import AnswerWriter, ClaimChecker, EffortPorts, Family, Judge, RelevanceGrader
from tools.llm.answer_writing import LlmWriter
from tools.llm.judging import LlmAssessor, LlmGrader
from tools.llm.model_endpoint import Endpoint
from tools.llm.questions import LlmPreparer, LlmProposer, LlmRewriter, LlmTitler
from tools.rules.score_grading import ScoreGrader
from tools.settings import ModelSettings


def llm_family(
    model: ModelSettings,
    *,
    thinking: bool,
    checker: ClaimChecker,
    fallback: AnswerWriter,
    judge: Judge | None = None,
    reranked: Callable[[RelevanceGrader], RelevanceGrader] | None = None,
) -> Family:
    """Create the family of a model. Nothing is imported, opened or requested before its first call.

    Keep it for the life of the process: it remembers which request formats its endpoint accepts. With ``thinking`` the
    thinking model writes; the other steps use the plain model, since nobody waits for the reasoning behind them.
    ``fallback`` writes when the budget is spent. ``reranked`` puts a reranker before the grader by score, in balanced
    effort. Raises InvalidRequest if the model has no thinking model.
    """
    plain = Endpoint(model, model.model, temperature=0.0)
    writer = LlmWriter(plain, fallback)
    if thinking:
        if model.thinking_model is None:
            raise InvalidRequest(
                f"The model {model.name!r} has no thinking model.",
                suggestion="Leave thinking out, or choose a model that has a thinking model.",
            )
        writer = LlmWriter(Endpoint(model, model.thinking_model, temperature=None), fallback, thinks=True)
    by_score = ScoreGrader(writer.room)
    return Family(
        name="llm",
        model=model.name,
        preparer=LlmPreparer(plain),
        grader=reranked(by_score) if reranked else by_score,
        writer=writer,
        checker=checker,
        rewriter=LlmRewriter(plain),
        judge=judge,
        assessor=LlmAssessor(plain),
        titler=LlmTitler(plain),
        proposer=LlmProposer(plain),
        room=writer.room,
        efforts={
            "fast": EffortPorts(LlmPreparer(plain, "fast"), by_score),
            "thorough": EffortPorts(LlmPreparer(plain, "thorough"), LlmGrader(plain, by_score)),
        },
    )
