"""The Self-RAG chat's route: it answers a question and its history with a stream of named events."""

from fastapi import APIRouter, Response
from sse_starlette import EventSourceResponse

from api.dependencies import Asking, needs
from api.dialects.self_rag.encoder import SelfRagEncoder
from api.dialects.self_rag.schemas import RagChatRequest
from api.problems import problems
from api.stream import RunStream, stream_responses

router = APIRouter(tags=["self_rag"])
STREAM = stream_responses("The run as named events.") | problems(400, 413, 422, 429, 503)


@router.post("/api/rag-chat/stream", response_class=EventSourceResponse, responses=STREAM)
@needs("ask")
async def stream_chat(body: RagChatRequest, by: Asking) -> Response:
    """Answer the last message of a chat that the client stores."""
    request = body.to_run_request(by.me, by.settings.run_knobs)
    session = await by.library.sessions.create(by.me, ephemeral=True, dialect="self_rag")
    return RunStream(await by.runner.start(session.session_id, request), SelfRagEncoder(), "cancel")
