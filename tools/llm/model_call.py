"""One streamed call to a chat model: its client, its time limits, and foreign errors as our own."""

import asyncio
import json
import re
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import httpx2
import openai
from langchain_core.messages import AIMessageChunk, BaseMessageChunk
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGenerationChunk
from langchain_openai import ChatOpenAI
from openai import RequestOptions
from pydantic import SecretStr

from graph.errors import ModelRefused, ModelReplyInvalid, ModelUnavailable
from graph.evidence import ModelUse
from graph.usage import Meter
from tools.llm.model_reply import (
    AttemptFailed,
    ReplyEnd,
    ReplyPart,
    ReplyText,
    ReplyThinking,
    ReplyTokens,
    SurrogateJoiner,
    ThinkingSplitter,
)
from tools.llm.prompting import Messages, estimate_tokens
from tools.llm.token_odds import TokenOdds, read_odds
from tools.settings import ModelSettings
from tools.telemetry.tracing import ModelCall, model_call
from tools.web.endpoint_reason import endpoint_reason
from tools.web.retry_after import retry_after

REQUEST_ID = "X-Client-Request-Id"
UNREADABLE = (ValueError, KeyError, TypeError, IndexError, AttributeError)  # what the SDK raises for a malformed chunk
WHOLE_BYTES = 8_000_000  # of a reply that is not streamed
DONE = re.compile(rb"(?:^|[\r\n])data: ?\[DONE\]")


@dataclass(slots=True)
class StreamRecord:
    """The record of one response. ``done``: it contained ``data: [DONE]``, or it is encoded and can't be inspected.

    One that ignores ``stream`` comes whole, and is read as a stream of one chunk.
    """

    response: httpx2.Response | None = None
    done: bool = False
    tail: bytes = b"\n"

    def add(self, data: bytes) -> None:
        """Look for the ``[DONE]`` line in the next bytes of the body."""
        window = self.tail + data
        self.done = self.done or DONE.search(window) is not None
        self.tail = window[-16:]

    async def close(self) -> None:
        """Close the connection, even if the response is incomplete, and let go of it: its stream holds this record."""
        response, self.response = self.response, None
        if response is not None:
            await response.aclose()


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


class _WholeReply(httpx2.AsyncByteStream):
    """The stream of an endpoint that ignores ``stream`` and sends a whole completion: it becomes one chunk."""

    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream
        self._is_read = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if self._is_read:  # the SDK drains what is left behind the end
            return
        self._is_read, body = True, b""
        async for data in self._stream:
            body += data
            if len(body) > WHOLE_BYTES:
                return
        try:
            reply = json.loads(body)
            choices = [{**choice, "delta": choice["message"]} for choice in reply["choices"]]
        except (*UNREADABLE, RecursionError):
            yield body
            return
        yield f"data: {json.dumps(reply | {'choices': choices})}\n\ndata: [DONE]\n\n".encode()

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
        is_whole = response.is_success and response.headers.get("content-type", "").startswith("application/json")
        stream = _WholeReply(response.stream) if is_whole else response.stream
        response.stream = _RecordedStream(stream, record)


def http_client(records: StreamRecords) -> httpx2.AsyncClient:
    """Create the HTTP client of one endpoint. It opens no connection before the first call."""
    return openai.DefaultAsyncHttpxClient(
        limits=httpx2.Limits(max_connections=1000, max_keepalive_connections=0),
        headers={"Accept-Encoding": "identity"},
        event_hooks={"response": [records.receive]},
    )


REASONING, REFUSAL = "reasoning_content", "refusal"
OTHERWISE = "Ask in other words, or choose another model."
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
            for key, said in ((REASONING, thought), (REFUSAL, delta.get("refusal"))):
                if isinstance(said, str):
                    generation.message.additional_kwargs[key] = said
        return generation


class PlainChunks:
    """Chat completions streamed as plain dictionaries, which ChatOpenAI makes of the SDK's models anyway.

    Making those models is a fifth of the CPU of an answer.
    """

    def __init__(self, client: openai.AsyncOpenAI) -> None:
        self._client = client

    async def create(
        self, *, extra_headers: Mapping[str, str], extra_body: Mapping[str, Any] | None = None, **body: Any
    ) -> openai.AsyncStream[object]:
        """Request a streamed completion. Raises as the SDK's own method."""
        options = RequestOptions(headers=extra_headers)
        if extra_body is not None:
            options["extra_json"] = extra_body
        return await self._client.post(
            "/chat/completions",
            cast_to=object,
            body=body,
            options=options,
            stream=True,
            stream_cls=openai.AsyncStream[object],
        )


