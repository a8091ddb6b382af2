"""An AnswerWriter that takes no time: it quotes its sources in a fixed number of deltas.

A server's time for an answer is then that of everything around the writer. The other scripts take time: a paced one
for many concurrent streams, one that writes the time of each delta, and one that waits like a slow model.
"""

import asyncio
import re
import time
from collections.abc import Callable, Iterator, Sequence

from graph.evidence import Hit, Intent
from graph.ports import AnswerWriter, Draft, DraftClosed, DraftOpened, Drafts, DraftText, FaultySection, Revision
from graph.rows import Turn
from graph.usage import Meter

DELTAS = 200
SECTIONS = 3  # of 67 words each
PACED_DELTAS = 100
PACE_SECONDS = 0.05
STAMPED_DELTAS = 200
STAMP_SECONDS = 0.01
_SENTENCE = re.compile(r"[^.]+\.")
_WORD = re.compile(r"\S+\s*")

Script = Callable[[Sequence[Hit]], Drafts]


class ScriptedWriter:
    """AnswerWriter that follows a script and revises nothing."""

    def __init__(self, script: Script) -> None:
        self._script = script

    def write(self, question: str, sources: Sequence[Hit], *, language: str, meter: Meter) -> Drafts:
        """Write according to the script."""
        return self._script(sources)

    async def revise(
        self, question: str, faulty: Sequence[FaultySection], sources: Sequence[Hit], *, language: str, meter: Meter
    ) -> list[Revision]:
        """Leave every section unchanged."""
        return []

    def converse(
        self,
        question: str,
        turns: Sequence[Turn],
        *,
        language: str,
        intent: Intent,
        own_knowledge: bool,
        meter: Meter,
    ) -> Drafts:
        """Write according to the script without sources, which is nothing."""
        return self._script(())


async def instant(sources: Sequence[Hit]) -> Drafts:
    """Quote in 200 deltas, without a wait between them."""
    for draft in _quoted(sources, DELTAS):
        yield draft


async def paced(sources: Sequence[Hit]) -> Drafts:
    """Quote in 100 deltas at 20 per second, like a hosted model."""
    for draft in _quoted(sources, PACED_DELTAS):
        if isinstance(draft, DraftText):
            await asyncio.sleep(PACE_SECONDS)
        yield draft


async def stamped(sources: Sequence[Hit]) -> Drafts:
    """Write the machine's monotonic clock in microseconds, 200 times at 100 per second."""
    yield DraftOpened()
    said = []
    for _ in range(STAMPED_DELTAS):
        await asyncio.sleep(STAMP_SECONDS)
        said.append(f"{time.monotonic_ns() // 1000} ")
        yield DraftText(said[-1])
    yield DraftClosed("".join(said), (sources[0].segment.segment_id,))


async def waiting(sources: Sequence[Hit]) -> Drafts:
    """Write a word and wait forever."""
    yield DraftOpened()
    yield DraftText("It ")
    await asyncio.Event().wait()


SCRIPTS: dict[str, Script] = {"": instant, "paced": paced, "stamped": stamped, "waiting": waiting}


def writer(name: str) -> AnswerWriter:
    """Return the writer of a script; "" is the one that does not wait. Raises KeyError."""
    return ScriptedWriter(SCRIPTS[name])


def _quoted(sources: Sequence[Hit], deltas: int) -> Iterator[Draft]:
    """Quote whole sentences of the best sources, one section each, in ``deltas`` deltas of one or two words."""
    texts = [(hit.segment.text, hit.segment.segment_id) for hit in sources[:SECTIONS]]
    for place, (source, segment_id) in enumerate(texts):
        count = deltas * (place + 1) // len(texts) - deltas * place // len(texts)
        words = _WORD.findall(_sentences(source, count))
        yield DraftOpened()
        for index in range(count):
            yield DraftText("".join(words[len(words) * index // count : len(words) * (index + 1) // count]))
        yield DraftClosed("".join(words), (segment_id,))


def _sentences(text: str, words: int) -> str:
    """Return whole sentences of at least ``words`` words. Raises AssertionError if the text has fewer."""
    kept = ""
    for sentence in _SENTENCE.finditer(text):
        kept += sentence[0]
        if len(kept.split()) >= words:
            return kept.strip()
    raise AssertionError(f"a source of fewer than {words} words")
