"""Chat model and HTTP client: one connection per call, and a record of how each stream ended."""

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
    """The record of one response. ``done``: it contained ``data: [DONE]``, or it is encoded and can't be inspected."""

    response: httpx2.Response | None = None
    done: bool = False
    tail: bytes = b"\n"

    def add(self, data: bytes) -> None:
        """Look for the ``[DONE]`` line in the next bytes of the body."""
        window = self.tail + data
        self.done = self.done or DONE.search(window) is not None
        self.tail = window[-16:]

    async def close(self) -> None:
        """Close the connection, even if the response is incomplete."""
        if self.response is not None:
            await self.response.aclose()


class _RecordedStream(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, record: StreamRecord) -> None:
        self._stream = stream
        self._record = record

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for data in self._stream:
            self._record.add(data)
            yield data

    async def aclose(self) -> None:
        await self._stream.aclose()


class StreamRecords:
    """The records of calls in progress, by the request id that each call sends."""

    def __init__(self) -> None:
        self._by_id: dict[str, StreamRecord] = {}

    def start(self, request_id: str) -> StreamRecord:
        """Create the record of a call."""
        return self._by_id.setdefault(request_id, StreamRecord())

    def remove(self, request_id: str) -> None:
        """Remove the record of a finished call."""
        self._by_id.pop(request_id, None)

    async def receive(self, response: httpx2.Response) -> None:
        """Attach a response to its record; httpx calls this hook before the body is read."""
        record = self._by_id.get(response.request.headers.get(REQUEST_ID, ""))
        if record is None or not isinstance(response.stream, httpx2.AsyncByteStream):
            return
        record.response = response
        record.done = response.headers.get("content-encoding", "identity") != "identity"
        response.stream = _RecordedStream(response.stream, record)


def http_client(records: StreamRecords) -> httpx2.AsyncClient:
    """Create the HTTP client of one endpoint. It opens no connection before the first call."""
    return openai.DefaultAsyncHttpxClient(
        limits=httpx2.Limits(max_connections=1000, max_keepalive_connections=0),
        headers={"Accept-Encoding": "identity"},
        event_hooks={"response": [records.receive]},
    )


REASONING = "reasoning_content"
NO_KEY = SecretStr("no-key")  # with an empty key, the SDK would send OPENAI_API_KEY to this endpoint


class ReasoningChat(ChatOpenAI):
    """ChatOpenAI with the thinking of endpoints that stream it in a separate field.

    DeepSeek, vLLM, llama.cpp and ZhipuAI use ``reasoning_content``; Ollama and OpenRouter use ``reasoning``.
    """

    def _convert_chunk_to_generation_chunk(
        self, chunk: dict[str, Any], default_chunk_class: type, base_generation_info: dict[str, Any] | None
    ) -> ChatGenerationChunk | None:
        choices = chunk.get("choices")
        if choices and choices[0].get("delta") is None:
            choices[0]["delta"] = {}  # else ChatOpenAI drops the chunk, and with it the finish_reason
        generation = super()._convert_chunk_to_generation_chunk(chunk, default_chunk_class, base_generation_info)
        if generation is not None and choices and isinstance(generation.message, BaseMessageChunk):
            delta = choices[0]["delta"]
            thought = delta.get(REASONING) or delta.get("reasoning")
            if isinstance(thought, str):
                generation.message.additional_kwargs[REASONING] = thought
        return generation


def open_chat(model: ModelSettings, upstream: str, records: StreamRecords) -> ReasoningChat:
    """Create a chat model. Retries and the chunk timeout are implemented here, so both are disabled in the SDK.

    Its own chunk timeout uses ``asyncio.wait_for``, which on Python 3.11 loses a cancellation that arrives together
    with a chunk.
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
        http_async_client=http_client(records),
        http_socket_options=(),
    )
