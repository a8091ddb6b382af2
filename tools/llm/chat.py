"""ChatOpenAI as this family uses it.

Importing this module takes a second or two: import it where it is first needed.
"""

from typing import Any

from langchain_core.messages import BaseMessageChunk
from langchain_core.outputs import ChatGenerationChunk
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from tools.llm.transport import Witnesses, http_client
from tools.settings import ModelSettings

REASONING = "reasoning_content"
NO_KEY = SecretStr("no-key")  # an empty key would make the SDK read OPENAI_API_KEY and send it to this endpoint


class ReasoningChat(ChatOpenAI):
    """ChatOpenAI that also gives the thinking of endpoints that stream it beside the answer.

    Of the fields in use, ``reasoning_content`` is DeepSeek's, vLLM's, llama.cpp's and ZhipuAI's; ``reasoning`` is
    Ollama's and OpenRouter's.
    """

    def _convert_chunk_to_generation_chunk(
        self, chunk: dict[str, Any], default_chunk_class: type, base_generation_info: dict[str, Any] | None
    ) -> ChatGenerationChunk | None:
        choices = chunk.get("choices")
        if choices and choices[0].get("delta") is None:
            choices[0]["delta"] = {}  # ChatOpenAI drops such a chunk, and with it the finish_reason
        generation = super()._convert_chunk_to_generation_chunk(chunk, default_chunk_class, base_generation_info)
        if generation is not None and choices and isinstance(generation.message, BaseMessageChunk):
            delta = choices[0]["delta"]
            thought = delta.get(REASONING) or delta.get("reasoning")
            if isinstance(thought, str):
                generation.message.additional_kwargs[REASONING] = thought
        return generation


def open_chat(model: ModelSettings, upstream: str, witnesses: Witnesses) -> ReasoningChat:
    """Open a chat model. Retries and the wait for a chunk are ours, so the SDK has none.

    Its own wait is ``asyncio.wait_for``, which on Python 3.11 loses a cancellation that comes together with a chunk.
    """
    return ReasoningChat(
        model=upstream,
        base_url=model.base_url,
        api_key=model.api_key if model.api_key.get_secret_value() else NO_KEY,
        timeout=model.timeout_seconds,
        stream_chunk_timeout=None,
        max_retries=0,
        stream_usage=True,
        use_responses_api=False,
        http_async_client=http_client(witnesses),
        http_socket_options=(),
    )
