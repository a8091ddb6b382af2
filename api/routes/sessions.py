"""Conversations: made, listed, read back, deleted."""

from uuid import UUID

from fastapi import APIRouter, status

from api.dependencies import Me, OpenLibrary
from api.errors import problems
from api.schemas import Cursor, Limit, NewSession, SessionDetail, SessionList
from tools.sessions import Session

router = APIRouter(prefix="/api/sessions", tags=["sessions"])


@router.post("", status_code=status.HTTP_201_CREATED, responses=problems(422, 503))
async def create_session(body: NewSession, me: Me, library: OpenLibrary) -> Session:
    """Make a session."""
    page_ids = [str(page_id) for page_id in body.page_ids]
    return await library.sessions.create(me, title=body.title, page_ids=page_ids, ephemeral=body.ephemeral)


@router.get("", responses=problems(422, 503))
async def list_sessions(me: Me, library: OpenLibrary, limit: Limit = 50, cursor: Cursor = None) -> SessionList:
    """List your sessions, the last used first."""
    page = await library.sessions.list(me, limit=limit, cursor=cursor)
    return SessionList(sessions=page.sessions, next_cursor=page.next_cursor)


@router.get("/{session_id}", responses=problems(404, 422, 503))
async def get_session(
    session_id: UUID,
    me: Me,
    library: OpenLibrary,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> SessionDetail:
    """Read a session with its messages, their citations and sources."""
    return SessionDetail.of(await library.sessions.get(me, str(session_id), limit=limit, cursor=cursor))


@router.delete("/{session_id}", status_code=status.HTTP_204_NO_CONTENT, responses=problems(404, 409, 422, 503))
async def delete_session(session_id: UUID, me: Me, library: OpenLibrary) -> None:
    """Delete a session with its messages, runs and checkpoints."""
    await library.sessions.delete(me, str(session_id))
