"""Docs chatbot routes: a documentation site's chatbot and its sessions."""

from typing import Any

from fastapi import APIRouter, Request, status
from pydantic import UUID4

from api.dependencies import Asking, needs
from api.dialects.docs_chatbot.encoder import DocsChatbotEncoder
from api.dialects.docs_chatbot.schemas import DocsQuery, DocsReply, DocsSession
from api.fields import Cursor, Limit
from api.problems import problems, run_problem
from api.stream import RunStream, stream_responses, wait_for_end, wants_stream
from graph.errors import SessionBusy
from graph.events import RunFailed

router = APIRouter(prefix="/api/docs-chat", tags=["docs_chatbot"])
DIALECT = "docs_chatbot"
LONGEST_HISTORY = 200
NEWEST_MESSAGES = 10
REPLY = stream_responses("The answer with its sources; in parts if the request accepts `text/event-stream`.")


@router.post(
    "/messages", response_model=DocsReply, responses={**REPLY, **problems(400, 404, 409, 413, 422, 429, 502, 503)}
)
@needs("ask")
async def ask_docs(body: DocsQuery, request: Request, by: Asking) -> Any:
    """Answer a question about the documentation; the first one creates a session."""
    session_id = str(body.session_id or (await by.library.sessions.create(by.me, dialect=DIALECT)).session_id)
    run = await by.runner.start(session_id, body.to_run_request(by.me, by.settings.run_knobs))
    signer = await by.library.links.signer(by.me)
    if wants_stream(request):
        return RunStream(run, DocsChatbotEncoder(signer), "cancel")
    end = await wait_for_end(run, request, "cancel")
    if isinstance(end, RunFailed):
        return run_problem(end, run.run_id)
    if not end.message["answer"]:
        raise SessionBusy("The answer was stopped before it had any text.", suggestion="Ask again.")
    messages = (await by.library.sessions.get(by.me, session_id, limit=NEWEST_MESSAGES)).messages
    answer = next(message for message in messages if message.message_id == run.message_id)
    return DocsReply.of(answer, session_id, signer)


@router.get("/sessions/{session_id}", responses=problems(404, 422, 503))
@needs("ask")
async def get_docs_session(
    session_id: UUID4, by: Asking, limit: Limit = LONGEST_HISTORY, cursor: Cursor = None
) -> DocsSession:
    """Read a session with its messages."""
    history = await by.library.sessions.get(by.me, str(session_id), limit=limit, cursor=cursor)
    return DocsSession.of(history, await by.library.links.signer(by.me))


@router.delete("/sessions/{session_id}", status_code=status.HTTP_204_NO_CONTENT, responses=problems(404, 409, 422, 503))
@needs("ask")
async def delete_docs_session(session_id: UUID4, by: Asking) -> None:
    """Delete a session with its messages."""
    await by.library.sessions.delete(by.me, str(session_id))
