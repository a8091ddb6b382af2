"""What each dialect does where dialects differ: the model's field, the shape of a refusal, readers that leave."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Json = dict[str, Any]
WITH_ID = {"accept": "text/event-stream"}


def _named(body: Json, model: str) -> Json:
    return {**body, "model": model}


def _forwarded(body: Json, model: str) -> Json:
    return {**body, "forwardedProps": {"model": model}}


def _problem(body: Json) -> str:
    return str(body["code"])


def _nested(body: Json) -> str:
    return str(body["error"]["code"])


@dataclass(frozen=True)
class Conduct:
    """How a dialect behaves. ``model`` puts a model's name into a request, where requests can hold one."""

    leaving: Literal["cancel", "continue"]  # what becomes of a run whose reader leaves
    model: Callable[[Json, str], Json] | None = _named
    code: Callable[[Json], str] = _problem  # of the body of a refusal
    unknown_model: tuple[int, str] = (400, "unknown_model")
    blank: tuple[int, ...] = (422,)
    rejoin: Callable[[str], str] | None = None  # the path where a reader that comes back is told the rest


CONDUCT: Mapping[str, Conduct] = {
    "native": Conduct("cancel", rejoin=lambda run_id: f"/api/runs/{run_id}/stream"),
    "docmost": Conduct("cancel"),
    "docs_chatbot": Conduct("cancel", model=None),
    "conversation": Conduct("continue", model=None, rejoin=lambda run_id: "/api/rag/query-stream?query=x"),
    "id_citations": Conduct("continue", rejoin=lambda run_id: "/api/workspaces/default/messages"),
    "self_rag": Conduct("cancel"),
    "openai": Conduct("cancel", code=_nested, unknown_model=(404, "model_not_found"), blank=(400,)),
    "responses": Conduct("cancel", code=_nested, unknown_model=(404, "model_not_found"), blank=(400,)),
    "messages": Conduct("cancel", code=_nested, unknown_model=(404, "not_found"), blank=(400,)),
    "ai_sdk": Conduct("continue"),
    "ag_ui": Conduct("cancel", model=_forwarded),
    "langgraph": Conduct("cancel", model=lambda body, model: {**body, "assistant_id": model}),
}
