"""Runs, listed: those of one session, or all of them."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from api.dependencies import Me, OpenLibrary
from api.errors import problems
from api.schemas.fields import Cursor, Limit
from api.schemas.sessions import RunList
from tools.run_listing import RunPage, RunState

router = APIRouter(tags=["runs"])
Status = Annotated[RunState | None, Query(description="Only the runs that stand there.")]


@router.get("/api/runs", responses=problems(422, 503))
async def list_runs(
    me: Me, library: OpenLibrary, status: Status = None, limit: Limit = 50, cursor: Cursor = None
) -> RunList:
    """List your runs, the newest first."""
    return _shown(await library.sessions.list_runs(me, status=status, limit=limit, cursor=cursor))


@router.get("/api/sessions/{session_id}/runs", responses=problems(404, 422, 503))
async def list_runs_of_session(
    session_id: UUID,
    me: Me,
    library: OpenLibrary,
    status: Status = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> RunList:
    """List the runs of a session, the newest first."""
    return _shown(
        await library.sessions.list_runs(me, session_id=str(session_id), status=status, limit=limit, cursor=cursor)
    )


def _shown(page: RunPage) -> RunList:
    return RunList(runs=page.runs, next_cursor=page.next_cursor)
