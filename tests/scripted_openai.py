"""An OpenAI-compatible server on loopback that says what a test has scripted, over real HTTP and real SSE.

    with ScriptedOpenAI() as server:
        server.script(answer({"text": "Paris.", "source_ids": ["d:0"]}), to="generate_answer")
        ModelSettings(name="scripted", base_url=server.base_url, model="any")
        ...
        server.requests[-1].body["response_format"]

A reply goes to the first request that it is for: made with the prompt ``to``, holding the text ``when``, or any where
neither is given. A request for which nothing is scripted gets a sensible reply: greetings and thanks are small talk,
any other question stays as it is, every passage is kept, the answer quotes the first segment, and so does every section
that is corrected; a query is worded anew each time, every claim is the same as its quote, every answer scores 7 of 10,
and a title is the question itself.
The fixture is ``scripted_openai``.
"""

import asyncio
import json
import re
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

PROMPTS = Path(__file__).parents[1] / "prompts"
SMALL_TALK = re.compile(r"(hello|hi|hey|thanks|thank you|bye|goodbye)\b", re.IGNORECASE)
PATIENCE = 20.0  # seconds that a test waits for what must happen


@dataclass(frozen=True)
class Say:
    """A delta of the answer."""

    text: str


@dataclass(frozen=True)
class Think:
    """A delta of ``reasoning_content``."""

    text: str


@dataclass(frozen=True)
class Raw:
    """Bytes as they are, in the place of an SSE frame."""

    data: bytes


@dataclass(frozen=True)
class Fail:
    """An error object in mid-stream; the stream then ends as usual."""

    message: str = "the model fell over"


@dataclass(frozen=True)
class Break:
    """Reset the connection."""


class Hold:
    """Hold the stream until the test releases it, or the client goes away."""

    def __init__(self) -> None:
        self._reached: Future[None] = Future()
        self._released: Future[None] = Future()

    def wait_reached(self) -> None:
        """Wait until all that comes before the hold was sent."""
        self._reached.result(PATIENCE)

    def release(self) -> None:
        self._released.set_result(None)

    async def pass_through(self) -> None:
        self._reached.set_result(None)
        await asyncio.wrap_future(self._released)


Step = Say | Think | Raw | Fail | Break | Hold


@dataclass(frozen=True)
class Reply:
    """A scripted reply. ``finish_reason`` None and ``done`` False leave those frames out."""

    steps: Sequence[Step] = ()
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    error: dict[str, Any] | None = None  # the body's ``error`` where the status is not 200
    finish_reason: str | None = "stop"
    done: bool = True
    tokens: int | None = 42


def say(*deltas: str, **reply: Any) -> Reply:
    """Script a reply of these deltas."""
    return Reply(steps=[Say(delta) for delta in deltas], **reply)


def answer(*sections: dict[str, Any], cut: int = 7, **reply: Any) -> Reply:
    """Script an answer in sections, its JSON sent ``cut`` characters at a time."""
    text = json.dumps({"sections": sections}, ensure_ascii=False)
    return say(*(text[i : i + cut] for i in range(0, len(text), cut)), **reply)


def status(http: int, message: str = "no", headers: dict[str, str] | None = None, **error: Any) -> Reply:
    """Script a refusal with an HTTP status."""
    return Reply(status=http, headers=headers or {}, error={"message": message, "type": "error", **error})


@dataclass
class Exchange:
    """A request as it came, and whether its client went away before the reply was over."""

    body: dict[str, Any]
    headers: dict[str, str]
    prompt: str | None
    _gone: Future[bool] = field(default_factory=Future)

    @property
    def text(self) -> str:
        return "\n".join(str(message["content"]) for message in self.body.get("messages", []))

    def wait_disconnected(self) -> bool:
        """Wait for the exchange to end; tell whether the client ended it."""
        return self._gone.result(PATIENCE)


