"""The scripted endpoint as a test uses it: in a thread, with replies queued for the requests that they answer.

    with ScriptedOpenAI() as server:
        server.script(answer({"text": "Paris.", "source_ids": ["d:0"]}), to="generate_answer")
        ModelSettings(name="scripted", base_url=server.base_url, model="any")
        ...
        server.requests[-1].body["response_format"]

A reply goes to the first request that it is for: made with the prompt ``to``, holding the text ``when``, or any where
neither is given. Any other request gets the sensible reply of ``evals.scripted_replies``.
The fixture is ``scripted_openai``.
"""

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from typing import Any

import pytest

from evals.scripted_endpoint import (
    Break,
    Fail,
    Hold,
    ModelRequest,
    Raw,
    Reply,
    Say,
    ScriptedEndpoint,
    Step,
    Think,
    answer,
    predictions,
    say,
    status,
    token,
)
from evals.scripted_replies import sensible

__all__ = [
    "Break",
    "Fail",
    "Hold",
    "Raw",
    "Reply",
    "Say",
    "ScriptedOpenAI",
    "Step",
    "Think",
    "answer",
    "predictions",
    "say",
    "scripted_openai",
    "status",
    "token",
]

START_SECONDS = 60.0


class ScriptedOpenAI(ScriptedEndpoint):
    """The endpoint with an event loop of its own: use it as a context manager."""

    def __init__(self) -> None:
        super().__init__(self._next)
        self._scripts: list[tuple[str | None, str, Reply]] = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def script(self, *replies: Reply, to: str | None = None, when: str = "") -> None:
        """Queue replies, in order; each is given once."""
        self._scripts.extend((to, when, reply) for reply in replies)

    def unscript(self) -> None:
        """Take back what is scripted and was not asked for."""
        self._scripts.clear()

    def asked(self, prompt: str) -> list[ModelRequest]:
        """Return the requests made with a prompt."""
        return [request for request in self.requests if request.prompt == prompt]

    def __enter__(self) -> "ScriptedOpenAI":
        self._thread.start()
        self._wait_for(self.start())
        return self

    def __exit__(self, *_: object) -> None:
        self._wait_for(self.stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(START_SECONDS)
        self._loop.close()

    def _wait_for(self, work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(START_SECONDS)

    def _next(self, request: ModelRequest) -> Reply:
        for script in self._scripts:
            to, when, reply = script
            if to in (None, request.prompt) and when in request.text:
                self._scripts.remove(script)
                return reply
        if request.path.endswith("/predict"):
            return predictions([{"entailment": 0.9, "neutral": 0.1}] * len(request.body["inputs"]))
        return say(sensible(request))


@pytest.fixture
def scripted_openai() -> Iterator[ScriptedOpenAI]:
    with ScriptedOpenAI() as server:
        yield server
