"""Native routes: sessions, runs (start, join, cancel) and lists of runs."""

from collections.abc import AsyncIterator
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Header, Query, Request, Response, status
from pydantic import TypeAdapter
from sse_starlette import EventSourceResponse, ServerSentEvent

from api.dependencies import Asking, needs
from api.dialects.native.encoder import NativeEncoder
from api.dialects.native.schemas import (
    FinishedRun,
    NewRun,
    NewSession,
    RunList,
    SessionChange,
    SessionDetail,
    SessionList,
    SessionTitle,
    detail_as_json,
    message_as_json,
)
from api.fields import Cursor, Limit, Name, optional
from api.problems import problems, run_problem
from api.stream import HEADERS, PING_SECONDS, RunStream, resume_position, stream_responses, wait_for_end
from graph.errors import InvalidRequest
from graph.events import RunFailed, VerdictsUpgraded
from tools.sessions.session_store import RunState, RunStatus, Session

Search = Annotated[
    Name | None, Query(description="Words to look for in titles, questions and answers, as the beginnings of words.")
]
sessions_router = APIRouter(prefix="/api/sessions", tags=["sessions"])
Branch = Annotated[
    UUID | None, Query(description="A message id: read the branch through it instead of the last used one.")
]


@sessions_router.post("", status_code=status.HTTP_201_CREATED, responses=problems(422, 503))
@needs("ask")
async def create_session(body: NewSession, by: Asking) -> Session:
    """Create a session."""
    return await by.library.sessions.create(
        by.me,
        title=body.title,
        page_id=optional(body.page_id),
        page_ids=[str(page_id) for page_id in body.page_ids],
        collection_ids=[str(each) for each in body.collection_ids],
        ephemeral=body.ephemeral,
    )


@sessions_router.get("", responses=problems(422, 503))
@needs("ask", lists=True)
async def list_sessions(by: Asking, limit: Limit = 50, cursor: Cursor = None, query: Search = None) -> SessionList:
    """List your sessions, pinned ones first, then the last used; or those in which all words of `query` stand."""
    if query is not None:
        found = await by.library.sessions.search(by.me, query, limit=limit, cursor=cursor)
        hits = [each.hit for each in found.found if each.hit is not None]
        return SessionList(sessions=[each.session for each in found.found], next_cursor=found.next_cursor, hits=hits)
    page = await by.library.sessions.list(by.me, limit=limit, cursor=cursor)
    return SessionList(sessions=page.sessions, next_cursor=page.next_cursor)


@sessions_router.get("/{session_id}", response_model=SessionDetail, responses=problems(404, 422, 503))
@needs("ask")
async def get_session(
    session_id: UUID, by: Asking, limit: Limit = 100, cursor: Cursor = None, branch: Branch = None
) -> Any:
    """Read a session with the messages of a branch, their citations and sources."""
    history = await by.library.sessions.get_encoded(
        by.me, str(session_id), message_as_json, limit=limit, cursor=cursor, branch=optional(branch)
    )
    return Response(detail_as_json(history), media_type="application/json")


@sessions_router.patch("/{session_id}", responses=problems(404, 422, 503))
@needs("ask")
async def change_session(session_id: UUID, body: SessionChange, by: Asking) -> Session:
    """Rename a session, select other pages or collections in it, or pin it."""
    page_ids = None if body.page_ids is None else [str(page_id) for page_id in body.page_ids]
    collection_ids = None if body.collection_ids is None else [str(each) for each in body.collection_ids]
    return await by.library.sessions.change(
        by.me, str(session_id), title=body.title, page_ids=page_ids, collection_ids=collection_ids, pinned=body.pinned
    )


@sessions_router.post("/{session_id}/auto-title", responses=problems(404, 422, 503))
@needs("ask")
async def title_session(session_id: UUID, by: Asking) -> SessionTitle:
    """Title a session after its first question unless it has a title, and return the title."""
    title = await by.library.sessions.auto_title(by.me, str(session_id))
    return SessionTitle(session_id=str(session_id), title=title)


@sessions_router.delete("/{session_id}", status_code=status.HTTP_204_NO_CONTENT, responses=problems(404, 409, 422, 503))
@needs("ask")
async def delete_session(session_id: UUID, by: Asking) -> None:
    """Delete a session with its messages, runs and checkpoints."""
    await by.library.sessions.delete(by.me, str(session_id))


LastEventId = Annotated[str | None, Header(description="The id of the last event that the reader has received.")]
_UPGRADED = TypeAdapter(VerdictsUpgraded)


