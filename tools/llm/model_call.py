"""One streamed call to a chat model: its client, its time limits, and foreign errors as our own."""

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, TypeVar

import httpx2
import openai

from graph.errors import ModelRefused, ModelReplyInvalid, ModelUnavailable
from graph.evidence import ModelUse
from graph.usage import Meter
from tools.llm.completion_stream import CompletionStream
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

UNREADABLE = (ValueError, KeyError, TypeError, IndexError, AttributeError)  # what a malformed chunk raises
OTHERWISE = "Ask in other words, or choose another model."
NO_KEY = "no-key"  # with an empty key, the SDK would send OPENAI_API_KEY to this endpoint


def open_client(model: ModelSettings) -> openai.AsyncOpenAI:
    """Create the client of one endpoint. It opens no connection before the first call, and tries nothing twice."""
    return openai.AsyncOpenAI(
        base_url=model.base_url,
        api_key=model.api_key.get_secret_value() or NO_KEY,
        timeout=model.timeout_seconds,
        max_retries=0,
        http_client=openai.DefaultAsyncHttpxClient(
            limits=httpx2.Limits(max_connections=1000, max_keepalive_connections=0),
            headers={"Accept-Encoding": "identity"},
        ),
    )


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
        case openai.APITimeoutError() | httpx2.TimeoutException() | TimeoutError():
            return AttemptFailed(_unavailable("did not answer in time"))
        case openai.APIConnectionError() | httpx2.HTTPError():
            return AttemptFailed(_unavailable("could not be reached, or broke the connection"), again=True)
        case openai.APIError():
            return AttemptFailed(_unavailable("reported an error in its reply"), again=True)
        case _:
            return AttemptFailed(_not_a_completion())


def _not_a_completion() -> ModelReplyInvalid:
    return ModelReplyInvalid("The model endpoint's reply is not a chat completion.")


def _unavailable(what: str, suggestion: str | None = None) -> ModelUnavailable:
    return ModelUnavailable(f"The model endpoint {what}.", suggestion=suggestion)


def _refused(what: str, suggestion: str) -> ModelRefused:
    return ModelRefused(f"The model endpoint {what}.", suggestion=suggestion)


THINKING_CHARACTERS = 100_000

Said = tuple[str, str, tuple[TokenOdds, ...]]  # the text, the thinking and the tokens of a chunk


@dataclass(slots=True)
class _ReplySoFar:
    """What a reply's chunks have told of it beside their text."""

    begun: bool = False
    reason: str | None = None
    refusal: str = ""  # what some endpoints stream in a field of its own where the model declines
    has_text: bool = False
    use: ModelUse | None = None  # as the endpoint reports it

    def take(self, chunk: Mapping[str, Any]) -> Said:
        """Return what a chunk says. Raises AttemptFailed where it is an error, and one of UNREADABLE.

        Its thinking has a field of its own: ``reasoning_content`` of DeepSeek, vLLM, llama.cpp and ZhipuAI,
        ``reasoning`` of Ollama and OpenRouter.
        """
        if chunk.get("error"):
            raise AttemptFailed(_unavailable("reported an error in its reply"), again=True)
        self.begun = True
        self.use = _reported(chunk.get("usage") or {}) or self.use
        choice: Mapping[str, Any] = next(iter(chunk.get("choices") or ()), {})
        self.reason = choice.get("finish_reason") or self.reason
        delta = choice.get("delta") or {}
        text, thought = _text_of(delta.get("content")), delta.get("reasoning_content") or delta.get("reasoning")
        refusal = delta.get("refusal")
        self.refusal += refusal if isinstance(refusal, str) else ""
        self.has_text = self.has_text or bool(text.strip())
        return text, thought if isinstance(thought, str) else "", read_odds(choice.get("logprobs"))

    def require_answer(self, *, done: bool) -> None:
        """Raise AttemptFailed if what has come is no whole answer; ``done``: the endpoint says that it is all."""
        if not self.begun:
            raise AttemptFailed(_not_a_completion())
        if self.reason == "content_filter":
            raise AttemptFailed(ModelReplyInvalid("The model endpoint withheld the reply (content filter)."))
        if self.refusal and not self.has_text:
            said = endpoint_reason(self.refusal).rstrip(".")
            raise AttemptFailed(ModelReplyInvalid(f"The model declined to answer: {said}.", suggestion=OTHERWISE))
        if self.reason == "tool_calls" and not self.has_text:
            raise AttemptFailed(ModelReplyInvalid("The model called a tool instead of writing.", suggestion=OTHERWISE))
        if self.reason is None and not done:
            raise AttemptFailed(ModelUnavailable("The model endpoint's reply broke off before its end."), again=True)


