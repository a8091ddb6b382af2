"""Conversation routes: ask a question and follow it with an EventSource.

An EventSource can't read the body of an error status, so a refusal is a frame too.
"""

from collections.abc import Callable, Coroutine
from contextlib import aclosing
from dataclasses import replace
from typing import Annotated, Any
from uuid import uuid4

from fastapi import APIRouter, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from sse_starlette import EventSourceResponse

from api.dependencies import Asker, Asking, needs
from api.dialects.conversation.encoder import ConversationEncoder, failure_data
from api.dialects.conversation.schemas import ConversationQuestion
from api.event_frames import frame
from api.fields import knobs_with
from api.problems import describe_fault, problems
from api.stream import HEADERS, MEDIA_TYPE, RunStream, StreamPosition, resume_position, stream_responses, wants_stream
from graph.context import Context
from graph.errors import CitewellError, InvalidRequest
from graph.events import TERMINAL, Envelope
from tools.sessions.run_request import AlreadyAsked, RunReader, RunRequest

# An EventSource reconnects with the last id that it received, until it is closed or answered with 204.
REFUSED_ID = "refused"


class EventSourceRoute(APIRoute):
    """A route that answers with an `error` frame instead of a problem if the request accepts ``text/event-stream``."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler, with refusals as frames for clients that read only those."""
        handle = super().get_route_handler()

        async def framed(request: Request) -> Response:
            if request.headers.get("last-event-id") == REFUSED_ID:
                return Response(status_code=204)
            try:
                return await handle(request)
            except (CitewellError, RequestValidationError) as error:
                if not wants_stream(request):
                    raise
                return refusal(error, again="last-event-id" in request.headers)

        return framed


def refusal(error: CitewellError | RequestValidationError, *, again: bool = False) -> Response:
    """Return the stream of a refused request: one frame, with an id that stops the client from reconnecting.

    A reader that has reconnected (``again``) keeps its own id if the error is retryable, so that it can do so again.
    """
    if isinstance(error, RequestValidationError):
        error = InvalidRequest("; ".join(describe_fault(item) for item in error.errors()))
    retryable = type(error).retryable
    data = failure_data(error.code, error.message, error.advice, retryable=retryable)
    content = frame(data, event_id=None if again and retryable else REFUSED_ID)
    return Response(content, media_type=MEDIA_TYPE, headers=HEADERS)


DIALECT = "conversation"
PATH = "/api/rag/query-stream"
PING_SECONDS = 30
SWEPT_SEQ = 999_999_999  # for an end whose log is no longer kept: after every event of a log

router = APIRouter(tags=["conversation"], route_class=EventSourceRoute)
STREAM: dict[int | str, dict[str, Any]] = {
    **stream_responses("Frames of JSON with a `type`."),
    204: {"description": "The reconnecting reader has received the end: an EventSource stops here."},
    **problems(400, 404, 409, 413, 422, 429, 503),
}


@router.get(PATH, response_class=EventSourceResponse, responses=STREAM)
@needs("ask")
async def ask_by_event_source(
    question: Annotated[ConversationQuestion, Query()],
    request: Request,
    by: Asking,
) -> Response:
    """Ask a question in a conversation; a reader that reconnects with `Last-Event-ID` gets what it missed."""
    return await _answer(question, request, by)


@router.post(PATH, response_class=EventSourceResponse, responses=STREAM)
@needs("ask")
async def ask_in_conversation(question: ConversationQuestion, request: Request, by: Asking) -> Response:
    """Ask a question in a conversation, as JSON."""
    return await _answer(question, request, by)


async def _answer(question: ConversationQuestion, request: Request, by: Asker) -> Response:
    if (left := resume_position(request)) is not None:
        return await _rejoin(left, question, by)
    me, runner = by.me, by.runner
    conversation_id = question.conversation_id or str(uuid4())
    session = await by.library.sessions.create(me, external_id=conversation_id, dialect=DIALECT)
    knobs = knobs_with(by.settings.run_knobs, question.answer_from)
    context = Context.of(me, thinking=question.thinking, **knobs)
    # A page may open its EventSource twice, and one that lost its connection early asks again: that joins the run.
    once = request.method == "GET" and question.conversation_id is not None
    try:
        run = await runner.start(
            session.session_id, RunRequest(question.query, context, while_running="enqueue", once=once)
        )
    except AlreadyAsked as asked:
        return _stream(await runner.join(me, asked.run_id), conversation_id, question)
    # Closing an EventSource is how its client stops an answer. A connection that broke looks the same, so the run goes
    # on until the next question shows which of the two it was.
    await runner.cancel_abandoned_predecessors(run)
    return _stream(run, conversation_id, question)


async def _rejoin(left: StreamPosition, question: ConversationQuestion, by: Asker) -> Response:
    run = await by.runner.join(by.me, left.run_id)
    if left.seq == SWEPT_SEQ or await run.is_over(left.seq):
        return Response(status_code=204)
    session = (await by.library.sessions.get(by.me, run.session_id, limit=1)).session
    conversation_id = session.external_id or session.session_id
    if (end := await _end_without_log(run)) is not None:
        frames = ConversationEncoder(conversation_id, run.message_id).encode(replace(end, seq=SWEPT_SEQ))
        last = frames.removesuffix(b"\n\n").rpartition(b"\n\n")[2]  # the reader has some of the frames before it
        return Response(last + b"\n\n", media_type=MEDIA_TYPE, headers=HEADERS)
    return _stream(run, conversation_id, question, after=left.seq)


async def _end_without_log(run: RunReader) -> Envelope | None:
    """Return the end of a run whose log is no longer kept, or None if there is a log."""
    async with aclosing(run.events()) as events:
        first = await anext(events)
    return first if isinstance(first.event, TERMINAL) else None


def _stream(run: RunReader, conversation_id: str, question: ConversationQuestion, *, after: int = 0) -> RunStream:
    dialect = ConversationEncoder(
        conversation_id, run.message_id, progress=question.progress, thinking=question.thinking
    )
    # An EventSource reconnects by itself, so a disconnect does not mean that its reader has left.
    return RunStream(run, dialect, "continue", after=after, ping=PING_SECONDS)
