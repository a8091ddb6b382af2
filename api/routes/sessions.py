"""Conversations: made, listed, changed, read back, deleted."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query, Response, status

from api.dependencies import Me, OpenLibrary
from api.errors import problems
from api.schemas.fields import Cursor, Limit, optional
from api.schemas.sessions import NewSession, SessionChange, SessionDetail, SessionList, SessionTitle, detail_as_json
from tools.sessions import Session

router = APIRouter(prefix="/api/sessions", tags=["sessions"])
Branch = Annotated[
    UUID | None, Query(description="A message: the branch through it is read, not the one gone on with last.")
]


@router.post("", status_code=status.HTTP_201_CREATED, responses=problems(422, 503))
async def create_session(body: NewSession, me: Me, library: OpenLibrary) -> Session:
    """Make a session."""
    return await library.sessions.create(
        me,
        title=body.title,
        page_id=optional(body.page_id),
        page_ids=[str(page_id) for page_id in body.page_ids],
        ephemeral=body.ephemeral,
    )


@router.get("", responses=problems(422, 503))
async def list_sessions(me: Me, library: OpenLibrary, limit: Limit = 50, cursor: Cursor = None) -> SessionList:
    """List your sessions, the last used first."""
    page = await library.sessions.list(me, limit=limit, cursor=cursor)
    return SessionList(sessions=page.sessions, next_cursor=page.next_cursor)


@router.get("/{session_id}", response_model=SessionDetail, responses=problems(404, 422, 503))
async def get_session(
    session_id: UUID,
    me: Me,
    library: OpenLibrary,
    limit: Limit = 100,
    cursor: Cursor = None,
    branch: Branch = None,
) -> Any:
    """Read a session with the messages of a branch, their citations and sources."""
    history = await library.sessions.get(me, str(session_id), limit=limit, cursor=cursor, branch=optional(branch))
    return Response(detail_as_json(history), media_type="application/json")


@router.patch("/{session_id}", responses=problems(404, 422, 503))
async def change_session(session_id: UUID, body: SessionChange, me: Me, library: OpenLibrary) -> Session:
    """Rename a session, or select other pages in it."""
    page_ids = None if body.page_ids is None else [str(page_id) for page_id in body.page_ids]
    return await library.sessions.change(me, str(session_id), title=body.title, page_ids=page_ids)


@router.post("/{session_id}/auto-title", responses=problems(404, 422, 503))
async def title_session(session_id: UUID, me: Me, library: OpenLibrary) -> SessionTitle:
    """Title a session after its first question, unless it has a title, and say what it is called."""
    title = await library.sessions.auto_title(me, str(session_id))
    return SessionTitle(session_id=str(session_id), title=title)


@router.delete("/{session_id}", status_code=status.HTTP_204_NO_CONTENT, responses=problems(404, 409, 422, 503))
async def delete_session(session_id: UUID, me: Me, library: OpenLibrary) -> None:
    """Delete a session with its messages, runs and checkpoints."""
    await library.sessions.delete(me, str(session_id))
