"""Routes of the docmost dialect: Docmost's AI page, with its sessions, its chat and its page picker."""

from typing import Any
from uuid import UUID

from fastapi import APIRouter
from fastapi.responses import Response

from api.dependencies import AppSettings, Me, OpenLibrary, OpenRunner
from api.dialects import DIALECTS
from api.errors import shaped
from api.page_picker import find_pages
from api.schemas.docmost import AiQuestion, AiSessionPatch, NewAiSession, PageSearch
from api.schemas.docmost_replies import (
    AiError,
    AiPage,
    AiSession,
    AiSessionDetail,
    AiSessionList,
    AutoTitle,
    ChangedSession,
    Deleted,
    MadeSession,
)
from api.schemas.fields import Cursor, Limit
from api.stream import RunStream, streamed
from graph.errors import ModelUnavailable
from tools.settings import EXTRACTIVE

router = APIRouter(prefix="/api/ai", tags=["docmost"])
shaped("/api/ai/", AiError.of)
DIALECT = "docmost"
LONGEST_HISTORY = 200
STREAM = streamed("Frames of `sources`, `memory`, `thinking`, `chunk` and `error`; the last is `[DONE]`.")


def errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Describe the errors that a route may answer with, for OpenAPI."""
    return {status: {"model": AiError} for status in statuses}


class NotConfigured(ModelUnavailable):
    """A model is asked for where the deployment has none: trying again is of no use."""

    retryable = False
    suggestion = "Configure a model with CITEWELL_MODELS, or leave `model` out to have the pages quoted."


@router.post("/sessions", responses=errors(413, 422, 503))
async def create_ai_session(me: Me, library: OpenLibrary, body: NewAiSession | None = None) -> MadeSession:
    """Make a session, with no page selected."""
    page_id = str(body.page_id) if body and body.page_id else None
    return MadeSession(session=AiSession.of(await library.sessions.create(me, dialect=DIALECT, page_id=page_id), me))


@router.get("/sessions", responses=errors(422, 503))
async def list_ai_sessions(me: Me, library: OpenLibrary, limit: Limit = 50, cursor: Cursor = None) -> AiSessionList:
    """List your sessions, the last used first, each with its selected pages."""
    page = await library.sessions.list(me, limit=limit, cursor=cursor, dialect=DIALECT)
    sessions = [AiSession.of(session, me) for session in page.sessions]
    return AiSessionList(sessions=sessions, next_cursor=page.next_cursor)


@router.get("/sessions/{session_id}", responses=errors(404, 422, 503))
async def get_ai_session(
    session_id: UUID, me: Me, library: OpenLibrary, limit: Limit = LONGEST_HISTORY, cursor: Cursor = None
) -> AiSessionDetail:
    """Read a session with its messages, their marks and sources."""
    return AiSessionDetail.of(await library.sessions.get(me, str(session_id), limit=limit, cursor=cursor), me)


@router.patch("/sessions/{session_id}", responses=errors(404, 413, 422, 503))
async def change_ai_session(session_id: UUID, body: AiSessionPatch, me: Me, library: OpenLibrary) -> ChangedSession:
    """Give a session another title, or other selected pages."""
    page_ids = None if body.selected_page_ids is None else [str(page_id) for page_id in body.selected_page_ids]
    changed = await library.sessions.change(me, str(session_id), title=body.title, page_ids=page_ids)
    return ChangedSession(session=AiSession.of(changed, me))


@router.delete("/sessions/{session_id}", responses=errors(404, 409, 422, 503))
async def delete_ai_session(session_id: UUID, me: Me, library: OpenLibrary) -> Deleted:
    """Delete a session with its messages."""
    await library.sessions.delete(me, str(session_id))
    return Deleted()


@router.post("/sessions/{session_id}/auto-title", responses=errors(404, 422, 503))
async def auto_title_ai_session(session_id: UUID, me: Me, library: OpenLibrary) -> AutoTitle:
    """Name a session after its first question."""
    title = await library.sessions.auto_title(me, str(session_id))
    session = (await library.sessions.get(me, str(session_id), limit=1)).session
    return AutoTitle(title=title, session=AiSession.of(session, me))


@router.post(
    "/chat/stream",
    response_class=Response,
    responses={**STREAM, **errors(400, 404, 409, 413, 422, 503)},
)
async def stream_ai_chat(
    body: AiQuestion, me: Me, settings: AppSettings, library: OpenLibrary, runner: OpenRunner
) -> Response:
    """Answer the last message, from the pages selected and from where else the request allows."""
    if body.model not in ("", EXTRACTIVE) and not settings.models:
        raise NotConfigured(f"The model {body.model!r} was asked for, and no model is configured.")
    session_id = str(body.session_id or (await library.sessions.create(me, ephemeral=True, dialect=DIALECT)).session_id)
    run = await runner.start(session_id, body.request(me, settings.run_knobs))
    return RunStream(run, DIALECTS[DIALECT](), "cancel")


@router.post("/pages/search", responses=errors(413, 422, 503))
async def search_ai_pages(body: PageSearch, me: Me, library: OpenLibrary) -> list[AiPage]:
    """List pages to select, by id or by words and space."""
    return await find_pages(library, me, body)
