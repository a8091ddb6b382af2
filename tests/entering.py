"""Runs written into the ledger by hand, for tests of what is stored."""

from uuid import uuid4

from graph.context import Context
from graph.events import Queued, RunFinished
from graph.evidence import Identity
from tools.runs.ledger import Ledger, Titled
from tools.runs.live_run import Run
from tools.sessions.run_request import RunRequest
from tools.storage.database import Database
from tools.storage.tenants import Workspaces


async def entered(database: Database, session_id: str, question: str = "Why?", identity: Identity | None = None) -> Run:
    """Enter a run as one that is going on."""
    return (await entered_titled(database, session_id, question, identity))[0]


async def entered_titled(
    database: Database, session_id: str, question: str, identity: Identity | None = None, *, title: str | None = None
) -> tuple[Run, Titled]:
    """Enter a run that may title its session, and return whether it does, too."""
    identity = identity or Identity()
    context = Context(workspace=identity.workspace, user=identity.user)
    run = Run(str(uuid4()), session_id, str(uuid4()), RunRequest(question, context), "extractive", "extractive")
    ledger = Ledger(database, Workspaces(database))
    fork = await ledger.resolve_position(session_id, run.request)
    first = run.next_line(Queued(position=1))
    return run, await ledger.open(run, first, entry="running", fork=fork, title=title)


async def finish(database: Database, run: Run, end: RunFinished) -> None:
    """End a run as its runner would."""
    await Ledger(database, Workspaces(database)).finish(run, end, [run.next_line(end)])