@sessions_router.get(
    "/{session_id}/events",
    response_class=Response,
    responses={
        **stream_responses("`verdicts_upgraded` for each answer whose judge's exam is over, with all its claims."),
        204: {"description": "No answer of the session waits for the exam of a judge."},
        **problems(404, 422, 503),
    },
)
@needs("ask")
async def follow_session(session_id: UUID, by: Asking, last_event_id: LastEventId = None) -> Response:
    """Follow what becomes of a session's answers that a judge judged before its exam, until that is over."""
    events = by.library.session_events
    try:
        after = datetime.fromisoformat(last_event_id) if last_event_id else None
        if after is not None and after.tzinfo is None:
            raise ValueError
    except ValueError:
        raise InvalidRequest("Last-Event-ID: it is not an event id of a session.") from None
    if not await events.waits(by.me, str(session_id), after):
        return Response(status_code=status.HTTP_204_NO_CONTENT)
    frames = _upgrades(events.follow(by.me, str(session_id), after=after))
    return EventSourceResponse(frames, headers=HEADERS, ping=PING_SECONDS, sep="\n")


async def _upgrades(events: AsyncIterator[VerdictsUpgraded]) -> AsyncIterator[ServerSentEvent]:
    async for event in events:
        yield ServerSentEvent(_UPGRADED.dump_json(event).decode(), event=event.type, id=event.at, sep="\n")


runs_router = APIRouter(tags=["runs"])
EVENTS = stream_responses(
    "`stream: true`: the run's events as they happen. `stream: false`: the finished run.",
    {"$ref": "#/components/schemas/RunEvent"},
)


@runs_router.post(
    "/api/sessions/{session_id}/runs",
    response_model=FinishedRun,
    responses={**EVENTS, **problems(400, 404, 409, 413, 422, 429, 502, 503)},
)
@needs("ask")
async def start_run(session_id: UUID, body: NewRun, request: Request, by: Asking) -> Any:
    """Ask a question in a session."""
    ticked = [str(page_id) for page_id in body.page_ids]
    collections = [str(each) for each in body.collection_ids]
    collected = await by.library.collections.resolve(by.me, collections, beside=ticked)
    run = await by.runner.start(str(session_id), body.to_run_request(by.me, by.settings.run_knobs, collected))
    if body.stream:
        return RunStream(run, NativeEncoder(), body.on_disconnect)
    end = await wait_for_end(run, request, body.on_disconnect)
    if isinstance(end, RunFailed):
        return run_problem(end, run.run_id)
    return FinishedRun.of(run, end)


@runs_router.get("/api/runs/{run_id}", responses=problems(404, 422, 503))
@needs("ask")
async def get_run(run_id: UUID, by: Asking) -> RunStatus:
    """Return the status of a run."""
    return await by.library.sessions.run(by.me, str(run_id))


@runs_router.get(
    "/api/runs/{run_id}/stream",
    response_class=Response,
    responses={**EVENTS, 204: {"description": "The reader has received the whole run."}, **problems(404, 422, 503)},
)
@needs("ask")
async def join_run(run_id: UUID, request: Request, by: Asking, last_event_id: LastEventId = None) -> Any:
    """Join a run, or join it again: all its events, or those after `Last-Event-ID`."""
    position = resume_position(request)
    if position is not None and position.run_id != str(run_id):
        raise InvalidRequest("Last-Event-ID: it belongs to another run.")
    run = await by.runner.join(by.me, str(run_id))
    after = position.seq if position is not None else 0
    if after and await run.is_over(after):
        return Response(status_code=status.HTTP_204_NO_CONTENT)
    return RunStream(run, NativeEncoder(), "continue", after=after)


@runs_router.post("/api/runs/{run_id}/cancel", responses=problems(404, 422, 503))
@needs("ask")
async def cancel_run(run_id: UUID, by: Asking) -> RunStatus:
    """Cancel a run in whichever process it is, and return its status; a run that has ended is left as it is."""
    await (await by.runner.join(by.me, str(run_id))).cancel("cancel_requested")
    return await by.library.sessions.run(by.me, str(run_id))


Status = Annotated[RunState | None, Query(description="Only runs in this state.")]


@runs_router.get("/api/runs", responses=problems(422, 503))
@needs("ask", lists=True)
async def list_runs(by: Asking, status: Status = None, limit: Limit = 50, cursor: Cursor = None) -> RunList:
    """List your runs, newest first."""
    page = await by.library.sessions.list_runs(by.me, status=status, limit=limit, cursor=cursor)
    return RunList(runs=page.runs, next_cursor=page.next_cursor)


@runs_router.get("/api/sessions/{session_id}/runs", responses=problems(404, 422, 503))
@needs("ask")
async def list_runs_of_session(
    session_id: UUID, by: Asking, status: Status = None, limit: Limit = 50, cursor: Cursor = None
) -> RunList:
    """List the runs of a session, newest first."""
    listed = by.library.sessions.list_runs
    page = await listed(by.me, session_id=str(session_id), status=status, limit=limit, cursor=cursor)
    return RunList(runs=page.runs, next_cursor=page.next_cursor)


router = APIRouter()
router.include_router(sessions_router)
router.include_router(runs_router)
