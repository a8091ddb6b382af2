"""Our API and page, with a writer that quotes four sources in each answer: ``python -m bench.page_server``."""

import asyncio
import json
import re
import socket
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from itertools import cycle, islice

import uvicorn
import uvloop

from api.app import create_app
from bench.scripted_writer import ScriptedWriter
from graph.entrypoint import open_runner
from graph.evidence import Hit
from graph.ports import Draft, DraftClosed, DraftOpened, DraftText, Family, Grading
from graph.usage import Meter
from tools.library.library import open_library
from tools.settings import load_settings

SECTIONS = 4
SENTENCES = 4  # of a section
_SENTENCE = re.compile(r"[A-Z][^.]+\.")


async def quote(sources: Sequence[Hit]) -> AsyncIterator[Draft]:
    """Quote some sentences of each of the best sources, a section each; where they are too few, quote them again."""
    for hit in islice(cycle(sources), SECTIONS):
        said = " ".join(_SENTENCE.findall(hit.segment.text)[:SENTENCES])
        yield DraftOpened()
        yield DraftText(said)
        yield DraftClosed(said, (hit.segment.segment_id,))


class KeepingGrader:
    """RelevanceGrader that keeps whatever a search brings, so that no answer lacks its sections."""

    async def grade(self, question: str, candidates: Sequence[Hit], *, meter: Meter) -> Grading:
        """Keep them all."""
        return Grading(tuple((hit.segment.segment_id, hit.score) for hit in candidates))


async def main() -> None:
    """Serve until a signal comes."""
    settings = load_settings()
    async with open_library(settings) as library:
        family = replace(library.families(""), writer=ScriptedWriter(quote), grader=KeepingGrader())

        def families(model: str, *, thinking: bool = False) -> Family:
            return family

        async with open_runner(replace(library, families=families), settings) as citewell:
            await library.workspaces.ensure(settings.workspace)
            app = create_app(settings, citewell=citewell)
            config = uvicorn.Config(app, log_level="warning", access_log=False, server_header=False)
            with socket.create_server(("127.0.0.1", 0)) as listening:
                print(json.dumps({"url": f"http://127.0.0.1:{listening.getsockname()[1]}"}), flush=True)
                await uvicorn.Server(config).serve(sockets=[listening])


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as loop:
        loop.run(main())