class ScriptedOpenAI:
    """The server, in a thread of its own: use it as a context manager."""

    def __init__(self) -> None:
        self.requests: list[Exchange] = []
        self._scripts: list[tuple[str | None, str, Reply]] = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._tasks: set[asyncio.Task[None]] = set()

    def script(self, *replies: Reply, to: str | None = None, when: str = "") -> None:
        """Queue replies, in order; each is given once."""
        self._scripts.extend((to, when, reply) for reply in replies)

    def unscript(self) -> None:
        """Take back what is scripted and was not asked for."""
        self._scripts.clear()

    def asked(self, prompt: str) -> list[Exchange]:
        """Give the requests made with a prompt."""
        return [exchange for exchange in self.requests if exchange.prompt == prompt]

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._port}/v1"

    def __enter__(self) -> "ScriptedOpenAI":
        self._thread.start()
        self._server = asyncio.run_coroutine_threadsafe(
            asyncio.start_server(self._serve, "127.0.0.1", 0), self._loop
        ).result(PATIENCE)
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(PATIENCE)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(PATIENCE)
        self._loop.close()

    async def _stop(self) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.sleep(0)  # let the transports report that they are closed

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        try:
            await self._exchange(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the client went away; the exchange knows
        finally:
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
        raw = await reader.readexactly(int(headers.get("content-length", "0")))
        if head[0].startswith("GET"):
            return await _respond(writer, 200, {"object": "list", "data": [{"id": "scripted", "object": "model"}]})
        body = json.loads(raw)
        exchange = Exchange(body, headers, _prompt_of(body))
        reply = self._next(exchange)
        self.requests.append(exchange)
        sending = asyncio.ensure_future(self._send(reply, body, writer))
        leaving = asyncio.ensure_future(reader.read(1))
        try:
            await asyncio.wait((sending, leaving), return_when=asyncio.FIRST_COMPLETED)
        finally:
            gone = not sending.done() or sending.exception() is not None
            exchange._gone.set_result(gone)
            for task in (sending, leaving):
                task.cancel()
            await asyncio.gather(sending, leaving, return_exceptions=True)

    def _next(self, exchange: Exchange) -> Reply:
        for script in self._scripts:
            to, when, reply = script
            if to in (None, exchange.prompt) and when in exchange.text:
                self._scripts.remove(script)
                return reply
        return say(SENSIBLE[exchange.prompt](exchange.text)) if exchange.prompt in SENSIBLE else say("Hello.")

    async def _send(self, reply: Reply, body: dict[str, Any], writer: asyncio.StreamWriter) -> None:
        if reply.status != 200:
            return await _respond(writer, reply.status, {"error": reply.error}, reply.headers)
        if not body.get("stream"):
            return await _respond(writer, 200, _completion(reply, body))
        extra = "".join(f"{name}: {value}\r\n" for name, value in reply.headers.items())
        writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n"
            b"Connection: close\r\n" + extra.encode() + b"\r\n"
        )
        for step in [*reply.steps, *_ending(reply)]:
            if isinstance(step, Hold):
                await step.pass_through()
            elif isinstance(step, Break):
                return writer.transport.abort()
            else:
                frame = _frame(step, body)
                writer.write(b"%x\r\n%b\r\n" % (len(frame), frame))
                await writer.drain()
        writer.write(b"0\r\n\r\n")
        await writer.drain()


def _prompt_of(body: dict[str, Any]) -> str | None:
    first = str(body.get("messages", [{"content": ""}])[0]["content"]).split("\n", 1)[0]
    known = {path.read_text("utf-8").split("\n", 1)[0]: path.stem for path in PROMPTS.glob("*.md")}
    return known.get(first)


def _ending(reply: Reply) -> Iterator[Raw]:
    if reply.finish_reason is not None:
        yield _chunk({}, finish_reason=reply.finish_reason)
    if reply.tokens is not None:
        usage = {"prompt_tokens": reply.tokens - 1, "completion_tokens": 1, "total_tokens": reply.tokens}
        yield _chunk(None, usage=usage)
    if reply.done:
        yield Raw(b"data: [DONE]\n\n")


def _frame(step: Step, body: dict[str, Any]) -> bytes:
    match step:
        case Say(text):
            return _chunk({"role": "assistant", "content": text}).data
        case Think(text):
            return _chunk({"role": "assistant", "reasoning_content": text}).data
        case Fail(message):
            return b"data: " + json.dumps({"error": {"message": message, "type": "server_error"}}).encode() + b"\n\n"
        case Raw(data):
            return data
    raise AssertionError(step)


