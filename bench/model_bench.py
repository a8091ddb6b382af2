"""The same answer through langchain-openai from a loopback model, and how soon a model notices a lost client.

The server is ``citewell serve`` as it is; the model is in the bench's process. Its CPU is compared with that of the
openai client alone for the same 200 chunks, which is the floor of any service that speaks to a model through it.
"""

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from bench.figures import Figure, figure, percentile
from bench.libraries import fill_small_library
from bench.loopback_model import LoopbackModel, loopback_model
from bench.serving import CITEWELL, Served, postgres_of, read_announcement, served, started
from bench.sse_client import CheckedStream, Connection
from bench.stacks import OURS, WARM_UP, measure
from tools.settings import load_settings

QUESTIONS = 20
TRIES = 30


async def run(folder: Path) -> list[Figure]:
    """Ask the model for answers, then leave in the middle of some."""
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
        figure("CPU of a run", took.cpu, "ms"),
        figure("CPU of the openai client alone", float(bare), "ms"),
        figure("runs per second, 8 in flight", took.rate, "1/s"),
        figure("frames of an answer", took.frames, ""),
        figure("disconnect to model call cancelled p50", percentile(left, 0.5), "ms", at_most=50),
        figure("disconnect to model call cancelled p95", percentile(left, 0.95), "ms"),
    ]


def _settings(model: LoopbackModel) -> dict[str, str]:
    models = [{"name": name, "base_url": model.base_url, "model": name} for name in ("instant", "stalling")]
    # Titles are beside an answer and would be calls of their own.
    titles = {"CITEWELL_AUTO_TITLE": "false"}
    return {"CITEWELL_MODELS": json.dumps(models), "CITEWELL_DEFAULT_MODEL": "instant", **titles}


async def _leave(server: Served, questions: Sequence[str], model: LoopbackModel) -> list[float]:
    """Close the connection in the middle of each answer; give the milliseconds until the model's client has gone."""
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
