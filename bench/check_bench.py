"""Benchmark of checking claims by code: CPU, and how long the event loop can do nothing else meanwhile."""

import asyncio
import gc
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from bench.corpus import BenchDocument, Corpus
from bench.figures import Figure, figure, percentile
from graph.evidence import Segment
from graph.ports import WrittenSection
from graph.usage import Meter
from text.sentences import sentences
from tools.claims.code_checker import CodeChecker

LONG = 45_000  # characters of a long answer
CITED = 9  # segments of that many characters in all
UNSEEN = 300_000
STALL_MS = 50
SEGMENTS = 10  # of an ordinary question
CLAIMS = 3
ROUNDS = 20
PAUSE = 0.001  # seconds between two looks of the probe
NEW_OBJECTS = 10_000  # between two collections, as the server sets it


async def run(folder: Path) -> list[Figure]:
    """Check ordinary answers, and texts made to take long; nothing is stored."""
    documents = Corpus(seed=11).documents(1_000)
    await _check(_ordinary(next(documents), 0))  # reads the lexicon
    gc.collect()
    gc.freeze()
    gc.set_threshold(NEW_OBJECTS)
    long, unseen = await _measured(_long(documents)), await _measured(_unseen(documents))
    fresh = [_ordinary(document, at) for at, document in zip(range(ROUNDS), documents, strict=False)]
    new = [(await _measured(each))[0] for each in fresh]
    known = [(await _measured(each))[0] for each in fresh]
    return [
        figure("45 kB over 9 segments, CPU", long[0], "ms"),
        figure("the same, longest stall of the event loop", long[1], "ms", at_most=STALL_MS),
        figure("300,000 zero-width characters, CPU", unseen[0], "ms"),
        figure("the same, longest stall of the event loop", unseen[1], "ms", at_most=STALL_MS),
        figure("3 sentences over 10 new segments, CPU", percentile(new, 0.5), "ms"),
        figure("the same over segments read before, CPU", percentile(known, 0.5), "ms"),
    ]


def _long(documents: Iterator[BenchDocument]) -> WrittenSection:
    """Return an answer of true and altered sentences of its sources, half as many as it has in all."""
    segments = [_segment(_text(documents, LONG // CITED), at) for at in range(CITED)]
    said = [text for segment in segments for text in _sentences(segment.text)][::2]
    altered = [sentence.replace(" the ", " this ") for sentence in _sentences(_text(documents, LONG // 2))]
    return WrittenSection(" ".join([*said, *altered])[:LONG], tuple(segments))


def _unseen(documents: Iterator[BenchDocument]) -> WrittenSection:
    segment = _segment(_text(documents, LONG // CITED), 0)
    first = _sentences(segment.text)[0]
    return WrittenSection(first.replace(" ", " " + "\u200b" * UNSEEN, 1), (segment,))


def _ordinary(document: BenchDocument, round_: int) -> WrittenSection:
    """Return a sentence of the source, one with another word, and one of other words."""
    segments = [_segment(body, round_ * SEGMENTS + at) for at, body in enumerate(document.bodies()[:SEGMENTS])]
    said = _sentences(segments[0].text)[0], _sentences(segments[1].text)[0].replace(" ", " newly ", 1)
    text = " ".join([*said, f"In all this shows {' '.join(segments[0].text.split()[:8])}."])
    return WrittenSection(text, tuple(segments[:2]), tuple(segments[2:]))


def _text(documents: Iterator[BenchDocument], length: int) -> str:
    text = ""
    while len(text) < length:
        text += next(documents).text
    return text[:length]


def _segment(text: str, at: int) -> Segment:
    return Segment(f"document-{at}", 0, 0, len(text), text, title=f"Title {at}")


def _sentences(text: str) -> Sequence[str]:
    return [text[start:end].strip() for start, end in sentences(text)]


async def _check(section: WrittenSection) -> None:
    await CodeChecker().check([section], meter=Meter())


async def _measured(section: WrittenSection) -> tuple[float, float]:
    """Check a section; return the CPU used and the longest time in which the event loop did nothing else, in ms."""
    async with _probe() as stalls:
        began = time.process_time()
        await _check(section)
        used = time.process_time() - began
    return used * 1000, max(stalls) * 1000


@asynccontextmanager
async def _probe() -> AsyncIterator[list[float]]:
    """Note how much later than asked a task is woken, again and again."""
    stalls: list[float] = []

    async def look() -> None:
        while True:
            began = time.perf_counter()
            await asyncio.sleep(PAUSE)
            stalls.append(time.perf_counter() - began - PAUSE)

    looking = asyncio.create_task(look())
    await asyncio.sleep(2 * PAUSE)
    try:
        yield stalls
        await asyncio.sleep(2 * PAUSE)
    finally:
        looking.cancel()
