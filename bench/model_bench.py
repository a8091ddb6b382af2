"""Benchmark of the same answer from a loopback model through langchain-openai, and of cancelling a model call.

The server is an unmodified ``citewell serve``; the model runs in the benchmark's process. The server's CPU is compared
with that of the openai client alone for the same 200 chunks, the floor of any service that uses that client.
"""

import asyncio
import json
import re
import sys
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from concurrent.futures import Future
from contextlib import asynccontextmanager
from pathlib import Path

from bench.figures import Figure, figure, percentile
from bench.libraries import fill_small_library
from bench.scripted_writer import DELTAS, SECTIONS
from bench.serving import CITEWELL, Served, postgres_of, read_announcement, served, started
from bench.sse_client import CheckedStream, Connection
from bench.stacks import OURS, WARM_UP, measure
from evals.scripted_endpoint import Hold, ModelRequest, Reply, Say, Step, scripted_endpoint
from evals.scripted_replies import sensible
from tools.settings import load_settings

SENTENCES = 4
SECTIONED = '{"sections":'
TOKEN_CHARACTERS = 5
_SEGMENT = re.compile(r"^\[SEG=([^\]]+)\] (.+)$", re.MULTILINE)


class LoopbackModel:
    """A scripted model. ``left`` receives, for each stalled request, when its client disconnected, in nanoseconds."""

    base_url = ""

    def __init__(self) -> None:
        self.left: asyncio.Queue[int] = asyncio.Queue()

    def respond(self, request: ModelRequest) -> Reply:
        """Return the whole reply, or half of an answer from the stalling model."""
        steps: list[Step] = [Say(piece) for piece in _pieces(_reply_to(request))]
        if request.body["model"] == "stalling" and request.prompt == "generate_answer":
            request.left.add_done_callback(self._note_left)
            steps = [*steps[: DELTAS // 2], Hold()]
        return Reply(steps, tokens=DELTAS + 1)

    def _note_left(self, left: "Future[bool]") -> None:
        self.left.put_nowait(time.monotonic_ns())


@asynccontextmanager
async def loopback_model() -> AsyncIterator[LoopbackModel]:
    """Serve the scripted model on a free port until the context exits."""
    model = LoopbackModel()
    async with scripted_endpoint(model.respond, keep_alive=True) as endpoint:
        model.base_url = endpoint.base_url
        yield model


def _reply_to(request: ModelRequest) -> str:
    if request.prompt not in (None, "generate_answer"):
        return sensible(request)
    sections = [
        {"source_ids": [segment_id], "text": ". ".join(text.split(". ")[:SENTENCES]).rstrip(".") + "."}
        for segment_id, text in _SEGMENT.findall(request.text)[:SECTIONS]
    ]
    return json.dumps({"sections": sections or [{"source_ids": [], "text": "word " * DELTAS}]})


def _pieces(text: str) -> Iterator[str]:
    count = DELTAS if text.startswith(SECTIONED) else len(text) // TOKEN_CHARACTERS
    for place in range(count):
        yield text[len(text) * place // count : len(text) * (place + 1) // count]


QUESTIONS = 20
TRIES = 30


async def run(folder: Path) -> list[Figure]:
    """Measure answers of the model, then disconnect in the middle of some."""
    data = folder / "data"
    questions = await fill_small_library(load_settings(data_dir=data), WARM_UP + QUESTIONS)
    async with loopback_model() as model:
        async with started(folder, data, sys.executable, "-m", "bench.bare_openai", model.base_url) as process:
            bare = (await read_announcement(process))["cpu"]
        command = (*CITEWELL, "serve", "--port", "0", "--json")
        async with served(folder, data, *command, settings=_settings(model)) as server:
            took = await measure(OURS, server, questions, postgres_of(data))
            left = await _leave(server, questions, model)
    return [
        figure("first event p50", took.first, "ms"),
        figure("first text p50", took.text, "ms"),
        figure("whole answer p50", took.whole, "ms"),
        figure("CPU of a run", took.cpu, "ms", at_most=80),
        figure("CPU of the openai client alone", float(bare), "ms"),
        figure("runs per second, 8 in flight", took.rate, "1/s"),
        figure("frames of an answer", took.frames, ""),
        figure("disconnect to model call cancelled p50", percentile(left, 0.5), "ms", at_most=50),
        figure("disconnect to model call cancelled p95", percentile(left, 0.95), "ms"),
    ]


def _settings(model: LoopbackModel) -> dict[str, str]:
    models = [{"name": name, "base_url": model.base_url, "model": name} for name in ("instant", "stalling")]
    # Titles are not part of an answer and would add model calls.
    titles = {"CITEWELL_AUTO_TITLE": "false"}
    return {"CITEWELL_MODELS": json.dumps(models), "CITEWELL_DEFAULT_MODEL": "instant", **titles}


async def _leave(server: Served, questions: Sequence[str], model: LoopbackModel) -> list[float]:
    """Disconnect in the middle of each answer; return the milliseconds until the model call was cancelled."""
    connection = await Connection.open(server.url)
    took = []
    for question in questions[:TRIES]:
        path = await OURS.conversation(connection)
        stream = await CheckedStream.open(server.url)
        stream.ask(path, OURS.asking(question, "stalling"))
        await stream.has_text
        left = time.monotonic_ns()
        stream.close()
        took.append((await model.left.get() - left) / 1e6)
    connection.close()
    return took
