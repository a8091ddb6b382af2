"""Benchmark of formats: what reading the corpus's files takes, each format in a process of its own."""

import json
import multiprocessing
import resource
import time
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench.figures import Figure, compared, figure

CORPUS = Path(__file__).parents[1] / "tests" / "fixtures"
ROUNDS = 3
MOST_MS = 25  # for half of the files of a format
GROUPS = {
    "Word": ".docx", "PowerPoint": ".pptx", "Excel": ".xlsx", "OpenDocument": ".odt .ods .odp", "EPUB": ".epub",
    "HTML": ".html", "PDF": ".pdf", "Markdown, reStructuredText": ".md .rst", "text": ".txt", "tables": ".csv .tsv",
    "RTF": ".rtf", "mail": ".eml .mbox", "notebooks": ".ipynb", "JSON, YAML": ".json .jsonl .yaml",
    "source code": ".py .go .ts .c .sql .toml",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Taken:
    """What the files of a format took: milliseconds of each, its best of some rounds, and the memory of the process."""

    milliseconds: list[float]
    mebibytes: float
    segments: int


async def run(folder: Path) -> list[Figure]:
    """Read every file that the corpus says something of."""
    del folder
    files: dict[str, list[Path]] = defaultdict(list)
    for name in json.loads((CORPUS / "corpus.json").read_text(encoding="utf-8")):
        path = CORPUS / name
        files[next(group for group, suffixes in GROUPS.items() if path.suffix in suffixes.split())].append(path)
    figures = []
    for group in (group for group in GROUPS if group in files):
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(1, mp_context=context) as process:
            taken = process.submit(read_all, files[group]).result()
        found = figure(f"{group} ({len(files[group])})", median(taken.milliseconds), "ms a file", at_most=MOST_MS)
        beside = {"slowest, ms": max(taken.milliseconds), "memory, MiB": taken.mebibytes, "segments": taken.segments}
        figures.append(compared(found, beside, rival=None))
    return figures


def read_all(files: list[Path]) -> Taken:
    """Read files into segments; the memory is what this process grows by, the parsers' libraries among it."""
    from tools.parsers import parse
    from tools.retrieval.segmenting import SegmentSize, segment

    before = _peak()
    best: list[float] = []
    segments = 0
    for path in files:
        times = []
        for _ in range(ROUNDS):
            began = time.perf_counter()
            parsed = parse(path.read_bytes(), name=path.name)
            made = segment(parsed, SegmentSize(300, "words"), lambda texts: [len(text.split()) for text in texts])
            times.append(1000 * (time.perf_counter() - began))
        best.append(min(times))
        segments += len(made)
    return Taken(best, _peak() - before, segments)


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