class Caller:
    """A caller of one upstream model."""

    def __init__(self, model: ModelSettings, upstream: str) -> None:
        self._upstream, self._base_url = upstream, model.base_url
        self._client = open_client(model)
        self._timeout_seconds = model.timeout_seconds

    async def attempt(
        self, messages: Messages, fields: dict[str, Any], *, max_characters: int, meter: Meter
    ) -> AsyncGenerator[ReplyPart, None]:
        """Stream one reply; ``fields`` are added to the request. Its tokens are metered, however it ends.

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
        splitter, joiner, so_far = ThinkingSplitter(), SurrogateJoiner(), _ReplySoFar()
        room = {ReplyText: max_characters, ReplyThinking: THINKING_CHARACTERS}
        read, cancelled = 0, False
        try:
            async with aclosing(self._chunks(messages, fields, so_far, call, meter)) as chunks:
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
                        so_far.reason = "length"
                        break
            for part in splitter.feed(joiner.end()) + splitter.end():
                yield part
            yield ReplyEnd(cut=so_far.reason == "length")
        except AttemptFailed as failed:
            call.code = failed.error.code
            raise
        except (asyncio.CancelledError, GeneratorExit):
            cancelled = True
            raise
        finally:
            use = so_far.use or _estimate(messages, read, cancelled=cancelled)
            call.input_tokens, call.output_tokens = use["input_tokens"], use["output_tokens"]
            meter.add_use(self._upstream, use)

    async def _chunks(
        self, messages: Messages, fields: dict[str, Any], so_far: _ReplySoFar, call: ModelCall, meter: Meter
    ) -> AsyncGenerator[Said, None]:
        """Yield what each chunk says, and record in ``so_far`` what it tells beside."""
        stream = CompletionStream()
        try:
            async with aclosing(self._received(messages, fields, stream)) as received:
                async for chunks in with_timeout(self._timeout_seconds, call.under(received), meter=meter):
                    for chunk in chunks:
                        yield so_far.take(chunk)
        except SDK_ERRORS as error:
            raise translate_error(error) from error
        so_far.require_answer(done=stream.done)

    async def _received(
        self, messages: Messages, fields: dict[str, Any], stream: CompletionStream
    ) -> AsyncGenerator[list[Any], None]:
        """Send a request, and yield the chunks of its response that came together.

        The SDK sends it and tells what failed; its own reading of the response takes as much CPU as all else here.
        """
        asked = [{"role": role, "content": text} for role, text in messages]
        streamed: bool = True
        response = await self._client.post(
            "/chat/completions",
            cast_to=httpx2.Response,
            body={"model": self._upstream, "messages": asked, "stream": True, **fields},
            stream=streamed,
        )
        try:
            async with aclosing(stream.read(response)) as chunks:
                async for each in chunks:
                    yield each
        finally:
            await response.aclose()


def _text_of(content: str | list[Any] | None) -> str:
    """Return the text of a delta, which is one string or, of some endpoints, blocks. Raises TypeError for others."""
    if not isinstance(content, list):
        return "" + (content or "")
    blocks = [{"type": "text", "text": each} if isinstance(each, str) else each for each in content]
    return "".join([each["text"] for each in blocks if each.get("type") == "text"])


def _reported(usage: Mapping[str, Any]) -> ModelUse | None:
    """Return the tokens that an endpoint counted, None where it counted none.

    What it counts beside prompt and reply is priced as the prompt is.
    """
    written = usage.get("completion_tokens") or 0
    total = usage.get("total_tokens")
    total = (usage.get("prompt_tokens") or 0) + written if total is None else total
    if not total:
        return None
    written = min(written, total)
    cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
    return ModelUse(
        calls=1,
        input_tokens=total - written,
        cached_tokens=min(cached, total - written),
        output_tokens=written,
        estimated_calls=0,
    )


def _estimate(messages: Messages, read: int, *, cancelled: bool) -> ModelUse:
    """Estimate the tokens of a call whose endpoint reported none, so that budgets and limits still apply.

    A call that brought nothing is counted as one without tokens, but for one that was cancelled: its endpoint may have
    read the prompt.
    """
    counts = bool(read) or cancelled
    prompt = sum(estimate_tokens(text) for _, text in messages) if counts else 0
    return ModelUse(calls=1, input_tokens=prompt, cached_tokens=0, output_tokens=read // 4, estimated_calls=int(counts))