def _chunk(delta: dict[str, Any] | None, *, finish_reason: str | None = None, **more: Any) -> Raw:
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish_reason}]
    made = {"id": "c", "object": "chat.completion.chunk", "created": int(time.time()), "model": "scripted"}
    return Raw(b"data: " + json.dumps({**made, "choices": choices, **more}).encode() + b"\n\n")


def _completion(reply: Reply, body: dict[str, Any]) -> dict[str, Any]:
    text = "".join(step.text for step in reply.steps if isinstance(step, Say))
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": reply.finish_reason}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": reply.tokens or 2}
    return {"id": "c", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice], "usage": usage}


async def _respond(
    writer: asyncio.StreamWriter, code: int, body: dict[str, Any], headers: dict[str, str] | None = None
) -> None:
    data = json.dumps(body).encode()
    head = {"Content-Type": "application/json", "Content-Length": str(len(data)), "Connection": "close"}
    lines = "".join(f"{name}: {value}\r\n" for name, value in {**head, **(headers or {})}.items())
    writer.write(f"HTTP/1.1 {code} Scripted\r\n{lines}\r\n".encode() + data)
    await writer.drain()


def _as_is(prompt: str) -> str:
    question = prompt.rsplit("Last message:\n", 1)[1].strip()
    chat = SMALL_TALK.match(question) is not None
    decided = {"intent": "small_talk" if chat else "content_query", "needs_retrieval": not chat, "reason": "scripted"}
    return json.dumps({"standalone_question": question, **decided}, ensure_ascii=False)


def _all_kept(prompt: str) -> str:
    return json.dumps({"relevant": [int(number) for number in re.findall(r"^\[(\d+)\] ", prompt, re.MULTILINE)]})


def _first_segment(prompt: str) -> str:
    tag = re.search(r"^\[SEG=([^\]]+)\] (.*)$", prompt, re.MULTILINE)
    sections = [{"text": tag[2], "source_ids": [tag[1]]}] if tag else []
    return json.dumps({"sections": sections}, ensure_ascii=False)


def _first_segment_again(prompt: str) -> str:
    tag = re.search(r"^\[SEG=([^\]]+)\] (.*)$", prompt, re.MULTILINE)
    numbers = re.findall(r"^\[(\d+)\] ", prompt.rsplit("Sections to correct:", 1)[1], re.MULTILINE)
    sections = [{"section": int(n), "text": tag[2], "source_ids": [tag[1]]} for n in numbers] if tag else []
    return json.dumps({"sections": sections}, ensure_ascii=False)


def _another_query(prompt: str) -> str:
    asked, tried = prompt.rsplit("Question: ", 1)[1].split("\n\nTried:\n", 1)
    query = f"wording {1 + len(re.findall(r'^- ', tried, re.MULTILINE))} of {asked}"
    return json.dumps({"query": query, "reason": "scripted"}, ensure_ascii=False)


def _all_the_same(prompt: str) -> str:
    numbers = re.findall(r"^\[(\d+)\] Claim:", prompt.rsplit("under its number.", 1)[1], re.MULTILINE)
    return json.dumps({number: {"claimed": "it", "quoted": "it", "verdict": "same"} for number in numbers})


def _useful(prompt: str) -> str:
    return json.dumps({"utility": 7})


def _question_again(prompt: str) -> str:
    return json.dumps({"title": prompt.rsplit("First message:\n", 1)[1].strip()}, ensure_ascii=False)


SENSIBLE = {
    "decide_retrieval": _as_is,
    "grade_segments": _all_kept,
    "generate_answer": _first_segment,
    "revise_sections": _first_segment_again,
    "rewrite_query": _another_query,
    "check_claims": _all_the_same,
    "assess_quality": _useful,
    "title": _question_again,
}


@pytest.fixture
def scripted_openai() -> Iterator[ScriptedOpenAI]:
    with ScriptedOpenAI() as server:
        yield server
