"""All wire formats: the built-in ones, and those of installed packages with the entry point ``citewell.dialects``."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass

from fastapi import APIRouter, FastAPI
from fastapi.routing import iter_route_contexts

from api.dialects.ag_ui.encoder import AgUiEncoder
from api.dialects.ag_ui.routes import router as ag_ui_router
from api.dialects.ai_sdk.encoder import AiSdkEncoder
from api.dialects.ai_sdk.routes import router as ai_sdk_router
from api.dialects.conversation.encoder import ConversationEncoder
from api.dialects.conversation.routes import router as conversation_router
from api.dialects.docmost.encoder import DocmostEncoder
from api.dialects.docmost.routes import router as docmost_router
from api.dialects.docs_chatbot.encoder import DocsChatbotEncoder
from api.dialects.docs_chatbot.routes import router as docs_chatbot_router
from api.dialects.id_citations.encoder import IdCitationsEncoder
from api.dialects.id_citations.routes import router as id_citations_router
from api.dialects.langgraph.encoder import LangGraphEncoder
from api.dialects.langgraph.routes import router as langgraph_router
from api.dialects.messages.encoder import MessagesEncoder
from api.dialects.messages.routes import router as messages_router
from api.dialects.native.encoder import NativeEncoder
from api.dialects.native.routes import router as native_router
from api.dialects.openai.encoder import OpenAIEncoder
from api.dialects.openai.routes import router as openai_router
from api.dialects.responses.encoder import ResponsesEncoder
from api.dialects.responses.routes import router as responses_router
from api.dialects.self_rag.encoder import SelfRagEncoder
from api.dialects.self_rag.routes import router as self_rag_router
from api.event_frames import Encoder
from graph.errors import ConfigurationError
from tools.plugins.entry_points import DIALECTS as GROUP
from tools.plugins.entry_points import Names, Plugin, load_plugins


@dataclass(frozen=True, slots=True)
class Dialect:
    """A wire format: its name, a factory of encoders with default options, and its routes."""

    name: str
    encoder: Callable[[], Encoder]
    router: APIRouter

    def __post_init__(self) -> None:
        if not callable(self.encoder) or not isinstance(self.router, APIRouter):
            raise TypeError("a Dialect needs a name, a callable that makes an Encoder, and an APIRouter")


NATIVE = Dialect("native", NativeEncoder, native_router)
DIALECTS: Mapping[str, Dialect] = {
    dialect.name: dialect
    for dialect in (
        NATIVE,
        Dialect("docmost", DocmostEncoder, docmost_router),
        Dialect("docs_chatbot", DocsChatbotEncoder, docs_chatbot_router),
        Dialect("conversation", ConversationEncoder, conversation_router),
        Dialect("id_citations", IdCitationsEncoder, id_citations_router),
        Dialect("self_rag", SelfRagEncoder, self_rag_router),
        Dialect("openai", OpenAIEncoder, openai_router),
        Dialect("responses", ResponsesEncoder, responses_router),
        Dialect("messages", MessagesEncoder, messages_router),
        Dialect("ai_sdk", AiSdkEncoder, ai_sdk_router),
        Dialect("ag_ui", AgUiEncoder, ag_ui_router),
        Dialect("langgraph", LangGraphEncoder, langgraph_router),
    )
}
_PARAMETER = re.compile(r"\{[^}]*\}")


def load_dialects() -> list[Plugin[Dialect]]:
    """Load the dialects of installed packages.

    Raises ConfigurationError if one is broken or its name is taken.
    """
    names = Names("dialect", DIALECTS)
    plugins = load_plugins(GROUP, Dialect)
    for plugin in plugins:
        names.take(plugin.value.name, plugin)
    return plugins


def require_dialects(names: Collection[str], setting: str) -> None:
    """Raise ConfigurationError if a setting names a dialect that is not there."""
    if all(name in DIALECTS for name in names):
        return
    known = [*DIALECTS, *(plugin.value.name for plugin in load_dialects())]
    if unknown := [name for name in names if name not in known]:
        raise ConfigurationError(
            f"{setting}: there is no dialect {unknown[0]!r}; there are: {', '.join(known)}.",
            suggestion="Correct the name, or remove it.",
        )


def mount_plugins(app: FastAPI) -> None:
    """Mount the dialects of installed packages after every route of the app, so that they hide none of ours.

    Raises ConfigurationError if one is broken, or its name or one of its routes is taken.
    """
    taken = Names("route", _routes(app.router))
    for plugin in load_dialects():
        for route in sorted(set(_routes(plugin.value.router))):
            taken.take(route, plugin)
        app.include_router(plugin.value.router)


def _routes(router: APIRouter) -> Iterator[str]:
    for context in iter_route_contexts(router.routes):
        path = _PARAMETER.sub("{}", context.path or "")  # routes that differ only in a parameter's name are the same
        yield from (f"{method} {path}" for method in context.methods or ())
