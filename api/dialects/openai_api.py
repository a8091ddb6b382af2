"""What OpenAI's two APIs share: models, errors, how a request asks for thoughts, and the steps of a run in words."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field

from answers.answerhood import said_of
from answers.library_listing import FROM_CATALOGUE
from answers.marks import grade_of
from api.dialects.annotated_text import SourceAddresses
from api.dialects.chat_request import NO_FORM
from api.fields import CONTROL, AnswerFromField, Body, SearchOptions, knobs_with
from api.problems import Problem, error_kind, register_error_shape
from graph.context import Context
from graph.errors import NotFound
from graph.events import RunFinished, ThinkingDelta
from graph.evidence import Identity, Message, Spent
from graph.rows import Turn
from tools.auth.document_links import LinkSigner
from tools.backends.backend_registry import ANY, find_backend, installed_backends, only_endpoint
from tools.sessions.run_request import RunReader, RunRequest
from tools.settings import EXTRACTIVE, Settings

NO_THINKING = (None, "", "none", "minimal")
DEFAULT_BASE_URL = "http://127.0.0.1:8400"
STEPS: Mapping[str, str] = {
    "decide_retrieval": "Reading the question",
    "load_selected_pages": "Reading the selected pages",
    "search_segments": "Searching the library",
    "search_web": "Searching the web",
    "search_mcp": "Searching connected servers",
    "grade_segments": "Weighing what was found",
    "rewrite_query": "Rewording the search",
    "generate_answer": "Writing the answer",
    "answer_directly": "Writing the answer",
    "check_claims": "Checking every claim against its sources",
    "assess_quality": "Assessing the answer",
}

DEPLOYMENT_DEFAULT = ("", "citewell")


class Part(BaseModel):
    """A part of a message; only text and refusals are read."""

    type: str
    text: str = ""
    refusal: str = ""


def _parts(content: object, kind: str) -> object:
    if content is None:
        return []
    if isinstance(content, str):
        return [{"type": kind, "text": content}]
    if not isinstance(content, list):
        raise ValueError("it must be a string, or a list of parts")
    return content


def content_as(kind: str) -> BeforeValidator:
    """Return what reads the content of a message as parts, a string as one part of this kind and null as none."""
    return BeforeValidator(partial(_parts, kind=kind), json_schema_input_type=str | list[Part] | None)


def text_of(parts: Iterable[Part], kinds: Collection[str], between: str = "\n") -> str:
    """Return the text of the parts of these kinds, each on a line of its own by default, without control characters."""
    text = between.join(part.text or part.refusal for part in parts if part.type in kinds)
    return CONTROL.sub(" ", text.replace("\r\n", "\n").replace("\r", "\n")).strip()


def _text_alone(form: dict[str, Any] | None) -> dict[str, Any] | None:
    if form is not None and form.get("type", "text") != "text":
        raise ValueError(NO_FORM.format(instead="omit the field or send {'type': 'text'}"))
    return form


def _not_forced(choice: object) -> object:
    if choice not in (None, "none", "auto"):
        raise ValueError("tools are never called, so none can be forced; send 'auto' or 'none'")
    return choice


TextForm = Annotated[dict[str, Any] | None, AfterValidator(_text_alone)]
ToolChoice = Annotated[Any, AfterValidator(_not_forced)]


class OpenAIOptions(SearchOptions, Body):
    """The body's ``citewell`` field: options that OpenAI has no parameter for."""

    links: bool | None = Field(default=None, description="Write marks as Markdown links.")
    answer_from: AnswerFromField = None

    def to_run_request(
        self,
        question: str,
        identity: Identity,
        knobs: Mapping[str, Any],
        *,
        model: str,
        thinking: bool,
        history: tuple[Turn, ...] | None,
        edit: str | None = None,
    ) -> RunRequest:
        """Return the run that answers a question for this identity; ``knobs`` are the deployment's settings.

        ``history`` is None where the session has it; ``edit`` is the question that this one stands beside.
        """
        options = {**self.searching(), **knobs_with(knobs, self.answer_from)}
        return RunRequest(
            question,
            Context.of(identity, model=model, thinking=thinking, **options),
            tuple(map(str, self.page_ids)),
            self.selected_text or "",
            history=history,
            edit=edit,
        )


