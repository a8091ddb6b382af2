"""Our API over a scripted writer, on a free loopback port: ``python -m bench.scripted_server [page]``.

With ``page`` each answer quotes four sources, for the page's benchmark; else a run's ``model`` names the script.
"""

import asyncio
import json
import re
import socket
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import cycle, islice

import uvicorn
import uvloop

from api.app import create_app
from bench.libraries import open_scripted_library
from bench.scripted_writer import ScriptedWriter
from cli.process_memory import collect_less, share_heap
from graph.entrypoint import open_runner
from graph.evidence import Hit
from graph.ports import DraftClosed, DraftOpened, Drafts, DraftText, Family, Grading
from graph.usage import Meter
from tools.process.library import Library, open_library
from tools.settings import Settings, load_settings

BACKLOG = 2048
SECTIONS = 4  # per answer on the page
SENTENCES = 4  # per section
_SENTENCE = re.compile(r"[A-Z][^.]+\.")


async def quote(sources: Sequence[Hit]) -> Drafts:
    """Quote some sentences of each of the best sources, one section each; repeat sources if there are too few."""
    for hit in islice(cycle(sources), SECTIONS):
        said = " ".join(_SENTENCE.findall(hit.segment.text)[:SENTENCES])
        yield DraftOpened()
        yield DraftText(said)
        yield DraftClosed(said, (hit.segment.segment_id,))


class KeepingGrader:
    """RelevanceGrader that keeps every search result, so that no answer lacks sections."""

    async def grade(self, question: str, candidates: Sequence[Hit], *, meter: Meter) -> Grading:
        """Keep all candidates."""
        return Grading(tuple((hit.segment.segment_id, hit.score) for hit in candidates))


@asynccontextmanager
async def open_quoting_library(settings: Settings) -> AsyncIterator[Library]:
    """Open a deployment's library with a family that quotes its sources."""
    async with open_library(settings) as library:
        family = replace(library.families(""), writer=ScriptedWriter(quote), grader=KeepingGrader())

        def families(model: str, *, thinking: bool = False) -> Family:
            return family

        yield replace(library, families=families)


async def main(*, for_page: bool) -> None:
    """Serve until a signal arrives, as ``citewell serve`` does."""
    share_heap()  # as citewell serve does
    settings = load_settings()
    opening = open_quoting_library if for_page else open_scripted_library
    async with opening(settings) as library, open_runner(library, settings) as citewell:
        await library.workspaces.ensure(settings.workspace)
        citewell.runner.take_over_abandoned()  # the application leaves this to whoever opened what it is given
        app = create_app(settings, citewell=citewell)
        config = uvicorn.Config(app, log_level="warning", access_log=False, server_header=False)
        collect_less()
        with socket.create_server(("127.0.0.1", 0), backlog=BACKLOG) as listening:
            print(json.dumps({"url": f"http://127.0.0.1:{listening.getsockname()[1]}"}), flush=True)
            await uvicorn.Server(config).serve(sockets=[listening])


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as loop:
        loop.run(main(for_page="page" in sys.argv[1:]))
