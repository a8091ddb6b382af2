"""Jobs over a real PostgreSQL: every file is stored once, whoever dies; workspaces and jobs take turns."""

import asyncio
import io
import multiprocessing
import os
import signal
import zipfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from graph.errors import EmbeddingUnavailable, NotFound, QueueFull
from graph.evidence import Identity
from tests.distributions import install
from tests.postgres.dying_worker import ME, NAMES, SEGMENTS, STEPS, Deployment, deployment, die, lamp
from tools.library import job_worker
from tools.library.catalogue import Documents
from tools.library.job_store import FileState, expire_jobs
from tools.library.new_documents import NewDocument
from tools.library.sandbox import Sandbox
from tools.library.uploads import Uploads
from tools.process.expiry import Retention, expire
from tools.storage.database import retry_while_unavailable

FORKED = multiprocessing.get_context("forkserver")
SLEEPER = """
import time
from tools.parsers import Block, Parsed, Parser

def read(data):
    time.sleep(3600)

parser = Parser(("text/x-sleeper",), (".sleeper",), read)
"""
SLEEPS = NewDocument(name="z.sleeper", data=b"zzz")


@pytest.fixture(scope="module")
async def sandbox() -> AsyncIterator[Sandbox]:
    opened = Sandbox(2, 60, 1024)
    yield opened
    await opened.close()


@pytest.fixture
async def process(database_url: str, sandbox: Sandbox) -> AsyncIterator[Deployment]:
    async with deployment(database_url, sandbox) as opened:
        yield opened


@pytest.fixture
def sleeper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, "sleeper", {"sleeper": SLEEPER}, "[citewell.parsers]\nsleeper = sleeper:parser\n")
    monkeypatch.syspath_prepend(str(tmp_path))


async def test_one_workspace_holds_no_worker_of_the_others(database_url: str, sandbox: Sandbox, sleeper: None) -> None:
    async with deployment(database_url, Sandbox(2, 60, 1024)) as process:
        other = Identity("other")
        await process.workspaces.create("other")
        slow = await process.submit(*(replace(SLEEPS, name=f"{n}.sleeper", data=b"z" * (n + 1)) for n in range(3)))
        process.worker.start()
        async for job in process.jobs.follow(ME, slow):
            if job.counts["working"]:
                break
        quick = await process.submit(NewDocument(name="a.md", text="A lamp."), identity=other)
        assert (await process.ended(quick, other)).counts["stored"] == 1
        assert (await process.jobs.get(ME, slow)).counts["working"] == 1, "the spare worker is not for the first one"
        await process.jobs.cancel(ME, slow)
        await process.worker.close()
        await process.sandbox.close()


def open_files() -> set[str]:
    return {os.path.realpath(each) for each in Path("/proc/self/fd").glob("*")}