def open_chat(model: ModelSettings, upstream: str, records: StreamRecords) -> ReasoningChat:
    """Create a chat model. Retries and the chunk timeout are implemented here, so both are disabled in the SDK.

    Its own chunk timeout uses ``asyncio.wait_for``, which on Python 3.11 loses a cancellation that arrives together
    with a chunk.
    """
    chat = ReasoningChat(
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
    chat.async_client = PlainChunks(chat.root_async_client)
    return chat


T = TypeVar("T")


async def with_timeout(seconds: float, stream: AsyncGenerator[T, None], *, meter: Meter) -> AsyncGenerator[T, None]:
    """Yield the items of a stream while the meter has seconds left.

    Raises TimeoutError if one item takes longer than ``seconds``, BudgetExhausted if the meter's time is up before.
    Each item has its own timeout, since one around the loop would also cancel the consumer between two items.
    ``asyncio.wait_for`` is not used: on Python 3.11 it loses a cancellation that arrives together with the item.
    """
    while True:
        left = meter.remaining()
        if left == 0:
            raise meter.exhaust("seconds")
        try:
            async with asyncio.timeout(seconds if left is None else min(seconds, left)) as bound:
                item = await anext(stream)
        except StopAsyncIteration:
            return
        except TimeoutError:
            if bound.expired() and left is not None and left <= seconds:
                raise meter.exhaust("seconds") from None
            raise
        yield item


SDK_ERRORS = (openai.OpenAIError, httpx2.HTTPError, TimeoutError, *UNREADABLE)


def translate_error(error: Exception) -> AttemptFailed:
    """Translate the error of an attempt; the message contains neither the host nor the key."""
    match error:
        case openai.BadRequestError() | openai.UnprocessableEntityError():
            words = json.dumps(error.body, ensure_ascii=False) if error.body else error.message
            advice = "Check the model's settings; the log has the reason that the endpoint gives."
            return AttemptFailed(_refused("refused the request", advice), refused=words)
        case openai.AuthenticationError() | openai.PermissionDeniedError():
            return AttemptFailed(_refused("refused the API key", "Check the api_key of this model."))
        case openai.NotFoundError():
            return AttemptFailed(_refused("does not know the model", "Check the base_url and model settings."))
        case openai.RateLimitError():
            if error.code == "insufficient_quota":
                return AttemptFailed(_refused("says that its quota is used up", "Check the account of this model."))
            return AttemptFailed(_unavailable("is rate limited"), again=True, wait=retry_after(error.response.headers))
        case openai.APIStatusError():
            failed = _unavailable(f"answered with HTTP {error.status_code}")
            return AttemptFailed(failed, again=error.status_code >= 500, wait=retry_after(error.response.headers))
        case openai.APITimeoutError() | TimeoutError():
            return AttemptFailed(_unavailable("did not answer in time"))
        case openai.APIConnectionError() | httpx2.HTTPError():
            return AttemptFailed(_unavailable("could not be reached, or broke the connection"), again=True)
        case openai.APIError():
            return AttemptFailed(_unavailable("reported an error in its reply"), again=True)
        case _:
            return AttemptFailed(ModelReplyInvalid("The model endpoint's reply is not a chat completion."))


def _unavailable(what: str, suggestion: str | None = None) -> ModelUnavailable:
    return ModelUnavailable(f"The model endpoint {what}.", suggestion=suggestion)


def _refused(what: str, suggestion: str) -> ModelRefused:
    return ModelRefused(f"The model endpoint {what}.", suggestion=suggestion)


THINKING_CHARACTERS = 100_000
HIDDEN_FROM_STREAM = {"tags": ["nostream"]}  # otherwise LangGraph streams the raw reply of a node as messages


@dataclass(slots=True)
class _StreamEnd:
    reason: str | None = None
    refusal: str = ""  # what some endpoints stream in a field of its own where the model declines
    has_text: bool = False
    use: ModelUse | None = None  # as the endpoint reports it


class Caller:
    """A caller of one upstream model."""

    def __init__(self, model: ModelSettings, upstream: str) -> None:
        self._records = StreamRecords()
        self._upstream, self._base_url = upstream, model.base_url
        self._chat = open_chat(model, upstream, self._records)
        self._timeout_seconds = model.timeout_seconds

    async def attempt(
        self, messages: Messages, fields: dict[str, Any], *, max_characters: int, meter: Meter
    ) -> AsyncGenerator[ReplyPart, None]:
        """Stream one reply; ``fields`` are added to ChatOpenAI's payload. Its tokens are metered, however it ends.

        ``max_characters`` limits the reply; its thinking has a separate limit. Raises AttemptFailed, and
        BudgetExhausted if the meter's seconds run out before the reply ends.
        """
        with model_call("chat", self._upstream, self._base_url, messages=messages, stream=True) as call:
            async with aclosing(self._reply(messages, fields, call, max_characters, meter)) as parts:
                async for part in parts:
                    yield part

    async def _reply(
        self, messages: Messages, fields: dict[str, Any], call: ModelCall, max_characters: int, meter: Meter
    ) -> AsyncGenerator[ReplyPart, None]:
        splitter, joiner, ending = ThinkingSplitter(), SurrogateJoiner(), _StreamEnd()
        room = {ReplyText: max_characters, ReplyThinking: THINKING_CHARACTERS}
        read, cancelled = 0, False
        try:
            async with aclosing(self._chunks(messages, fields, ending, call, meter)) as chunks:
                async for text, thought, tokens in chunks:
                    call.received(text)
                    read += len(text) + len(thought)
                    if tokens:
                        yield ReplyTokens(tokens)
                    for part in [*([ReplyThinking(thought)] if thought else []), *splitter.feed(joiner.feed(text))]:
                        if shown := part.text[: max(0, room[type(part)])]:
                            yield type(part)(shown)
                        room[type(part)] -= len(part.text)
                    if min(room.values()) < 0:
                        ending.reason = "length"
                        break
            for part in splitter.feed(joiner.end()) + splitter.end():
                yield part
            yield ReplyEnd(cut=ending.reason == "length")
        except AttemptFailed as failed:
            call.code = failed.error.code
            raise
        except (asyncio.CancelledError, GeneratorExit):
            cancelled = True
            raise
        finally:
            use = ending.use or _estimate(messages, read, cancelled=cancelled)
            call.input_tokens, call.output_tokens = use["input_tokens"], use["output_tokens"]
            meter.add_use(self._upstream, use)

    async def _chunks(
        self, messages: Messages, fields: dict[str, Any], ending: _StreamEnd, call: ModelCall, meter: Meter
    ) -> AsyncGenerator[tuple[str, str, tuple[TokenOdds, ...]], None]:
        """Yield the text, thinking and tokens of each chunk, and record in ``ending`` how the reply ended."""
        request_id = uuid.uuid4().hex
        record = self._records.start(request_id)
        stream = self._chat.astream(
            list(messages),
            HIDDEN_FROM_STREAM,  # type: ignore[arg-type]
            extra_headers={REQUEST_ID: request_id},
            **fields,
        )
        try:
            async with aclosing(cast(AsyncGenerator[AIMessageChunk, None], stream)) as chunks:
                async for chunk in with_timeout(self._timeout_seconds, call.under(chunks), meter=meter):
                    ending.reason = chunk.response_metadata.get("finish_reason") or ending.reason
                    if chunk.usage_metadata and chunk.usage_metadata["total_tokens"]:
                        ending.use = _reported(chunk.usage_metadata)
                    ending.refusal += chunk.additional_kwargs.get(REFUSAL, "")
                    ending.has_text = ending.has_text or bool(str(chunk.text).strip())
                    tokens = read_odds(chunk.response_metadata.get("logprobs"))
                    yield str(chunk.text), chunk.additional_kwargs.get(REASONING, ""), tokens
        except SDK_ERRORS as error:
            raise translate_error(error) from error
        finally:
            self._records.remove(request_id)
            await record.close()
        if ending.reason == "content_filter":
            raise AttemptFailed(ModelReplyInvalid("The model endpoint withheld the reply (content filter)."))
        if ending.refusal and not ending.has_text:
            said = endpoint_reason(ending.refusal).rstrip(".")
            raise AttemptFailed(ModelReplyInvalid(f"The model declined to answer: {said}.", suggestion=OTHERWISE))
        if ending.reason == "tool_calls" and not ending.has_text:
            raise AttemptFailed(ModelReplyInvalid("The model called a tool instead of writing.", suggestion=OTHERWISE))
        if ending.reason is None and not record.done:
            raise AttemptFailed(ModelUnavailable("The model endpoint's reply broke off before its end."), again=True)


def _reported(usage: UsageMetadata) -> ModelUse:
    """Return the tokens that an endpoint counted; what it counts beside prompt and reply is priced as the prompt is."""
    written = min(usage["output_tokens"], usage["total_tokens"])
    prompt = usage["total_tokens"] - written
    cached = usage.get("input_token_details", {}).get("cache_read", 0) or 0
    return ModelUse(
        calls=1, input_tokens=prompt, cached_tokens=min(cached, prompt), output_tokens=written, estimated_calls=0
    )


def _estimate(messages: Messages, read: int, *, cancelled: bool) -> ModelUse:
    """Estimate the tokens of a call whose endpoint reported none, so that budgets and limits still apply.

    A call that brought nothing is counted as one without tokens, but for one that was cancelled: its endpoint may have
    read the prompt.
    """
    counts = bool(read) or cancelled
    prompt = sum(estimate_tokens(text) for _, text in messages) if counts else 0
    return ModelUse(calls=1, input_tokens=prompt, cached_tokens=0, output_tokens=read // 4, estimated_calls=int(counts))