@dataclass(frozen=True, slots=True)
class ReplyOptions:
    """Options of a reply: the model, where the client reaches this service, and what signs links to it."""

    model: str = "citewell"
    base_url: str = DEFAULT_BASE_URL
    signer: LinkSigner | None = None

    @property
    def addresses(self) -> SourceAddresses:
        """Empty addresses of sources with these options."""
        return SourceAddresses(self.base_url, self.signer)


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


def answering_model(settings: Settings, name: str) -> str:
    """Return the model that answers a request: the one that it names, or that of the one configured endpoint.

    Raises NotFound if there is no such model and not just one endpoint.
    """
    try:
        return resolve_model(settings, name)
    except NotFound:
        if (stand_in := only_endpoint(settings)) is None:
            raise
        return stand_in


def asked_model(settings: Settings, named: str | None, *, thinks: bool) -> tuple[str, str, bool]:
    """Return the model that answers a request, the one that its run is asked of, and whether it is to think.

    Raises NotFound as ``answering_model`` does.
    """
    name = answering_model(settings, named or "")
    return name, named if named and named not in DEPLOYMENT_DEFAULT else name, thinks and can_think(settings, name)


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
CODES: Mapping[str, str] = {
    "not_authenticated": "invalid_api_key",
    "unknown_model": "model_not_found",
    "spending_limit_reached": "insufficient_quota",
}
TYPES: Mapping[str, str] = {"spending_limit_reached": "insufficient_quota"}  # which clients do not take for a rate

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
            "message": error_text(message, suggestion),
            "type": TYPES.get(code, "server_error" if ours else "invalid_request_error"),
            "param": param,
            "code": CODES.get(code, code),
        }
    }


def error_text(message: str, suggestion: str) -> str:
    """Return what an error says and what to do, for formats with one field for both."""
    return f"{message.rstrip('.')}. {suggestion}"


def problem_body(problem: Problem) -> dict[str, Any]:
    """Return a problem as an error body."""
    return error(problem.code, problem.detail, problem.suggestion, status=problem.status)


register_error_shape(PREFIX, problem_body, statuses=STATUSES, names_routes=True)


def total_tokens(spent: Mapping[str, Spent]) -> int:
    """Return the sum of the tokens that the endpoints reported for all calls of a run; 0 if no model was called.

    The counts do not distinguish prompts from replies. Both APIs report the whole sum as that of the prompts, since the
    prompts of a run contain its sources and are by far the longer part.
    """
    return sum(step["tokens"] for step in spent.values())


def extension(run_id: str, session_id: str, end: RunFinished) -> dict[str, str]:
    """Return the ``citewell`` field: ids and outcome, which OpenAI has no fields for. Its clients pass it through."""
    return {"run_id": run_id, "session_id": session_id, "outcome": end.outcome, "stop_reason": end.stop_reason}


def outcome_text(event: RunFinished) -> str:
    """Return one line on how a run ended."""
    if event.outcome == "cancelled":
        return "Stopped before the end"
    if event.outcome == "abstained":
        return "No answer that the sources prove"
    if event.stop_reason == FROM_CATALOGUE:
        return "Answered from the catalogue of the library"
    return _grades(event.message)


def _grades(message: Message) -> str:
    claims = message.get("claims", [])
    if not claims:
        return "Answered without the library"
    if quotes := sum("passage" in section for section in message["sections"]):
        return f"{said_of(message) or 'Quoted'}: {quotes} passage{'s' if quotes > 1 else ''} of the sources"
    counted = ", ".join(f"{count} {grade}" for grade, count in Counter(map(grade_of, claims)).items())
    return f"{len(claims)} claim{'s' if len(claims) > 1 else ''}: {counted}"


async def thoughts_of(run: RunReader, end: RunFinished) -> str:
    """Return what the model of a finished run thought, from the run's log."""
    if end.message.get("family") != "llm":
        return ""
    async with aclosing(run.events()) as events:
        return "".join([each.event.delta async for each in events if isinstance(each.event, ThinkingDelta)])
