"""id_citations routes: one conversation per workspace and user, answered in the background."""

from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request, Response, status

from api.dependencies import Asker, Asking, needs
from api.dialects.id_citations.encoder import IdCitationsEncoder
from api.dialects.id_citations.schemas import (
    ChangedMessages,
    MessagePage,
    NewMessage,
    Row,
    failed_row,
    in_progress,
    stored_row,
)
from api.fields import Cursor, Limit
from api.problems import problems
from api.stream import RunStream, resume_position, stream_responses, wants_stream
from graph.errors import NotFound
from graph.evidence import Identity
from tools.sessions.run_request import RunReader
from tools.sessions.session_store import RunStatus, StoredMessage, named_session


@dataclass(frozen=True, slots=True)
class WorkspaceMessages:
    """A user's conversation with a workspace."""

    by: Asker
    session_id: str

    async def page(self, limit: int, cursor: str | None) -> MessagePage:
        """Return the newest ``limit`` stored messages, or those before a cursor, with a row for each failed run.

        After the newest messages come the active and waiting runs.
        """
        # Read before the history, so that a run that ends meanwhile is in at least one of the two.
        unfinished = [] if cursor else await self._unfinished()
        history = await self.by.library.sessions.get(self.by.me, self.session_id, limit=limit, cursor=cursor)
        ended = {message.run_id for message in history.messages}
        rows = await self._stored(history.messages)
        for run in unfinished:
            if run.run_id not in ended:
                rows += in_progress(run, await self._message_id(run.run_id))
        return MessagePage(messages=rows, next_cursor=history.next_cursor)

    async def _unfinished(self) -> list[RunStatus]:
        listed = self.by.library.sessions.list_runs
        # In this order, so that a run that begins meanwhile is in at least one of the two.
        waiting = await listed(self.by.me, session_id=self.session_id, status="queued")
        running = await listed(self.by.me, session_id=self.session_id, status="running")
        found = {run.run_id: run for run in (*waiting.runs, *running.runs)}
        return sorted(found.values(), key=lambda run: run.created_at)

    async def _stored(self, messages: list[StoredMessage]) -> list[Row]:
        answered = {message.run_id for message in messages if message.role == "assistant"}
        rows: list[Row] = []
        for message in messages:
            rows.append(stored_row(message))
            if message.run_id and message.run_id not in answered:
                run = await self.by.library.sessions.run(self.by.me, message.run_id)
                rows.append(failed_row(run, await self._message_id(run.run_id)))
        return rows

    async def _message_id(self, run_id: str) -> str:
        return (await self.by.runner.join(self.by.me, run_id)).message_id


DIALECT = "id_citations"
PATH = "/api/workspaces/{workspace_id}/messages"

router = APIRouter(tags=["id_citations"])
MADE: dict[int | str, dict[str, Any]] = {
    **stream_responses(
        "On request: frames of rows, one whenever a section of the answer becomes final.",
        {"$ref": "#/components/schemas/ChangedMessages"},
    ),
    202: {"description": "The rows of the question and of the answer, which is written in the background."},
    **problems(400, 404, 413, 422, 429, 503),
}
READ: dict[int | str, dict[str, Any]] = {
    200: {"description": "The newest rows; or on request the answer in progress, as frames."},
    204: {"description": "On request for a stream: no answer is in progress, or its reader has received the end."},
    **problems(404, 422, 503),
}


@router.post(PATH, status_code=status.HTTP_202_ACCEPTED, response_model=ChangedMessages, responses=MADE)
@needs("ask")
async def send_message(workspace_id: str, body: NewMessage, request: Request, by: Asking) -> Any:
    """Ask your workspace a question; the answer also appears among the messages."""
    _require_own_workspace(workspace_id, by.me)
    session = await by.library.sessions.create(by.me, external_id=workspace_id, dialect=DIALECT)
    run_request = body.to_run_request(by.me, by.settings.run_knobs)
    run = await by.runner.start(session.session_id, run_request)
    if body.stream or wants_stream(request):
        return _stream(run)
    return ChangedMessages(messages=in_progress(await by.library.sessions.run(by.me, run.run_id), run.message_id))


@router.get(PATH, response_model=MessagePage, responses=READ)
@needs("ask")
async def read_messages(
    workspace_id: str, request: Request, by: Asking, limit: Limit = 100, cursor: Cursor = None
) -> Any:
    """Read the conversation with your workspace, or follow the answer in progress."""
    _require_own_workspace(workspace_id, by.me)
    session_id = await named_session(by.library.database, by.library.workspaces, by.me, DIALECT, workspace_id)
    if wants_stream(request):
        return await _follow(request, by, session_id)
    if session_id is None:
        return MessagePage(messages=[], next_cursor=None)
    return await WorkspaceMessages(by, session_id).page(limit, cursor)


@router.delete(PATH, status_code=status.HTTP_204_NO_CONTENT, responses=problems(404, 409, 422, 503))
@needs("ask")
async def begin_anew(workspace_id: str, by: Asking) -> None:
    """Delete the conversation with your workspace; the next message begins a new one."""
    _require_own_workspace(workspace_id, by.me)
    session_id = await named_session(by.library.database, by.library.workspaces, by.me, DIALECT, workspace_id)
    if session_id is not None:
        await by.library.sessions.delete(by.me, session_id)


async def _follow(request: Request, by: Asker, session_id: str | None) -> Response:
    left = resume_position(request)
    if left is not None:
        run: RunReader | None = await by.runner.join(by.me, left.run_id)
    else:
        run = await by.runner.current(by.me, session_id) if session_id else None
    if run is None:
        return Response(status_code=status.HTTP_204_NO_CONTENT)
    if run.session_id != session_id:
        raise NotFound(f"There is no run {run.run_id} in this workspace's messages.")
    seq = left.seq if left else 0
    if await run.is_over(seq):
        return Response(status_code=status.HTTP_204_NO_CONTENT)
    return _stream(run, after=seq)


def _stream(run: RunReader, *, after: int = 0) -> RunStream:
    return RunStream(run, IdCitationsEncoder(run.message_id), "continue", after=after)


def _require_own_workspace(workspace_id: str, me: Identity) -> None:
    if workspace_id != me.workspace:
        raise NotFound(f"There is no workspace {workspace_id}.")
