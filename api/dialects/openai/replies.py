"""OpenAI replies: models, errors as ``{"error": {"message", "type", "param", "code"}}``, and whole chat completions."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Literal

from pydantic import BaseModel

from api.dialects.openai.annotated_text import AnnotatedText, SourceAddresses, by_appearance, by_index
from api.dialects.section_buffer import final_sections
from api.problems import Problem, error_kind
from graph.errors import NotFound
from graph.events import RunFinished
from graph.evidence import Spent
from tools.backends.backend_registry import ANY, find_backend, installed_backends
from tools.settings import EXTRACTIVE, Settings

DEPLOYMENT_DEFAULT = ("", "citewell")
OWNER = "citewell"
CREATED = 1_795_305_600  # OpenAI requires a date, but configured models have none: the day this dialect was written


class Model(BaseModel):
    """A model that a request may name. ``created`` is in seconds since 1970, the same for all.

    ``thinking`` is our extension: whether a request may ask it to think.
    """

    id: str
    object: Literal["model"] = "model"
    created: int = CREATED
    owned_by: str = OWNER
    name: str
    thinking: bool = False


class ModelList(BaseModel):
    """All models, the deployment's default first."""

    object: Literal["list"] = "list"
    data: list[Model]


def models_of(settings: Settings) -> list[Model]:
    """List the models of a deployment, its default first, those of installed backends last; without wildcard names."""
    models = [
        Model(id=model.name, name=model.label or model.name, thinking=can_think(settings, model.name))
        for model in settings.models
    ]
    models.append(Model(id=EXTRACTIVE, name="Extractive (quotes, no model)"))
    models += [Model(id=name, name=name) for name in installed_backends() if not name.endswith(ANY)]
    return sorted(models, key=lambda model: model.id != settings.default_model)


def resolve_model(settings: Settings, name: str) -> str:
    """Return the model that a request names; an empty name or ``citewell`` is the deployment's default.

    Raises NotFound if there is no such model.
    """
    known = [model.id for model in models_of(settings)]
    if name in known or find_backend(name) is not None:
        return name
    if name in DEPLOYMENT_DEFAULT:
        return settings.default_model
    raise NotFound(
        f"model: there is no model {name!r}; there are: {', '.join(known)}.",
        suggestion="GET /v1/models lists them; omit the model to use the first.",
    )


def can_think(settings: Settings, name: str) -> bool:
    """Return whether a model has a thinking model."""
    return any(model.name == name and model.thinking_model for model in settings.models)


PREFIX = "/v1/"
# OpenAI answers 400 to an invalid request, and its clients choose their exception by status.
STATUSES: Mapping[int, int] = {422: 400}
CODES: Mapping[str, str] = {"not_authenticated": "invalid_api_key", "unknown_model": "model_not_found"}

_PARAM = re.compile(r"([a-z_]+(?:\.\w+)*): ")


class ErrorDetail(BaseModel):
    """An error. ``code`` is stable; ``message`` is for people and may be reworded."""

    message: str
    type: str
    param: str | None
    code: str


class ErrorBody(BaseModel):
    """The error body of every route of this dialect."""

    error: ErrorDetail


def error_responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI responses of a route that may answer with these statuses, or with any 4XX."""
    responses: dict[int | str, dict[str, Any]] = {
        status: {"model": ErrorBody, "description": HTTPStatus(status).phrase} for status in statuses
    }
    return {"4XX": {"model": ErrorBody, "description": "The request cannot be served as it is."}, **responses}


def error(code: str, message: str, suggestion: str, *, status: int | None = None) -> dict[str, Any]:
    """Return an error body. ``param`` is the field that the message begins with, if any."""
    named = _PARAM.match(message)
    param = named[1] if named and named[1] != "body" else None
    if code == "not_found" and param == "model":
        code = "unknown_model"
    ours = (status or error_kind(code).status) >= 500
    return {
        "error": {
            "message": f"{message.rstrip('.')}. {suggestion}",
            "type": "server_error" if ours else "invalid_request_error",
            "param": param,
            "code": CODES.get(code, code),
        }
    }


def problem_body(problem: Problem) -> dict[str, Any]:
    """Return a problem as an error body."""
    return error(problem.code, problem.detail, problem.suggestion, status=problem.status)


DEFAULT_BASE_URL = "http://127.0.0.1:8400"


@dataclass(frozen=True, slots=True)
class ReplyOptions:
    """Options of a reply.

    ``base_url`` is where the client reaches this service. ``usage`` adds a last chunk with the usage to a stream.
    ``events`` sends Open WebUI's events instead of annotations. ``links`` makes marks Markdown links.
    """

    model: str = "citewell"
    base_url: str = DEFAULT_BASE_URL
    usage: bool = False
    events: bool = False
    links: bool = False

    def text(self, addresses: SourceAddresses) -> AnnotatedText:
        """Return an empty text with these options."""
        return AnnotatedText(addresses, by_index if self.events else by_appearance(), links=self.links)


def completion_id(run_id: str) -> str:
    """Return the completion id of a run."""
    return f"chatcmpl-{run_id}"


def finish_reason(end: RunFinished) -> Literal["stop", "length"]:
    """Return ``length`` for a cancelled run, since that is OpenAI's only reason for incomplete text."""
    return "length" if end.outcome == "cancelled" else "stop"


def token_usage(spent: Mapping[str, Spent]) -> dict[str, int]:
    """Return the sum of the tokens that the endpoints reported for all calls of a run; 0 if no model was called.

    The counts do not distinguish prompts from replies. The whole sum is reported as prompt tokens, since the prompts of
    a run contain its sources and are by far the longer part.
    """
    total = sum(step["tokens"] for step in spent.values())
    return {"prompt_tokens": total, "completion_tokens": 0, "total_tokens": total}


def extension(run_id: str, session_id: str, end: RunFinished) -> dict[str, str]:
    """Return the ``citewell`` field: ids and outcome, which OpenAI has no fields for. Its clients pass it through."""
    return {"run_id": run_id, "session_id": session_id, "outcome": end.outcome, "stop_reason": end.stop_reason}


def completion(
    run_id: str, session_id: str, end: RunFinished, options: ReplyOptions, *, created: int, thinking: str = ""
) -> dict[str, Any]:
    """Return a finished run as a chat completion, with the text and annotations of its stream.

    ``created`` is in seconds since 1970.
    """
    addresses = SourceAddresses(options.base_url)
    addresses.learn(end.message["sources"])
    text = options.text(addresses)
    content = "".join(piece for section in final_sections(end.message) for piece in text.write(section))
    message: dict[str, Any] = {"role": "assistant", "content": content, "refusal": None}
    if thinking:
        message["reasoning_content"] = thinking
    message["annotations"] = text.annotations
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": finish_reason(end)}
    return {
        "id": completion_id(run_id),
        "object": "chat.completion",
        "created": created,
        "model": options.model,
        "choices": [choice],
        "usage": token_usage(end.spent),
        "citewell": extension(run_id, session_id, end),
    }
