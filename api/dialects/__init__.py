"""The wire formats in which a run can be told. A dialect that misses an event fails the type check here."""

from collections.abc import Callable, Mapping

from api.dialects.ag_ui import AgUiDialect
from api.dialects.ai_sdk import AiSdkDialect
from api.dialects.conversation import ConversationDialect
from api.dialects.docmost import DocmostDialect
from api.dialects.docs_chatbot import DocsChatbotDialect
from api.dialects.frames import Dialect
from api.dialects.id_citations import IdCitationsDialect
from api.dialects.native import NativeDialect
from api.dialects.openai import OpenAIDialect
from api.dialects.self_rag import SelfRagDialect

DIALECTS: Mapping[str, Callable[[], Dialect]] = {
    "native": NativeDialect,
    "docmost": DocmostDialect,
    "docs_chatbot": DocsChatbotDialect,
    "conversation": ConversationDialect,
    "id_citations": IdCitationsDialect,
    "self_rag": SelfRagDialect,
    "openai": OpenAIDialect,
    "ai_sdk": AiSdkDialect,
    "ag_ui": AgUiDialect,
}
