"""Benchmark of ingestion: from files to segments with structure, vectors, terms and statistics in the database.

It is done as ``citewell ingest`` does it, with processes of their own that read files. Seconds are those of the caller;
CPU is what this process and those used, PostgreSQL not.
"""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from bench.figures import Figure, figure
from bench.manual_pages import Sentences, html_page, markdown_page, pdf_of
from cli.ingest import PROCESSES
from graph.evidence import Identity
from tools.library.ingestion import Ingested, Ingestor, NewDocument
from tools.library.sandbox import opened_sandbox
from tools.process.library import open_library
from tools.settings import Settings

SEED = 15
PAGES = 250  # of each format, some 4,000 segments
WARMING = 10
LEAST = 1500  # segments a second
PDF_PAGES = 1000
MOST_PDF_SECONDS = 25
PATH = "CITEWELL_BENCH_MANUALS"  # in the environment: a folder whose HTML and Markdown files are ingested too
_KINDS = {"HTML": (".html", ".htm"), "Markdown": (".md", ".markdown")}
OWN_MANUAL = Path(__file__).parents[1] / "docs"


@dataclass(frozen=True, slots=True)
class Measured:
    """What ingestion of some documents took, in seconds of the clock and of the processor."""

    segments: int
    seconds: float
    cpu: float


async def run(folder: Path) -> list[Figure]:
    """Ingest pages of each format into a new library, then this manual, the manuals of a path, and a PDF."""
    from_ = Sentences(SEED)
    figures: list[Figure] = []
    settings = Settings(data_dir=folder)
    async with open_library(settings) as library, opened_sandbox(settings.jobs, PROCESSES) as sandbox:
        ingestor = Ingestor(library.database, library.workspaces, library.embedder, settings, sandbox)
        made: dict[str, tuple[str, Callable[[Sentences], str]]] = {
            "Markdown": (".md", markdown_page),
            "HTML": (".html", html_page),
        }
        for name, (suffix, page) in made.items():
            await _ingest(ingestor, _pages(f"warm-{name}", suffix, page, from_, WARMING))
            found = await _ingest(ingestor, _pages(name, suffix, page, from_, PAGES))
            figures += _figures(f"{name}, {found.segments:,} segments", found, at_least=LEAST)
        figures += _figures("this manual", await _ingest(ingestor, _files([OWN_MANUAL], (".md",))))
        if path := os.environ.get(PATH):
            for name, suffixes in _KINDS.items():
                found = await _ingest(ingestor, _files([Path(path)], suffixes))
                if found.segments:
                    figures += _figures(f"{Path(path).name}, {name}, {found.segments:,} segments", found)
        large = NewDocument(name="large.pdf", data=pdf_of(from_, PDF_PAGES))
        read = await _ingest(ingestor, iter([large]))
        figures.append(figure(f"a PDF of {PDF_PAGES:,} pages", read.seconds, "s", at_most=MOST_PDF_SECONDS))
        figures.append(figure("its CPU", read.cpu, "s"))
    return figures


def _figures(name: str, found: Measured, *, at_least: float | None = None) -> list[Figure]:
    return [
        figure(name, found.segments / found.seconds, "segments/s", at_least=at_least),
        figure("CPU of 1,000 of them", 1000 * found.cpu / found.segments, "s"),
    ]


def _pages(
    name: str, suffix: str, page: Callable[[Sentences], str], from_: Sentences, count: int
) -> Iterator[NewDocument]:
    return (NewDocument(name=f"{name}-{number}{suffix}", data=page(from_).encode()) for number in range(count))


def _files(roots: Sequence[Path], suffixes: tuple[str, ...]) -> Iterator[NewDocument]:
    paths = (path for root in roots for path in sorted(root.rglob("*")) if path.suffix in suffixes)
    return (NewDocument(name=path.name, data=path.read_bytes()) for path in paths)


async def _ingest(ingestor: Ingestor, documents: Iterator[NewDocument]) -> Measured:
    made = list(documents)
    began, used = time.perf_counter(), _cpu_seconds()
    reports = [report async for report in ingestor.ingest_many(Identity(), made)]
    cpu, seconds = _cpu_seconds() - used, time.perf_counter() - began
    return Measured(sum(report.segments for report in reports if isinstance(report, Ingested)), seconds, cpu)


def _cpu_seconds() -> float:
    """Return what this process and those that read files have used."""
    this = psutil.Process()
    readers = [child for child in this.children() if "python" in child.name()]
    return sum(sum(process.cpu_times()[:2]) for process in (this, *readers))
