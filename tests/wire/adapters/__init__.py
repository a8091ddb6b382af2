"""Every dialect as the kit uses it, by its name."""

from collections.abc import Callable, Mapping

from tests.wire.adapters.adapter import Adapter
from tests.wire.adapters.ag_ui import AgUiAdapter
from tests.wire.adapters.ai_sdk import AiSdkAdapter
from tests.wire.adapters.conversation import ConversationAdapter
from tests.wire.adapters.docmost import DocmostAdapter
from tests.wire.adapters.docs_chatbot import DocsChatbotAdapter
from tests.wire.adapters.id_citations import IdCitationsAdapter
from tests.wire.adapters.langgraph import LangGraphAdapter
from tests.wire.adapters.messages import MessagesAdapter
from tests.wire.adapters.native import NativeAdapter
from tests.wire.adapters.openai import OpenAIAdapter
from tests.wire.adapters.responses import ResponsesAdapter
from tests.wire.adapters.self_rag import SelfRagAdapter

ADAPTERS: Mapping[str, Callable[[], Adapter]] = {
    "native": NativeAdapter,
    "docmost": DocmostAdapter,
    "docs_chatbot": DocsChatbotAdapter,
    "conversation": ConversationAdapter,
    "id_citations": IdCitationsAdapter,
    "self_rag": SelfRagAdapter,
    "openai": OpenAIAdapter,
    "responses": ResponsesAdapter,
    "messages": MessagesAdapter,
    "ai_sdk": AiSdkAdapter,
    "ag_ui": AgUiAdapter,
    "langgraph": LangGraphAdapter,
}
