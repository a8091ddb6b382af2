"""An OpenAI-compatible endpoint on loopback with scripted replies, over real HTTP and real SSE.

    async with scripted_endpoint(lambda request: say("Paris.")) as endpoint:
        ModelSettings(name="scripted", base_url=endpoint.base_url, model="any")

It serves chat completions, streamed and whole, embeddings, text classification, and the list of models. A reply can
fail as real servers do: with a status, with broken bytes, in the middle of a stream, or by hanging. A requested schema
is not enforced.
``evals.scripted_replies`` holds the replies of scripted models.
"""

import asyncio
import json
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.resources import files
from typing import Any

_PIECE = 64  # characters
_HOLD_SECONDS = 60.0  # timeout of a caller's wait


@dataclass(frozen=True)
class Say:
    """A delta of the answer; ``tokens`` are sent as its log-probabilities where the request asks for them."""

    text: str
    tokens: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True)
class Think:
    """A delta of ``reasoning_content``."""

    text: str


@dataclass(frozen=True)
class Raw:
    """Raw bytes sent instead of an SSE frame."""

    data: bytes


@dataclass(frozen=True)
class Fail:
    """An error object in mid-stream, after which the stream ends as usual."""

    message: str = "the model fell over"


@dataclass(frozen=True)
class Break:
    """A reset of the connection."""


@dataclass(frozen=True)
class Wait:
    """A pause of a fixed time, as a model takes before its first token and between two."""

    seconds: float


class Hold:
    """A pause of the stream until it is released or the client disconnects; usable from other threads."""

    def __init__(self) -> None:
        self._reached: Future[None] = Future()
        self._released: Future[None] = Future()

    def wait_reached(self) -> None:
        """Wait until everything before the hold was sent."""
        self._reached.result(_HOLD_SECONDS)

    def release(self) -> None:
        """Let the stream continue."""
        self._released.set_result(None)

    async def pass_through(self) -> None:
        """Signal that the hold is reached, and wait for its release."""
        self._reached.set_result(None)
        await asyncio.wrap_future(self._released)


Step = Say | Think | Raw | Fail | Break | Wait | Hold


@dataclass(frozen=True)
class Reply:
    """A scripted reply; with ``finish_reason`` None or ``done`` False those frames are omitted."""

    steps: Sequence[Step] = ()
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    error: Mapping[str, Any] | None = None  # the body's ``error`` if the status is not 200
    finish_reason: str | None = "stop"
    done: bool = True
    tokens: int | None = 42
    completion_tokens: int = 1  # of ``tokens``
    cached_tokens: int = 0  # of those of the prompt
    body: bytes | None = None  # the raw body; replaces all of this except the status and the headers


def say(*deltas: str, **reply: Any) -> Reply:
    """Return a reply of these deltas."""
    return Reply(steps=[Say(delta) for delta in deltas], **reply)


def answer(*sections: Mapping[str, Any], cut: int = 7, **reply: Any) -> Reply:
    """Return an answer in sections, its JSON sent ``cut`` characters at a time."""
    return say(*in_pieces(json.dumps({"sections": sections}, ensure_ascii=False), cut), **reply)


def status(http: int, message: str = "no", headers: Mapping[str, str] | None = None, **error: Any) -> Reply:
    """Return a reply that fails with an HTTP status."""
    return Reply(status=http, headers=headers or {}, error={"message": message, "type": "error", **error})


def embeddings(vectors: Iterable[Sequence[Any]]) -> Reply:
    """Return a reply with the embeddings of the requested texts, in order."""
    data = [{"object": "embedding", "index": index, "embedding": list(row)} for index, row in enumerate(vectors)]
    return Reply(
        body=json.dumps({"object": "list", "model": "m", "data": data, "usage": {"prompt_tokens": 1}}).encode()
    )


def predictions(rows: Iterable[Mapping[str, float]]) -> Reply:
    """Return the reply of a text-classification endpoint: the score of each label for each input, in order."""
    told = [[{"label": label, "score": score} for label, score in row.items()] for row in rows]
    return Reply(body=json.dumps(told).encode())


def token(text: str, probability: float = 1.0, **others: float) -> Mapping[str, Any]:
    """Return a token of a reply with its log-probability, and those of tokens that could have stood in its place."""
    row = {"token": text, "logprob": _log(probability), "bytes": list(text.encode())}
    top = [{"token": other, "logprob": _log(share), "bytes": None} for other, share in others.items()]
    return {**row, "top_logprobs": [row, *top]}


def _log(probability: float) -> float:
    return math.log(probability) if probability > 0 else -9999.0


def in_pieces(text: str, size: int = _PIECE) -> list[str]:
    """Split a reply into pieces of one size."""
    return [text[at : at + size] for at in range(0, len(text), size)]


