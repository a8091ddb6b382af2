"""Benchmark of a library that follows a folder of 10,000 files: the first sync, others, memory, near-duplicates.

It is done as ``citewell sync`` does it, with processes of their own that read files. Memory is that of this process.
"""

import asyncio
import random
import resource
import shutil
import statistics
import time
from pathlib import Path

import psutil

from bench.figures import Figure, figure
from cli.ingest import PROCESSES
from graph.evidence import Identity
from tools.embeddings.embedder import open_embedder
from tools.library.ingestion import Ingestor
from tools.library.sandbox import opened_sandbox
from tools.library.source_records import SourceOptions, Sources
from tools.library.syncing import Syncer, SyncReport
from tools.settings import Settings
from tools.storage.startup import open_database
from tools.storage.tenants import Workspaces

FILES = 10_000
FOLDERS = 100
WORDS = 220  # of a file, about 1.3 kB
EDITS = 100  # of each kind
CHANGED = (0.02, 0.05, 0.1, 0.3)  # the share of words that differ between near-duplicates
SEED = 11
VOCABULARY = [
    f"{a}{b}{c}" for a in ("lam", "har", "sto", "qua") for b in "aeiou" for c in ("ber", "din", "lo", "s", "t")
]


def text_of(chance: random.Random) -> list[str]:
    """Return the words of a file: frequent ones and rare ones, in sentences."""
    words = [
        chance.choice(VOCABULARY) if chance.random() < 0.5 else f"{chance.choice(VOCABULARY)}{chance.randrange(500)}"
        for _ in range(WORDS)
    ]
    return [f"{word}." if number % 11 == 10 else word for number, word in enumerate(words)]


def write_files(root: Path, chance: random.Random) -> None:
    """Write the files."""
    for number in range(FILES):
        folder = root / f"part{number % FOLDERS}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"page{number}.md").write_text(f"# Page {number}\n\n{' '.join(text_of(chance))}\n")


def edit_files(root: Path, chance: random.Random, name: str) -> None:
    """Move, change, add and remove a hundred files each; ``name`` begins the names of new ones."""
    files = chance.sample(sorted(root.rglob("*.md")), 3 * EDITS)
    for file in files[:EDITS]:
        file.rename(root / f"{name}-{file.name}")
    for file in files[EDITS : 2 * EDITS]:
        file.write_text(f"# {file.stem}\n\n{' '.join(text_of(chance))}\n")
    for file in files[2 * EDITS :]:
        file.unlink()
    for number in range(EDITS):
        (root / f"{name}{number}.md").write_text(f"# New {number}\n\n{' '.join(text_of(chance))}\n")


def write_likes(root: Path, chance: random.Random) -> None:
    """Write, for each share of changed words, a hundred files that are like others."""
    for share in CHANGED:
        folder = root / f"like{share}"
        folder.mkdir()
        for number, file in enumerate(chance.sample(sorted(root.glob("part*/*.md")), EDITS)):
            words = [chance.choice(VOCABULARY) if chance.random() < share else w for w in file.read_text().split()]
            (folder / f"{number}.md").write_text(" ".join(words))


async def run(folder: Path) -> list[Figure]:
    """Run the benchmark."""
    chance = random.Random(SEED)
    root = folder / "docs"
    await asyncio.to_thread(write_files, root, chance)
    settings = Settings(data_dir=folder / "data")
    identity = Identity()
    async with open_database(settings) as database, opened_sandbox(settings.jobs, PROCESSES) as sandbox:
        workspaces = Workspaces(database)
        await workspaces.ensure(identity.workspace)
        ingestor = Ingestor(database, workspaces, await open_embedder(settings), settings, sandbox)
        syncer = Syncer(database, workspaces, ingestor, settings, roots=None)
        source, _ = await Sources(database, workspaces).add(identity, "folder", str(root), SourceOptions())

        async def timed() -> tuple[SyncReport, float]:
            began = time.perf_counter()
            report = await syncer.sync(identity, source)
            return report, time.perf_counter() - began

        before = psutil.Process().memory_info().rss
        first, first_seconds = await timed()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        assert first.counts["new"] == FILES
        again = statistics.median([(await timed())[1] for _ in range(5)])
        await asyncio.to_thread(edit_files, root, chance, "first")
        await timed()  # builds the vector index, since the library has grown to 40,000 segments
        await asyncio.to_thread(edit_files, root, chance, "second")
        edited, edited_seconds = await timed()
        assert [edited.counts[name] for name in ("moved", "changed", "deleted", "new")] == [EDITS] * 4
        false_alarms = sum(1 for file in first.files if file.similar_to)
        await asyncio.to_thread(write_likes, root, chance)
        likes, _ = await timed()
    await asyncio.to_thread(shutil.rmtree, root)
    told = {share: _told(likes, f"like{share}/") for share in CHANGED}
    return [
        figure(f"first sync of {FILES:,} files", first_seconds, "s"),
        figure("files of the first sync", FILES / first_seconds, "files/s"),
        figure("memory that the first sync adds to its process, at its peak", (peak - before) / 1e6, "MB"),
        figure("a sync with nothing changed", again, "s"),
        figure("a sync with nothing changed, of the first", again / first_seconds, "share", at_most=0.05),
        figure(f"{EDITS} moved, {EDITS} changed, {EDITS} new, {EDITS} gone", edited_seconds, "s"),
        figure("unrelated files told as similar", false_alarms / FILES, "share", at_most=0.001),
        *(figure(f"files with {share:.0%} other words told as similar", told[share], "share") for share in CHANGED),
    ]


def _told(report: SyncReport, folder: str) -> float:
    files = [file for file in report.files if file.path.startswith(folder)]
    assert len(files) == EDITS
    return sum(1 for file in files if file.similar_to) / EDITS
