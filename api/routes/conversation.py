"""Questions of a conversation, asked and followed by an EventSource."""

from contextlib import aclosing
from dataclasses import replace
from typing import Annotated, Any
from uuid import uuid4

from fastapi import APIRouter, Query, Request, Response
from sse_starlette import EventSourceResponse

from api.asking import LeftOff, left_off
from api.dependencies import AppSettings, Me, OpenLibrary, OpenRunner
from api.dialects.conversation import ConversationDialect
from api.errors import problems
from api.event_source import FramedRoute
from api.schemas.conversation import AskedInConversation
from api.stream import HEADERS, MEDIA_TYPE, RunStream, streamed
from graph.context import Context
from graph.events import TERMINAL, Envelope
from graph.evidence import Identity
from tools.resources import Library
from tools.runner import Runner
from tools.runs import RunReader, RunRequest

DIALECT = "conversation"
PATH = "/api/rag/query-stream"
PING_SECONDS = 30
SWEPT = 999_999_999  # the place of an end whose log is no longer kept: behind every event that a log holds

router = APIRouter(tags=["conversation"], route_class=FramedRoute)
STREAM: dict[int | str, dict[str, Any]] = {
    **streamed("Frames of JSON with a `type`."),
    204: {"description": "The reader that comes back has had the end: an EventSource stops here."},
    **problems(400, 404, 409, 413, 422, 503),
}


@router.get(PATH, response_class=EventSourceResponse, responses=STREAM)
async def ask_by_event_source(
    asked: Annotated[AskedInConversation, Query()],
    request: Request,
    me: Me,
    settings: AppSettings,
    library: OpenLibrary,
    runner: OpenRunner,
) -> Response:
    """Ask a question in a conversation; a reader that comes back with `Last-Event-ID` is told what it missed."""
    return await _tell(asked, request, me, settings.run_knobs, library, runner)


@router.post(PATH, response_class=EventSourceResponse, responses=STREAM)
async def ask_in_conversation(
    asked: AskedInConversation,
    request: Request,
    me: Me,
    settings: AppSettings,
    library: OpenLibrary,
    runner: OpenRunner,
) -> Response:
    """Ask a question in a conversation, as JSON."""
    return await _tell(asked, request, me, settings.run_knobs, library, runner)


async def _tell(
    asked: AskedInConversation, request: Request, me: Identity, knobs: dict[str, Any], library: Library, runner: Runner
) -> Response:
    if (left := left_off(request)) is not None:
        return await _rejoin(left, asked, me, library, runner)
    conversation_id = asked.conversation_id or str(uuid4())
    session = await library.sessions.create(me, external_id=conversation_id, dialect=DIALECT)
    run: RunReader | None = None
    if request.method == "GET" and asked.conversation_id:
        run = await _asked_already(asked, session.session_id, me, library, runner)
    if run is None:
        context = Context(workspace=me.workspace, user=me.user, thinking=asked.thinking, **knobs)
        question = RunRequest(asked.query, context, while_running="enqueue")
        run = await runner.start(session.session_id, question)
    return _stream(run, conversation_id, asked)


async def _rejoin(
    left: LeftOff, asked: AskedInConversation, me: Identity, library: Library, runner: Runner
) -> Response:
    run = await runner.join(me, left.run_id)
    if left.seq == SWEPT or await run.is_over(left.seq):
        return Response(status_code=204)
    session = (await library.sessions.get(me, run.session_id, limit=1)).session
    conversation_id = session.external_id or session.session_id
    if (end := await _end_without_log(run)) is not None:
        told = ConversationDialect(conversation_id, run.message_id).speak(replace(end, seq=SWEPT))
        last = told.removesuffix(b"\n\n").rpartition(b"\n\n")[2]  # the reader has had some of what comes before it
        return Response(last + b"\n\n", media_type=MEDIA_TYPE, headers=HEADERS)
    return _stream(run, conversation_id, asked, after=left.seq)


async def _end_without_log(run: RunReader) -> Envelope | None:
    """Give the end of a run whose log is no longer kept; None where there is a log."""
    async with aclosing(run.events()) as events:
        first = await anext(events)
    return first if isinstance(first.event, TERMINAL) else None


async def _asked_already(
    asked: AskedInConversation, session_id: str, me: Identity, library: Library, runner: Runner
) -> RunReader | None:
    """Find the run that is answering this very question: a page that opens its EventSource twice asks once."""
    run = await runner.current(me, session_id)
    if run is None or (await library.sessions.run(me, run.run_id)).question != asked.query:
        return None
    return run


def _stream(run: RunReader, conversation_id: str, asked: AskedInConversation, *, after: int = 0) -> RunStream:
    dialect = ConversationDialect(conversation_id, run.message_id, progress=asked.progress, thinking=asked.thinking)
    # An EventSource drops its connection and comes back by itself, so leaving does not mean that nobody reads on.
    return RunStream(run, dialect, "continue", after=after, ping=PING_SECONDS)
