"""The Self-RAG chat: a question with the messages before it, answered as it is decided, retrieved and written."""

from fastapi import APIRouter, Response
from sse_starlette import EventSourceResponse

from api.dependencies import AppSettings, Me, OpenLibrary, OpenRunner
from api.dialects.self_rag import SelfRagDialect
from api.errors import problems
from api.schemas.self_rag import RagChatRequest
from api.stream import RunStream, streamed

router = APIRouter(tags=["self_rag"])
STREAM = streamed("The run as named events.") | problems(400, 413, 422, 503)


@router.post("/api/rag-chat/stream", response_class=EventSourceResponse, responses=STREAM)
async def stream_chat(
    body: RagChatRequest, me: Me, settings: AppSettings, library: OpenLibrary, runner: OpenRunner
) -> Response:
    """Answer the last message of a chat that its client keeps."""
    request = body.request(me, settings.run_knobs)
    session = await library.sessions.create(me, ephemeral=True, dialect="self_rag")
    return RunStream(await runner.start(session.session_id, request), SelfRagDialect(), "cancel")
