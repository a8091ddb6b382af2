"""citewell jobs: list, show and change jobs of ingestion. citewell worker: do their work in a process of its own."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cli.command import Caller, Storage, acting, awaited, opened_database, opened_embedder, settings_for
from cli.console import one_line, print_json, print_rows, progress_console, result_console
from cli.options import AsJson, Cursor, as_id
from text.counted import counted

if TYPE_CHECKING:
    from graph.evidence import Identity
    from tools.library.job_store import Job, JobDetail, Jobs

    Change = Callable[["Identity", str], Awaitable["Job"]]

jobs = typer.Typer(help="List, show, cancel, pause and retry jobs of ingestion.", no_args_is_help=True)
JobId = Annotated[str, typer.Argument(help="The job's id.", show_default=False)]
Limit = Annotated[int, typer.Option(min=1, max=200, help="How many at most.")]
Processes = Annotated[
    int | None,
    typer.Option(min=1, max=64, help="How many files to read at once; default: CITEWELL_JOBS__WORKERS, or 2."),
]
Action = Literal["cancel", "pause", "resume", "retry"]
MOST_SHOWN = 50  # refused files, on a terminal


@jobs.command("list")
@acting
async def list_(by: Caller, limit: Limit = 50, cursor: Cursor = None) -> None:
    """List your jobs, the newest first."""
    async with by.storage() as storage:
        page = await _jobs(storage).list_jobs(storage.identity, limit=limit, cursor=cursor)
    rows = [
        [
            job.job_id,
            job.state,
            f"{_ended(job)}/{job.files}",
            str(job.counts["refused"]),
            f"{job.created_at:%Y-%m-%d %H:%M}",
        ]
        for job in page.jobs
    ]
    print_rows(
        {"jobs": page.jobs, "next_cursor": page.next_cursor},
        ["Job", "State", "Files", "Refused", "Begun"],
        rows,
        as_json=by.as_json,
        numbers={2, 3},
        more=page.next_cursor and f"citewell jobs list --cursor {page.next_cursor}",
    )


@jobs.command()
@acting
async def show(by: Caller, job_id: JobId) -> None:
    """Show how far a job is, and what it refused."""
    from tools.library.job_store import JobDetail

    async with by.storage() as storage:
        of_user, identity = _jobs(storage), storage.identity
        job = await of_user.get(identity, as_id(job_id, "job"))
        refused = await of_user.files(identity, job.job_id, state="refused", limit=MOST_SHOWN)
    detail = JobDetail(job, refused.files, refused.next_after)
    if by.as_json:
        print_json({"job": job, "refused": refused.files, "next_after": refused.next_after})
    else:
        _print(detail)


def _changing(action: Action) -> Callable[..., None]:
    """Return the command that does so to a job."""

    @acting
    async def change(by: Caller, job_id: JobId) -> None:
        from tools.library.job_store import JobDetail

        async with by.storage() as storage:
            change: Change = getattr(_jobs(storage), action)
            job = await change(storage.identity, as_id(job_id, "job"))
        if by.as_json:
            print_json(job)
        else:
            _print(JobDetail(job))

    return change


jobs.command("cancel", help="Cancel a job; what it has stored stays.")(_changing("cancel"))
jobs.command("pause", help="Pause a job; files that are being read are finished.")(_changing("pause"))
jobs.command("resume", help="Go on with a paused job.")(_changing("resume"))
jobs.command("retry", help="Queue the refused and the cancelled files of a job again.")(_changing("retry"))


@awaited
async def worker(processes: Processes = None, as_json: AsJson = False) -> None:
    """Store the files of jobs until interrupted.

    For servers with CITEWELL_JOBS__WORKERS=0, or beside those that work themselves. Where searches take their
    candidates from Milvus, it keeps that up to date too.
    """
    from api.metrics_server import serve_metrics
    from cli.process_memory import share_heap
    from tools.library.ingestion import Ingestor
    from tools.library.job_worker import SPARE, JobWorker
    from tools.library.sandbox import opened_sandbox
    from tools.process.engines import following_index
    from tools.runs.notifications import Notifications, PostgresCarrier
    from tools.runs.readings import read_database

    share_heap()
    settings = settings_for()
    limits = settings.jobs.model_copy(update={"workers": processes or settings.jobs.workers or 2})
    async with (
        opened_database(settings) as storage,
        opened_embedder(settings) as embedder,
        opened_sandbox(limits, limits.workers + SPARE, full_bytes=settings.max_document_bytes) as sandbox,
        following_index(storage.database, settings.milvus),
        serve_metrics(settings.metrics, [partial(read_database, storage.database)]),
    ):
        ingestor = Ingestor(storage.database, storage.workspaces, embedder, settings, sandbox)
        notifications = Notifications(PostgresCarrier(storage.database.url))
        working = JobWorker(storage.database, ingestor, notifications, limits)
        working.start()
        if as_json:
            print_json({"processes": limits.workers})
        else:
            typer.echo(f"Storing the files of jobs, {limits.workers} at once. Stop it with Ctrl-C.", err=True)
        try:
            await asyncio.Event().wait()
        finally:
            await working.close()
            await notifications.close()


def _jobs(storage: Storage) -> "Jobs":
    from tools.library.job_store import Jobs
    from tools.runs.notifications import Notifications, PostgresCarrier

    return Jobs(storage.database, storage.workspaces, Notifications(PostgresCarrier(storage.database.url)))


def _ended(job: "Job") -> int:
    return job.files - job.counts["queued"] - job.counts["working"]


def _print(detail: "JobDetail") -> None:
    from rich.text import Text

    from cli.rendering.wrapping import show_indented

    console, errors, job = result_console(), progress_console(), detail.job
    rate = f"  {job.rate:.1f} files/s" if job.rate is not None else ""
    left = f"  {job.eta_seconds:.0f} s left" if job.eta_seconds is not None else ""
    line = f"{_ended(job)} of {counted(job.files, 'file')}  {counted(job.segments, 'segment')}{rate}{left}"
    console.print(Text.assemble((job.state.ljust(11), "bold"), line), soft_wrap=True)
    for number in job.reading:
        done = f"  {number['segments_done']} of {counted(number['segments'], 'segment')}" if number["segments"] else ""
        console.print(Text.assemble(("reading    ", "dim"), one_line(number["name"]), (done, "dim")), soft_wrap=True)
    for file in detail.files:
        errors.print(Text.assemble(("refused    ", "bold red"), (one_line(file.name), "bold")))
        if file.problem is not None:
            show_indented(errors, one_line(f"{file.problem['message']} {file.problem['suggestion']}"), 11)
    if detail.next_after is not None:
        errors.print(f"and {job.counts['refused'] - len(detail.files)} more", style="dim")