async def test_an_archive_waits_in_its_folder_and_holds_no_connection_while_it_is_read(
    process: Deployment, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    unpack = process.sandbox.unpack
    opened: set[str] = set()

    async def while_all_are_taken(*given: Any, **named: Any) -> bool:
        async with AsyncExitStack() as taken:
            for _ in range(process.database.pool.max_size):
                await taken.enter_async_context(process.database.connection())
            opened.update(open_files())
            return await unpack(*given, **named)

    monkeypatch.setattr(process.sandbox, "unpack", while_all_are_taken)
    documents = Documents(process.database, process.workspaces)
    folder = tmp_path / "unpacking"
    uploads = Uploads(
        process.jobs,
        process.worker,
        documents,
        process.workspaces,
        process.sandbox,
        max_bytes=20_000_000,
        folder=folder,
    )
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for number in range(150):  # more than go to the database at once
            archive.writestr(f"{number}.md", f"Lamp {number} shines.")
    job_id, is_archive = await uploads.submit(ME, NewDocument(name="lamps.zip", data=packed.getvalue()))
    assert is_archive
    assert (await process.jobs.get(ME, job_id)).files == 150
    assert any(each.startswith(str(folder)) for each in opened) == bool(opened)  # where the system tells
    await process.jobs.cancel(ME, job_id)


BACKENDS = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'"


@pytest.mark.parametrize(("size", "is_replaced"), [(1_000, False), (5_000_000, True)])
async def test_a_connection_keeps_no_memory_of_a_large_file(process: Deployment, size: int, is_replaced: bool) -> None:
    before: set[Any] = set()
    while (now := set(await process.rows(BACKENDS))) != before:  # the pool may still grow
        before = now
    gone: set[Any] = set()
    for number in range(4):  # each goes by the connection that has waited longest
        await process.submit(NewDocument(name=f"{number}.txt", data=b"A lamp. " * (size // 8)))
        gone |= before - set(await process.rows(BACKENDS))
    assert bool(gone) == is_replaced


async def states(process: Deployment, job_id: str, identity: Identity = ME) -> list[FileState]:
    return [file.state for file in (await process.jobs.files(identity, job_id)).files]


async def library(process: Deployment) -> dict[str, Any]:
    """Give what the library holds, and what its statistics say of that."""
    return {
        "documents": await process.rows(
            "SELECT name FROM (SELECT metadata->>'file_path' AS name FROM documents) AS named ORDER BY 1"
        ),
        "segments": await process.rows("SELECT document_id::text, count(*) FROM segments GROUP BY 1 ORDER BY 1"),
        "statistics": await process.rows("SELECT documents, segments FROM library_statistics"),
        "vectors": await process.rows("SELECT count(*) FROM segment_vectors"),
        "uploads": await process.rows("SELECT count(*) FROM ingestion_uploads"),
    }


@pytest.mark.parametrize("step", STEPS)
async def test_a_killed_worker_loses_nothing_and_doubles_nothing(
    database_url: str, process: Deployment, step: str
) -> None:
    victim = FORKED.Process(target=die, args=(database_url, step))
    victim.start()
    await asyncio.to_thread(victim.join, 60)
    assert victim.exitcode == -signal.SIGKILL
    done = {"accepted": 0, "after_commit": 2}.get(step, 1)
    halfway = await library(process)
    assert halfway["documents"] == [(name,) for name in NAMES[:done]]
    assert halfway["uploads"] == [(3 - done,)]
    await process.rows("UPDATE ingestion_files SET lease_until = '-infinity' WHERE state = 'working' RETURNING 1")
    [(job_id,)] = await process.rows("SELECT job_id::text FROM ingestion_jobs")
    process.worker.start()
    job = await process.ended(job_id)
    assert (job.state, job.counts["stored"], job.files) == ("finished", 3, 3)
    found = await library(process)
    assert found["documents"] == [(name,) for name in NAMES]
    assert [segments for _, segments in found["segments"]] == [SEGMENTS] * 3
    assert (found["statistics"], found["vectors"], found["uploads"]) == ([(3, 3 * SEGMENTS)], [(3 * SEGMENTS,)], [(0,)])


@pytest.mark.parametrize("moment", ["_upload", "record_stored"])
async def test_a_database_that_goes_away_is_waited_for(
    process: Deployment, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    cut = """SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
             WHERE datname = current_database() AND pid <> pg_backend_pid()"""
    owner: Any = process.worker if moment == "_upload" else job_worker
    whole, times = getattr(owner, moment), []

    async def disturbed(*given: Any) -> Any:
        found = await whole(*given)
        if len(times) < 2:
            times.append(1)
            await process.rows(cut)
        return found

    monkeypatch.setattr(owner, moment, disturbed)
    job_id = await process.submit(*map(lamp, NAMES))
    process.worker.start()
    job = await retry_while_unavailable(lambda: process.ended(job_id))
    assert (job.counts["stored"], len(times)) == (3, 2)
    assert (await library(process))["statistics"] == [(3, 3 * SEGMENTS)]


async def test_a_worker_that_stops_leaves_its_file_to_others_at_once(
    process: Deployment, database_url: str, sleeper: None
) -> None:
    async with deployment(database_url) as first:
        job_id = await first.submit(SLEEPS)
        first.worker.start()
        await working(first, job_id)
    [file] = (await process.jobs.files(ME, job_id)).files
    assert (file.state, await process.rows("SELECT tries, lease_until FROM ingestion_files")) == ("queued", [(0, None)])


async def working(process: Deployment, job_id: str) -> None:
    """Wait until a file is being read."""
    async for job in process.jobs.follow(ME, job_id):
        if job.counts["working"]:
            return


async def test_a_file_whose_workers_die_again_and_again_is_refused(process: Deployment) -> None:
    job_id = await process.submit(lamp("a.md"), lamp("b.md"))
    await process.rows(
        "UPDATE ingestion_files SET state = 'working', tries = 3, lease_until = '-infinity' WHERE file_no = 0"
        " RETURNING 1"
    )
    process.worker.start()
    job = await process.ended(job_id)
    assert (job.counts["refused"], job.counts["stored"]) == (1, 1)
    [file, _] = (await process.jobs.files(ME, job_id)).files
    assert file.problem is not None
    assert file.problem["code"] == "document_too_expensive"


async def test_workspaces_and_jobs_take_turns(process: Deployment) -> None:
    await process.workspaces.ensure("small")
    theirs = Identity("small", "ann")
    large = await process.submit(*(replace(lamp("a.md"), document_id=None) for _ in range(6)))
    beside = await process.submit(*(replace(lamp("b.md"), document_id=None) for _ in range(2)))
    small = await process.submit(*(replace(lamp("c.md"), document_id=None) for _ in range(3)), identity=theirs)
    order = []
    while (file := await process.worker._claim()) is not None:
        order.append(file.job_id)
        await process.rows("UPDATE ingestion_files SET state = 'unchanged' WHERE state = 'working' RETURNING 1")
    assert order == [large, small, beside, small, large, small, beside, large, large, large, large]


async def test_a_workspace_that_has_less_in_work_comes_first(process: Deployment) -> None:
    await process.workspaces.ensure("small")
    large = await process.submit(*(replace(lamp("a.md"), document_id=None) for _ in range(3)))
    first = await process.worker._claim()
    small = await process.submit(lamp("c.md"), identity=Identity("small"))
    second = await process.worker._claim()
    assert first is not None
    assert second is not None
    assert (first.job_id, second.job_id) == (large, small)


async def test_versions_of_a_document_are_stored_in_their_order(process: Deployment) -> None:
    first = await process.submit(lamp("a.md", 1))
    second = await process.submit(lamp("a.md", 2))
    claimed = await process.worker._claim()
    assert claimed is not None
    assert claimed.job_id == first
    assert await process.worker._claim() is None, "the second waits for the first"
    await process.worker._release(claimed)
    process.worker.start()
    await asyncio.gather(process.ended(first), process.ended(second))
    found = await process.rows("SELECT body FROM segments WHERE segment_index = 0")
    assert "of a.md 2 shines" in found[0][0]


async def test_a_cancelled_job_ends_what_is_being_read(process: Deployment, sleeper: None) -> None:
    await process.sandbox.rest()
    job_id = await process.submit(lamp("a.md"), SLEEPS, lamp("b.md"))
    process.worker.start()
    async for job in process.jobs.follow(ME, job_id):
        if job.counts["stored"] and job.counts["working"]:
            break
    [reading] = process.worker._active.values()
    assert reading.task is not None
    job = await process.jobs.cancel(ME, job_id)
    assert job.state == "cancelled"
    assert await states(process, job_id) == ["stored", "cancelled", "cancelled"]
    await asyncio.wait([reading.task])
    assert (await library(process))["documents"] == [("a.md",)]
    again = await process.jobs.cancel(ME, job_id)
    assert again.finished_at == job.finished_at


async def test_a_cancelled_file_is_not_stored_by_whoever_was_reading_it(process: Deployment) -> None:
    job_id = await process.submit(lamp("a.md"))
    claimed = await process.worker._claim()
    assert claimed is not None
    await process.jobs.cancel(ME, job_id)
    await process.worker._process(claimed)
    assert (await library(process))["documents"] == []
    assert await states(process, job_id) == ["cancelled"]


async def test_a_paused_job_waits_and_goes_on(process: Deployment) -> None:
    job_id = await process.submit(*map(lamp, NAMES))
    assert (await process.jobs.pause(ME, job_id)).state == "paused"
    assert await process.worker._claim() is None
    assert (await process.jobs.resume(ME, job_id)).state == "queued"
    process.worker.start()
    assert (await process.ended(job_id)).counts["stored"] == 3


async def test_a_document_of_a_job_is_told_of_those_like_it(process: Deployment) -> None:
    text = "\n\n".join(f"Step {number} of the stair is worn by {number * 7} years of boots." for number in range(40))
    first, second = replace(lamp("a.md"), data=text.encode()), replace(lamp("b.md"), data=f"{text} Mind it.".encode())
    job_id = await process.submit(first, second)
    process.worker.start()
    await process.ended(job_id)
    sketches = await process.rows("SELECT likeness::text FROM documents")
    assert [len(sketch) for (sketch,) in sketches] == [256, 256]
    told = [file.ingested.similar_to for file in (await process.jobs.files(ME, job_id)).files if file.ingested]
    assert [[each["document_id"] for each in others] for others in told] == [[], [first.document_id]]


async def test_refused_and_cancelled_files_are_tried_again(
    process: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = NewDocument(name="x.md", data=b"\x00\x01\x02\xff")
    job_id = await process.submit(lamp("a.md"), broken)
    process.worker.start()
    job = await process.ended(job_id)
    assert (job.state, job.counts["stored"], job.counts["refused"]) == ("finished", 1, 1)
    assert (await library(process))["uploads"] == [(1,)], "that of the refused one"
    await process.rows("UPDATE ingestion_uploads SET data = 'A lamp.' RETURNING 1")  # as a newer parser would read it
    assert (await process.jobs.retry(ME, job_id)).state in ("queued", "running", "finished")
    assert (await process.ended(job_id)).counts["stored"] == 2
    assert (await process.jobs.retry(ME, job_id)).state == "finished"


async def test_a_file_waits_for_an_endpoint_that_does_not_answer(
    process: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = process.ingestor.ingest_wired

    async def unavailable(*given: Any, **named: Any) -> Any:
        raise EmbeddingUnavailable("The endpoint does not answer.")

    monkeypatch.setattr(process.ingestor, "ingest_wired", unavailable)
    job_id = await process.submit(lamp("a.md"))
    process.worker.start()
    [file] = await process.jobs.wait_for_end(job_id, 30) or []
    assert file.problem is not None
    assert (file.state, file.problem["code"]) == ("queued", "embedding_unavailable")
    monkeypatch.setattr(process.ingestor, "ingest_wired", whole)
    await process.rows("UPDATE ingestion_files SET not_before = now() RETURNING 1")  # as time does
    await process.jobs.resume(ME, job_id)  # which wakes the worker
    assert (await process.ended(job_id)).counts["stored"] == 1


async def test_a_job_is_seen_by_its_user_alone(process: Deployment) -> None:
    job_id = await process.submit(lamp("a.md"))
    await process.workspaces.ensure("other")
    for stranger in (Identity(user="ann"), Identity("other", ME.user)):
        assert (await process.jobs.list_jobs(stranger)).jobs == []
        for act in (process.jobs.get, process.jobs.cancel, process.jobs.pause, process.jobs.retry, process.jobs.files):
            with pytest.raises(NotFound):
                await act(stranger, job_id)
    assert [job.job_id for job in (await process.jobs.list_jobs(ME)).jobs] == [job_id]


async def test_a_queue_has_an_end(database_url: str, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tools.library.job_store.MOST_WAITING", 2)
    async with deployment(database_url, sandbox) as process:
        await process.submit(lamp("a.md"), lamp("b.md"))
        with pytest.raises(QueueFull):
            await process.submit(lamp("c.md"))
        await process.submit(lamp("c.md"), identity=Identity(user="ann"))


async def test_jobs_are_listed_in_pages_and_expire(process: Deployment) -> None:
    ids = [await process.submit(lamp(name)) for name in NAMES]
    first = await process.jobs.list_jobs(ME, limit=2)
    second = await process.jobs.list_jobs(ME, limit=2, cursor=first.next_cursor)
    assert [job.job_id for page in (first, second) for job in page.jobs] == ids[::-1]
    assert second.next_cursor is None
    await process.jobs.cancel(ME, ids[0])
    await process.rows(
        "UPDATE ingestion_jobs SET finished_at = now() - interval '8 days' WHERE job_id = %s RETURNING 1", ids[0]
    )
    assert await expire_jobs(process.database, days=7, dry_run=True) == 1
    assert (await expire(process.database, retention=Retention(7))).jobs == 1
    assert (await library(process))["uploads"] == [(2,)]


async def test_files_wait_for_questions_but_not_for_ever(process: Deployment) -> None:
    asked = []

    def is_answering() -> bool:
        asked.append(1)
        return True

    process.worker.give_way_to(is_answering)
    job_id = await process.submit(*map(lamp, NAMES))
    process.worker.start()
    assert (await process.ended(job_id)).counts["stored"] == 3
    assert len(asked) >= 3


async def test_a_deleted_workspace_takes_its_jobs_along(process: Deployment) -> None:
    await process.workspaces.ensure("gone")
    theirs = Identity("gone")
    await process.submit(lamp("a.md"), identity=theirs)
    claimed = await process.worker._claim()
    assert claimed is not None
    await process.workspaces.delete("gone")
    await process.worker._process(claimed)
    assert await process.rows("SELECT count(*) FROM ingestion_uploads") == [(0,)]