@dataclass
class ModelRequest:
    """A received request, and whether its client disconnected before the reply was complete.

    ``written`` has the time at which each delta of a streamed reply was written, in nanoseconds of the monotonic clock.
    """

    body: Mapping[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict)
    path: str = "/v1/chat/completions"
    written: list[int] = field(default_factory=list)
    left: "Future[bool]" = field(default_factory=Future)  # whether the client disconnected, once the exchange is over

    @cached_property
    def text(self) -> str:
        """All messages joined into one text."""
        return "\n".join(str(message["content"]) for message in self.body.get("messages", []))

    @cached_property
    def prompt(self) -> str | None:
        """The name of the last of our prompts in the request; None if it holds none of ours."""
        names = _prompt_names()
        return next((names[line] for line in reversed(self.text.split("\n")) if line in names), None)

    @property
    def schema_name(self) -> str:
        """The name of the requested schema, as in ``tools.llm.reply_schemas``; "" for plain text."""
        name: str = self._form.get("name", "")
        return name

    @property
    def schema(self) -> Mapping[str, Any]:
        """The requested schema, empty for plain text."""
        schema: Mapping[str, Any] = self._form.get("schema", {})
        return schema

    @property
    def _form(self) -> Mapping[str, Any]:
        form: Mapping[str, Any] = self.body.get("response_format", {}).get("json_schema", {})
        return form

    def wait_disconnected(self) -> bool:
        """Wait for the end of the exchange, from another thread; return whether the client disconnected."""
        return self.left.result(_HOLD_SECONDS)


Respond = Callable[[ModelRequest], Reply | Awaitable[Reply]]


