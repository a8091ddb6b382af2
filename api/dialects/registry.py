"""All wire formats by name, each with its encoder class."""

from collections.abc import Callable, Mapping

from api.dialects.ag_ui.encoder import AgUiEncoder
from api.dialects.ai_sdk.encoder import AiSdkEncoder
from api.dialects.conversation.encoder import ConversationEncoder
from api.dialects.docmost.encoder import DocmostEncoder
from api.dialects.docs_chatbot.encoder import DocsChatbotEncoder
from api.dialects.event_frames import Encoder
from api.dialects.id_citations.encoder import IdCitationsEncoder
from api.dialects.native.encoder import NativeEncoder
from api.dialects.openai.encoder import OpenAIEncoder
from api.dialects.self_rag.encoder import SelfRagEncoder

DIALECTS: Mapping[str, Callable[[], Encoder]] = {
    "native": NativeEncoder,
    "docmost": DocmostEncoder,
    "docs_chatbot": DocsChatbotEncoder,
    "conversation": ConversationEncoder,
    "id_citations": IdCitationsEncoder,
    "self_rag": SelfRagEncoder,
    "openai": OpenAIEncoder,
    "ai_sdk": AiSdkEncoder,
    "ag_ui": AgUiEncoder,
}
