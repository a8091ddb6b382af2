"""A configured model as the judge of ragas' metrics."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import Any

from evals.ragas_metrics.ragas_catalogue import load_ragas
from graph.errors import UnknownModel
from tools.settings import ModelSettings, Settings

ANSWER_TOKENS = 2048  # ragas' own 1024 cuts off the verdicts on a long answer
TRIES_FOR_JSON = 2  # a reply that does not match its schema is requested again, with the error
RETRIES_OF_A_REQUEST = 2

# ResponseGroundedness swallows its judges' exceptions and returns NaN; this keeps the reason, per task.
last_failure: ContextVar[Exception | None] = ContextVar("last_failure", default=None)

Generate = Callable[[str, type[Any]], Awaitable[Any]]


def judging_model(settings: Settings, name: str) -> ModelSettings:
    """Return the configured model of a name. Raises UnknownModel."""
    for model in settings.models:
        if model.name == name:
            return model
    known = ", ".join(model.name for model in settings.models) or "none"
    raise UnknownModel(f"model: no configured model is named {name!r}; there are: {known}.")


@asynccontextmanager
async def open_judge(model: ModelSettings) -> AsyncIterator[Any]:
    """Open ragas' LLM over a model's endpoint; close its connections on exit.

    Raises ConfigurationError if the extra is not installed.
    """
    from openai import AsyncOpenAI

    ragas = load_ragas()
    client = AsyncOpenAI(
        base_url=model.base_url,
        api_key=model.api_key.get_secret_value() or "none",
        timeout=model.timeout_seconds,
        max_retries=RETRIES_OF_A_REQUEST,
    )
    async with client:
        judge = ragas.llm_factory(model.model, client=client, max_tokens=ANSWER_TOKENS, max_retries=TRIES_FOR_JSON)
        judge.agenerate = _strict(judge.agenerate)
        yield judge


def _strict(generate: Generate) -> Generate:
    """Reject verdicts other than 0 and 1, which ragas would average in, and record why a call failed."""

    async def generate_strictly(prompt: str, response_model: type[Any]) -> Any:
        try:
            reply = await generate(prompt, response_model)
            for part in getattr(reply, "statements", None) or getattr(reply, "classifications", None) or [reply]:
                for field in ("verdict", "attributed"):
                    if (verdict := getattr(part, field, 0)) not in (0, 1):
                        raise ValueError(f"a {field} of {verdict} is neither 0 nor 1")
        except Exception as error:
            last_failure.set(error)
            raise
        return reply

    return generate_strictly
