"""Benchmark of how soon text follows a model that writes forty tokens a second, in each wire format.

The server is an unmodified ``citewell serve``; the model runs in the benchmark's process, which knows when it wrote
each token.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from bench.figures import Figure, compared, figure, percentile
from bench.libraries import fill_small_library
from bench.paced_model import PACED, PacedAnswer, PacedModel, paced_model
from bench.serving import CITEWELL, Served, served
from bench.sse_client import Connection
from bench.wire_formats import WIRE_FORMATS, WireFormat
from tools.settings import load_settings

WARM_UP = 1  # questions in each format that are not measured
QUESTIONS = 6
DOCUMENTS = 150
FIRST_MS = 60
LAST_MS = 150


@dataclass(frozen=True, slots=True)
class Lags:
    """Milliseconds from a token to the text that it completes, one of each question; and the server's CPU for a run.

    ``word`` counts from the first token of the text to the first frame with text, ``first`` from the last token of the
    first sentence to the frame with which the reader has it whole, ``last`` from the last token of the reply to the
    last frame with text; negative where the text came before.
    """

    word: list[float]
    first: list[float]
    last: list[float]
    cpu: float


async def run(folder: Path) -> list[Figure]:
    """Ask six questions in each format, one at a time."""
    data = folder / "data"
    each_time = WARM_UP + QUESTIONS
    count = each_time * len(WIRE_FORMATS)
    asked = iter(await fill_small_library(load_settings(data_dir=data), count, documents=DOCUMENTS))
    async with paced_model() as model:
        command = (*CITEWELL, "serve", "--port", "0", "--json")
        async with served(folder, data, *command, settings=_settings(model)) as server:
            lags = {
                each.name: await _lags(each, server, list(islice(asked, each_time)), model) for each in WIRE_FORMATS
            }
    native = lags["native"]
    return [
        *_figures("first sentence", {name: each.first for name, each in lags.items()}, FIRST_MS),
        *_figures("last text", {name: each.last for name, each in lags.items()}, LAST_MS),
        *_figures("first word", {"native": native.word}),
        figure("CPU of a run", native.cpu, "ms"),
    ]


def _settings(model: PacedModel) -> dict[str, str]:
    models = [{"name": PACED, "base_url": model.base_url, "model": PACED}]
    # Titles are not part of an answer and would add model calls; without an exam a judge has no say.
    extras = {"CITEWELL_AUTO_TITLE": "false", "CITEWELL_JUDGE__KIND": "off"}
    return {"CITEWELL_MODELS": json.dumps(models), "CITEWELL_DEFAULT_MODEL": PACED, **extras}


async def _lags(wire: WireFormat, server: Served, questions: Sequence[str], model: PacedModel) -> Lags:
    """Ask each question; the first ones only warm up the server. Answers of which a part was repaired are left out."""
    connection = await Connection.open(server.url)
    found = Lags([], [], [], 0.0)
    used = 0.0
    for place, question in enumerate(questions):
        if place == WARM_UP:
            used = server.cpu()
        model.forget()
        texts = wire.texts(await wire.ask(connection, question))
        if place >= WARM_UP and model.requests[-1] is model.answers[-1].request:
            _note(found, texts, model.answers[-1])
    connection.close()
    assert len(found.first) > QUESTIONS // 2, "most answers were written again in part"
    return replace(found, cpu=(server.cpu() - used) / (len(questions) - WARM_UP) * 1000)


def _note(lags: Lags, texts: Sequence[tuple[int, str]], answer: PacedAnswer) -> None:
    whole = next(at for at, text in texts if answer.first_sentence in text)
    lags.word.append((texts[0][0] - answer.begun_at) / 1e6)
    lags.first.append((whole - answer.first_sentence_at) / 1e6)
    lags.last.append((texts[-1][0] - answer.ended_at) / 1e6)


def _figures(name: str, lags: Mapping[str, Sequence[float]], at_most: int | None = None) -> list[Figure]:
    """Return the median of each format, with its 95th percentile beside it."""
    return [
        compared(
            figure(f"{name} p50, {wire}", percentile(values, 0.5), "ms", at_most=at_most),
            {"p95": percentile(values, 0.95)},
        )
        for wire, values in lags.items()
    ]
