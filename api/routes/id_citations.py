"""Routes of the id_citations dialect: one conversation a workspace and user, answered in the background."""

from dataclasses import replace
from typing import Any

from fastapi import APIRouter, Request, Response, status

from api.asking import left_off
from api.dependencies import AppSettings, Me, OpenLibrary, OpenRunner
from api.dialects.id_citations import IdCitationsDialect
from api.errors import problems
from api.schemas.fields import Cursor, Limit
from api.schemas.id_citations import ChangedMessages, MessagePage, NewMessage, in_progress
from api.stream import RunStream, streamed, wants_stream
from api.workspace_messages import WorkspaceMessages
from graph.errors import NotFound
from graph.evidence import Identity
from graph.page_references import page_references
from tools.host_sessions import named_session
from tools.resources import Library
from tools.runner import Runner
from tools.runs import RunReader

DIALECT = "id_citations"
PATH = "/api/workspaces/{workspace_id}/messages"
MOST_DOCUMENTS = 10

router = APIRouter(tags=["id_citations"])
MADE: dict[int | str, dict[str, Any]] = {
    **streamed(
        "On request: frames of rows, each whenever a section of the answer is final.",
        {"$ref": "#/components/schemas/ChangedMessages"},
    ),
    202: {"description": "The question's row, and the answer's, which is made in the background."},
    **problems(400, 404, 413, 422, 503),
}
READ: dict[int | str, dict[str, Any]] = {
    200: {"description": "The newest rows; or on request the answer being made, as frames."},
    204: {"description": "On request for a stream: no answer is being made, or its reader has had the end."},
    **problems(404, 422, 503),
}


@router.post(PATH, status_code=status.HTTP_202_ACCEPTED, response_model=ChangedMessages, responses=MADE)
async def send_message(
    workspace_id: str,
    body: NewMessage,
    request: Request,
    me: Me,
    settings: AppSettings,
    library: OpenLibrary,
    runner: OpenRunner,
) -> Any:
    """Ask your workspace a question; whoever leaves finds the answer among the messages."""
    _own(workspace_id, me)
    session = await library.sessions.create(me, external_id=workspace_id, dialect=DIALECT)
    asked = body.request(me, settings.run_knobs)
    if page_references(body.content) and not body.document_ids:
        asked = replace(asked, page_ids=await _paged_documents(library, me))
    run = await runner.start(session.session_id, asked)
    if body.stream or wants_stream(request):
        return _stream(run)
    return ChangedMessages(messages=in_progress(await library.sessions.run(me, run.run_id), run.message_id))


@router.get(PATH, response_model=MessagePage, responses=READ)
async def read_messages(
    workspace_id: str,
    request: Request,
    me: Me,
    library: OpenLibrary,
    runner: OpenRunner,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Any:
    """Read the conversation with your workspace, or follow the answer that is being made."""
    _own(workspace_id, me)
    session_id = await named_session(library.database, library.workspaces, me, DIALECT, workspace_id)
    if wants_stream(request):
        return await _follow(request, me, runner, session_id)
    if session_id is None:
        return MessagePage(messages=[], next_cursor=None)
    return await WorkspaceMessages(library, runner, me, session_id).page(limit, cursor)


async def _paged_documents(library: Library, me: Identity) -> tuple[str, ...]:
    """List the documents in which to look a page up that a question names, unless there are too many."""
    listed = await library.documents.list(me, limit=MOST_DOCUMENTS)
    return () if listed.next_cursor else tuple(each.document_id for each in listed.documents if each.page_count)


async def _follow(request: Request, me: Identity, runner: Runner, session_id: str | None) -> Response:
    left = left_off(request)
    if left is not None:
        run: RunReader | None = await runner.join(me, left.run_id)
    else:
        run = await runner.current(me, session_id) if session_id else None
    if run is None:
        return Response(status_code=status.HTTP_204_NO_CONTENT)
    if run.session_id != session_id:
        raise NotFound(f"There is no run {run.run_id} in this workspace's messages.")
    seq = left.seq if left else 0
    if await run.is_over(seq):
        return Response(status_code=status.HTTP_204_NO_CONTENT)
    return _stream(run, after=seq)


def _stream(run: RunReader, *, after: int = 0) -> RunStream:
    return RunStream(run, IdCitationsDialect(run.message_id), "continue", after=after)


def _own(workspace_id: str, me: Identity) -> None:
    if workspace_id != me.workspace:
        raise NotFound(f"There is no workspace {workspace_id}.")
