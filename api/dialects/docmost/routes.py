"""Docmost routes: the sessions, the chat and the page picker of its AI page."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query
from fastapi.responses import Response

from api.dependencies import Asking, needs
from api.dialects.docmost.encoder import DocmostEncoder
from api.dialects.docmost.schemas import (
    AiError,
    AiPage,
    AiQuestion,
    AiSession,
    AiSessionDetail,
    AiSessionList,
    AiSessionPatch,
    AutoTitle,
    ChangedSession,
    Deleted,
    MadeSession,
    NewAiSession,
    PageSearch,
)
from api.fields import Cursor, Limit
from api.problems import register_error_shape
from api.stream import RunStream, stream_responses
from graph.errors import ModelUnavailable
from graph.evidence import Identity, Segment, Space
from graph.ports import SearchQuery
from tools.backends.backend_registry import ask_for_model, find_backend
from tools.library.catalogue import Document
from tools.process.library import Library
from tools.settings import EXTRACTIVE

PAGES_LISTED = 20
SEGMENTS_FOUND = 10


async def find_pages(library: Library, identity: Identity, search: PageSearch) -> list[AiPage]:
    """List the pages that the identity may read, without deleted ones and those that runs fetched from elsewhere."""
    if search.page_ids:
        page_ids = list(dict.fromkeys(map(str, search.page_ids)))
        named = await library.documents.list(identity, limit=len(page_ids), document_ids=page_ids, lasting=True)
        by_id = {document.document_id: _page(document) for document in named.documents}
        return [by_id[page_id] for page_id in page_ids if page_id in by_id]
    words, space = " ".join(search.query.split()), search.space_id.strip() or None
    titled = await library.documents.list(identity, limit=PAGES_LISTED, space=space, title=words or None, lasting=True)
    pages = [_page(document) for document in titled.documents]
    if words and len(pages) < PAGES_LISTED:
        spaces = (space,) if space else ()
        query = SearchQuery(words, identity, top_k=SEGMENTS_FOUND, spaces=spaces, expand=0)
        pages += [_page(hit.segment) for hit in (await library.searcher.search(query)).hits]
    return list({page.page_id: page for page in pages}.values())[:PAGES_LISTED]


def _page(found: Document | Segment) -> AiPage:
    space = found.space or Space(id=None, slug=None)
    return AiPage(
        page_id=found.document_id,
        title=found.title,
        slug_id=found.slug or "",
        space_id=space["id"] or "",
        space_slug=space["slug"] or "",
    )


router = APIRouter(prefix="/api/ai", tags=["docmost"])
register_error_shape("/api/ai/", AiError.of)
DIALECT = "docmost"
LONGEST_HISTORY = 2000  # a client that knows no cursor reads a session whole
STREAM = stream_responses("Frames of `sources`, `memory`, `thinking`, `chunk` and `error`; the last is `[DONE]`.")


def error_responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI responses of a route that may answer with these statuses."""
    return {status: {"model": AiError} for status in statuses}


class NotConfigured(ModelUnavailable):
    """A model was requested but the deployment has none, so a retry is useless."""

    retryable = False
    suggestion = "Configure a model with CITEWELL_MODELS, or omit `model` to get quotes from the pages."


@router.post("/sessions", responses=error_responses(413, 422, 503))
@needs("ask")
async def create_ai_session(by: Asking, body: NewAiSession | None = None) -> MadeSession:
    """Create a session, with no page selected."""
    page_id = str(body.page_id) if body and body.page_id else None
    return MadeSession(
        session=AiSession.of(await by.library.sessions.create(by.me, dialect=DIALECT, page_id=page_id), by.me)
    )


@router.get("/sessions", responses=error_responses(422, 503))
@needs("ask", lists=True)
async def list_ai_sessions(by: Asking, limit: Limit = 50, cursor: Cursor = None) -> AiSessionList:
    """List your sessions, last used first, each with its selected pages."""
    page = await by.library.sessions.list(by.me, limit=limit, cursor=cursor, dialect=DIALECT)
    sessions = [AiSession.of(session, by.me) for session in page.sessions]
    return AiSessionList(sessions=sessions, next_cursor=page.next_cursor)


@router.get("/sessions/{session_id}", responses=error_responses(404, 422, 503))
@needs("ask")
async def get_ai_session(
    session_id: UUID,
    by: Asking,
    limit: Annotated[
        Limit | None, Query(description="Read as many messages at a time; without it, up to 2,000.")
    ] = None,
    cursor: Cursor = None,
) -> AiSessionDetail:
    """Read a session with its messages, their marks and sources."""
    most = limit or LONGEST_HISTORY
    return AiSessionDetail.of(await by.library.sessions.get(by.me, str(session_id), limit=most, cursor=cursor), by.me)


@router.patch("/sessions/{session_id}", responses=error_responses(404, 413, 422, 503))
@needs("ask")
async def change_ai_session(session_id: UUID, body: AiSessionPatch, by: Asking) -> ChangedSession:
    """Rename a session, or change its selected pages."""
    page_ids = None if body.selected_page_ids is None else [str(page_id) for page_id in body.selected_page_ids]
    changed = await by.library.sessions.change(by.me, str(session_id), title=body.title, page_ids=page_ids)
    return ChangedSession(session=AiSession.of(changed, by.me))


@router.delete("/sessions/{session_id}", responses=error_responses(404, 409, 422, 503))
@needs("ask")
async def delete_ai_session(session_id: UUID, by: Asking) -> Deleted:
    """Delete a session with its messages."""
    await by.library.sessions.delete(by.me, str(session_id))
    return Deleted()


@router.post("/sessions/{session_id}/auto-title", responses=error_responses(404, 422, 503))
@needs("ask")
async def auto_title_ai_session(session_id: UUID, by: Asking) -> AutoTitle:
    """Title a session after its first question."""
    title = await by.library.sessions.auto_title(by.me, str(session_id))
    session = (await by.library.sessions.get(by.me, str(session_id), limit=1)).session
    return AutoTitle(title=title, session=AiSession.of(session, by.me))


@router.post(
    "/chat/stream",
    response_class=Response,
    responses={**STREAM, **error_responses(400, 404, 409, 413, 422, 429, 503)},
)
@needs("ask")
async def stream_ai_chat(body: AiQuestion, by: Asking) -> Response:
    """Answer the last message, from the selected pages and the other sources that the request allows."""
    if body.model not in ("", EXTRACTIVE) and not by.settings.models and find_backend(body.model) is None:
        raise NotConfigured(f"The model {body.model!r} was requested, but no model is configured.")
    await ask_for_model(by.settings, body.model, thinking=body.thinking)
    session_id = str(
        body.session_id or (await by.library.sessions.create(by.me, ephemeral=True, dialect=DIALECT)).session_id
    )
    if body.selected_page_ids is None:
        selected = (await by.library.sessions.get(by.me, session_id, limit=1)).session.page_ids
        body = body.model_copy(update={"selected_page_ids": selected})
    run = await by.runner.start(session_id, body.to_run_request(by.me, by.settings.run_knobs))
    return RunStream(run, DocmostEncoder(), "cancel")


@router.post("/pages/search", responses=error_responses(413, 422, 503))
@needs("read", action="read")
async def search_ai_pages(body: PageSearch, by: Asking) -> list[AiPage]:
    """List pages to select, by id or by words and space."""
    return await find_pages(by.library, by.me, body)