class ScriptedEndpoint:
    """A server that calls ``respond`` for the reply to each request, and awaits it where it takes a while.

    Connections are closed after a reply, unless ``keep_alive`` is set.
    """

    def __init__(self, respond: Respond, *, keep_alive: bool = False) -> None:
        self.requests: list[ModelRequest] = []
        self.respond = respond
        self._keep_alive = keep_alive
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self, port: int = 0) -> None:
        """Listen on a port of loopback; 0 means a free one."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", port)
        self._port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Close the port and every connection."""
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.sleep(0)  # let the transports report their close

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._port}/v1"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        buffered = b""
        try:
            while (rest := await self._exchange(buffered, reader, writer)) is not None:
                buffered = rest
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the client disconnected; the request records it
        finally:
            writer.close()

    async def _exchange(
        self, buffered: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bytes | None:
        """Answer one request; return the first bytes of the next one, or None if the connection ends."""
        head = (buffered + await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
        raw = await reader.readexactly(int(headers.get("content-length", "0")))
        method, path, _ = head[0].split(" ", 2)
        connection = {"Connection": "keep-alive" if self._keep_alive else "close"}
        if method == "GET":
            await _send_whole(writer, 200, _MODELS, connection)
            return b"" if self._keep_alive else None
        request = ModelRequest(json.loads(raw), headers, path)
        self.requests.append(request)
        sending = _reply(self.respond(request), request, writer, connection)
        rest = await _send_until_disconnected(sending, reader, request.left)
        return rest if self._keep_alive and not request.left.result() else None


@asynccontextmanager
async def scripted_endpoint(respond: Respond, *, keep_alive: bool = False) -> AsyncIterator[ScriptedEndpoint]:
    """Serve scripted replies until the context exits."""
    endpoint = ScriptedEndpoint(respond, keep_alive=keep_alive)
    await endpoint.start()
    try:
        yield endpoint
    finally:
        await endpoint.stop()


@asynccontextmanager
async def model_endpoint(
    reply: Callable[[ModelRequest], str], *, cut: Callable[[str], Iterable[str]] = in_pieces
) -> AsyncIterator[str]:
    """Serve a function as a model and yield its base URL. ``cut`` splits a reply into the streamed pieces."""
    async with scripted_endpoint(lambda request: say(*cut(reply(request)), tokens=None)) as endpoint:
        yield endpoint.base_url


async def _send_until_disconnected(
    sending: Awaitable[None], reader: asyncio.StreamReader, left: "Future[bool]"
) -> bytes:
    """Send a reply unless the client disconnects; set ``left`` accordingly, and return bytes after the request."""
    sent = asyncio.ensure_future(sending)
    leaving = asyncio.ensure_future(reader.read(1))
    try:
        await asyncio.wait((sent, leaving), return_when=asyncio.FIRST_COMPLETED)
    finally:
        left.set_result(not sent.done() or sent.exception() is not None)
        for task in (sent, leaving):
            task.cancel()
        await asyncio.gather(sent, leaving, return_exceptions=True)
    return b"" if leaving.cancelled() else leaving.result()


async def _reply(
    reply: Reply | Awaitable[Reply], request: ModelRequest, writer: asyncio.StreamWriter, connection: Mapping[str, str]
) -> None:
    await _send(reply if isinstance(reply, Reply) else await reply, request, writer, connection)


async def _send(
    reply: Reply, request: ModelRequest, writer: asyncio.StreamWriter, connection: Mapping[str, str]
) -> None:
    headers = {**connection, **reply.headers}
    if reply.body is not None:
        return await _send_whole(writer, reply.status, reply.body, headers)
    if reply.status != 200:
        return await _send_whole(writer, reply.status, json.dumps({"error": reply.error}).encode(), headers)
    if not request.body.get("stream"):
        for step in reply.steps:
            match step:
                case Hold():
                    await step.pass_through()
                case Wait(seconds):
                    await asyncio.sleep(seconds)
                case Break():
                    return writer.transport.abort()
                case _:
                    pass
        return await _send_whole(writer, 200, json.dumps(_completion(reply)).encode(), headers)
    writer.write(_head(200, {"Content-Type": "text/event-stream", "Transfer-Encoding": "chunked", **headers}))
    if await _send_steps(reply, request, writer):
        writer.write(b"0\r\n\r\n")
        await writer.drain()


async def _send_steps(reply: Reply, request: ModelRequest, writer: asyncio.StreamWriter) -> bool:
    """Send the steps of a reply; return False if one of them broke the connection."""
    for step in [*reply.steps, *_ending(reply)]:
        match step:
            case Hold():
                await step.pass_through()
            case Wait(seconds):
                await asyncio.sleep(seconds)
            case Break():
                writer.transport.abort()
                return False
            case Say() | Think() | Raw() | Fail():
                frame = _frame(step, logprobs=bool(request.body.get("logprobs")))
                if isinstance(step, Say):
                    request.written.append(time.monotonic_ns())
                writer.write(b"%x\r\n%b\r\n" % (len(frame), frame))
                await writer.drain()
    return True


async def _send_whole(writer: asyncio.StreamWriter, code: int, data: bytes, headers: Mapping[str, str]) -> None:
    known = {"Content-Type": "application/json", "Content-Length": str(len(data))}
    writer.write(_head(code, {**known, **headers}) + data)
    await writer.drain()


def _head(code: int, headers: Mapping[str, str]) -> bytes:
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {code} Scripted\r\n{lines}\r\n".encode()


_MODELS = json.dumps({"object": "list", "data": [{"id": "scripted", "object": "model"}]}).encode()


@cache
def _prompt_names() -> Mapping[str, str]:
    """Map the first line of each prompt to its name."""
    prompts = [file for file in files("prompts").iterdir() if file.name.endswith(".md")]
    return {file.read_text("utf-8").split("\n", 1)[0]: file.name.removesuffix(".md") for file in prompts}


def _ending(reply: Reply) -> Iterator[Raw]:
    if reply.finish_reason is not None:
        yield _chunk({}, finish_reason=reply.finish_reason)
    if reply.tokens is not None:
        written = reply.completion_tokens
        usage: dict[str, Any] = {"prompt_tokens": reply.tokens - written, "completion_tokens": written}
        usage |= {"total_tokens": reply.tokens, "prompt_tokens_details": {"cached_tokens": reply.cached_tokens}}
        yield _chunk(None, usage=usage)
    if reply.done:
        yield Raw(b"data: [DONE]\n\n")


def _frame(step: Say | Think | Raw | Fail, *, logprobs: bool) -> bytes:
    match step:
        case Say(text, tokens):
            content = list(tokens) if logprobs and tokens else None
            return _chunk({"role": "assistant", "content": text}, tokens=content).data
        case Think(text):
            return _chunk({"role": "assistant", "reasoning_content": text}).data
        case Fail(message):
            return b"data: " + json.dumps({"error": {"message": message, "type": "server_error"}}).encode() + b"\n\n"
        case Raw(data):
            return data


def _chunk(
    delta: Mapping[str, Any] | None,
    *,
    finish_reason: str | None = None,
    tokens: Sequence[Mapping[str, Any]] | None = None,
    **more: Any,
) -> Raw:
    logprobs = None if tokens is None else {"content": tokens, "refusal": None}
    choice = {"index": 0, "delta": delta, "logprobs": logprobs, "finish_reason": finish_reason}
    choices = [] if delta is None else [choice]
    made = {"id": "c", "object": "chat.completion.chunk", "created": int(time.time()), "model": "scripted"}
    return Raw(b"data: " + json.dumps({**made, "choices": choices, **more}).encode() + b"\n\n")


def _completion(reply: Reply) -> dict[str, Any]:
    text = "".join(step.text for step in reply.steps if isinstance(step, Say))
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": reply.finish_reason}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": reply.tokens or 2}
    return {"id": "c", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice], "usage": usage}
