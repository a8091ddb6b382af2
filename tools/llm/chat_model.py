"""The chat model and its HTTP client: one connection a call, and a record of how each stream ended."""

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import httpx2
import openai
from langchain_core.messages import BaseMessageChunk
from langchain_core.outputs import ChatGenerationChunk
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from tools.settings import ModelSettings

REQUEST_ID = "X-Client-Request-Id"
DONE = re.compile(rb"(?:^|[\r\n])data: ?\[DONE\]")


@dataclass(slots=True)
class StreamRecord:
    """What was seen of one response. ``done``: its last line was ``data: [DONE]``, or it could not be told."""

    response: httpx2.Response | None = None
    done: bool = False
    tail: bytes = b"\n"

    def saw(self, data: bytes) -> None:
        window = self.tail + data
        self.done = self.done or DONE.search(window) is not None
        self.tail = window[-16:]

    async def close(self) -> None:
        """Close the connection, whatever is still to come on it."""
        if self.response is not None:
            await self.response.aclose()


class _RecordedStream(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, witness: StreamRecord) -> None:
        self._stream = stream
        self._witness = witness

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for data in self._stream:
            self._witness.saw(data)
            yield data

    async def aclose(self) -> None:
        await self._stream.aclose()


class StreamRecords:
    """The witnesses of the calls in progress, by the id that each call sends along."""

    def __init__(self) -> None:
        self._by_id: dict[str, StreamRecord] = {}

    def attend(self, request_id: str) -> StreamRecord:
        return self._by_id.setdefault(request_id, StreamRecord())

    def dismiss(self, request_id: str) -> None:
        self._by_id.pop(request_id, None)

    async def receive(self, response: httpx2.Response) -> None:
        """Stand by a response; httpx calls this before its body is read."""
        witness = self._by_id.get(response.request.headers.get(REQUEST_ID, ""))
        if witness is None or not isinstance(response.stream, httpx2.AsyncByteStream):
            return
        witness.response = response
        witness.done = response.headers.get("content-encoding", "identity") != "identity"
        response.stream = _RecordedStream(response.stream, witness)


def http_client(witnesses: StreamRecords) -> httpx2.AsyncClient:
    """Make the client of one endpoint. It opens no connection before the first call."""
    return openai.DefaultAsyncHttpxClient(
        limits=httpx2.Limits(max_connections=1000, max_keepalive_connections=0),
        headers={"Accept-Encoding": "identity"},
        event_hooks={"response": [witnesses.receive]},
    )


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


def open_chat(model: ModelSettings, upstream: str, witnesses: StreamRecords) -> ReasoningChat:
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
