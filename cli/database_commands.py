"""Database maintenance commands: migrate, reindex, purge and expire."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cli.command import Exit, awaited, opened_database, opened_embedder, settings_for
from cli.console import print_json, print_result, progress_bar
from cli.options import AsJson, Tasks, WorkspaceName, Yes, confirmed
from text.counted import counted
from tools.confinement.priority import give_way

if TYPE_CHECKING:
    from tools.embeddings.embedder import Embedder
    from tools.retrieval.reindexing import Reindexed
    from tools.settings import Settings
    from tools.storage.database import Database


@awaited
async def migrate(as_json: AsJson = False) -> None:
    """Migrate the database to this release."""
    from tools.storage.startup import migrate as apply_migrations

    done = await apply_migrations(settings_for())
    if as_json:
        print_json({"applied": done})
    elif done:
        print("\n".join(f"applied {name}" for name in done))
    else:
        print("The schema is already up to date.")


Engine = Annotated[
    Literal["milvus", "postgresql"] | None,
    typer.Option(
        "--to",
        help="Let searches take their candidates from Milvus, once it is filled, or from PostgreSQL again; nothing is"
        " embedded then.",
        show_default=False,
    ),
]
On = Annotated[
    Literal["here", "ray"],
    typer.Option(help="Where the library is embedded: in this process, or on a cluster (RAY_ADDRESS)."),
]


Background = Annotated[
    bool,
    typer.Option(
        "--background",
        help="Return at once, and embed in a process of low priority; `citewell doctor` says how far it is.",
    ),
]


@awaited
async def reindex(
    to: Engine = None,
    on: On = "here",
    tasks: Tasks = None,
    background: Background = False,
    as_json: AsJson = False,
) -> None:
    """Embed the library again, or fill an index of candidates outside of the database.

    Uses the configured embedding model; search keeps working meanwhile. Can be repeated after an interruption, and goes
    on where it ended.
    """
    if to is not None:
        await _switch(to, as_json)
        return
    settings = settings_for()
    if background:
        await _start_reindex(settings, as_json)
        return
    async with opened_database(settings) as storage, opened_embedder(settings) as embedder:
        with progress_bar("Embedding") as on_progress:
            done = await _embed_library(storage.database, embedder, settings, on == "ray", tasks, on_progress)
    print_result(
        done,
        f"Embedded {counted(done.segments, 'segment')} with {done.model}, {done.dimension} dimensions.",
        as_json=as_json,
    )


async def _start_reindex(settings: "Settings", as_json: bool) -> None:
    """Start a process that embeds the library, or tell how far the one is that runs."""
    from tools.retrieval.reindexing import Gathered, gathered

    # Opened here too, so that what can't work fails now and is read.
    async with (
        opened_database(settings) as storage,
        opened_embedder(settings) as embedder,
        storage.database.connection() as connection,
    ):
        found = await gathered(connection, embedder)
    before = found or Gathered(0, 0, is_running=False)
    if before.is_running:
        print_result({"started": False, "segments": before.segments, "of": before.total}, f"{found}.", as_json=as_json)
        return
    written = settings.data_dir / "reindex.log"
    process = _start_apart(written)
    said = f"Embedding with {embedder.model} in process {process}, which writes {written}."
    print_result({"started": True, "segments": before.segments, "log": str(written)}, said, as_json=as_json)


def _start_apart(written: Path) -> int:
    """Start a reindex that outlives this process, and return the number of its process."""
    written.parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-c", "from cli.main import main; main()", "reindex"]
    with written.open("ab") as log:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
    process.returncode = 0  # or Popen warns that it is still running, as it shall be
    give_way(process.pid)  # so that questions come first
    return process.pid


async def _switch(to: str, as_json: bool) -> None:
    from graph.errors import ConfigurationError
    from tools.process.engines import index_keeper, open_milvus

    settings = settings_for()
    if settings.milvus.url is None:
        raise ConfigurationError("CITEWELL_MILVUS__URL is not set.", suggestion="Set it to the address of your Milvus.")
    milvus = open_milvus(settings.milvus)
    try:
        async with opened_database(settings) as storage, opened_embedder(settings) as embedder:
            keeper = index_keeper(storage.database, milvus)
            if to == "postgresql":
                await keeper.end()
                rows, message = 0, "PostgreSQL searches alone; the collections of Milvus are dropped."
            else:
                with progress_bar("Filling Milvus") as on_progress:
                    index = await keeper.fill(embedder.dimension, on_progress)
                rows = await milvus.count(index.collection)
                message = f"Milvus names the candidates of searches now, of {counted(rows, 'segment')}."
    finally:
        await milvus.close()
    print_result({"engine": to, "segments": rows}, message, as_json=as_json)


async def _embed_library(
    database: "Database",
    embedder: "Embedder",
    settings: "Settings",
    on_ray: bool,
    tasks: int | None,
    on_progress: Callable[[int, int], None],
) -> "Reindexed":
    from tools.retrieval.reindexing import reindex as embed_library

    if not on_ray:
        return await embed_library(database, embedder, on_progress)
    from tools.bulk.cluster import opened_cluster
    from tools.bulk.ray_reindexing import reindex_on_ray

    async with opened_cluster(tasks) as cluster:
        return await reindex_on_ray(cluster, database, embedder, settings, on_progress)


OlderThan = Annotated[
    int, typer.Option("--older-than-days", min=0, help="Only documents deleted at least this many days ago.")
]


@awaited
async def purge(
    older_than_days: OlderThan = 0, yes: Yes = False, workspace: WorkspaceName = None, as_json: AsJson = False
) -> Exit:
    """Remove deleted documents for good.

    Removes the deleted and expired documents of every user of a workspace.
    """
    from tools.library.catalogue import Documents

    settings = settings_for(workspace)
    if not confirmed(f"Remove every deleted document of the workspace {settings.workspace} for good?", yes):
        return Exit.USAGE
    async with opened_database(settings) as storage:
        documents = Documents(storage.database, storage.workspaces, storage.originals)
        purged = await documents.purge(settings.workspace, older_than=timedelta(days=older_than_days))
    print_result(
        {"workspace": settings.workspace, "purged": purged}, f"Removed {counted(purged, 'document')}.", as_json=as_json
    )
    return Exit.OK


IdleDays = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=3650,
        help="How many days a session of any dialect may be idle; default: as the settings say.",
        show_default=False,
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only show what would be deleted.")]


@awaited
async def expire(days: IdleDays = None, dry_run: DryRun = False, as_json: AsJson = False) -> None:
    """Delete sessions that have been idle too long, in all workspaces.

    Also deletes ephemeral sessions, the logs of finished runs after 24 hours, jobs that ended, and what was spent long
    ago. A server does so every hour.
    """
    from tools.process.expiry import Retention
    from tools.process.expiry import expire as sweep
    from tools.spending.charges import Spending

    settings = settings_for()
    retention = Retention.of(settings) if days is None else Retention(days)
    async with opened_database(settings) as storage:
        spending = Spending(storage.database, storage.workspaces, settings.spending)
        gone = await sweep(
            storage.database,
            retention=retention,
            dry_run=dry_run,
            spending=spending,
        )
    if as_json:
        kept = {"days": retention.days, "days_by_dialect": retention.by_dialect}
        print_json({**kept, "dry_run": dry_run, **asdict(gone)})
        return
    done = "Would delete" if dry_run else "Deleted"
    print(
        f"{done} {counted(gone.sessions, 'session')} idle for {retention}, {gone.ephemeral_sessions} ephemeral, "
        f"{counted(gone.run_events, 'event')} of finished runs, and {counted(gone.jobs, 'job')} that ended long ago."
    )
