"""The route of Anthropic's Messages API."""

from http import HTTPStatus
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from api.dependencies import Asking, needs
from api.dialects.messages.encoder import MessagesEncoder
from api.dialects.messages.schemas import PREFIX, MessageForm, MessagesErrorBody, MessagesRequest, whole_message
from api.dialects.openai_api import asked_model, thoughts_of
from api.problems import in_dialect_shape, run_problem
from api.stream import RunStream, wait_for_end
from graph.events import RunFailed

router = APIRouter(prefix=PREFIX, tags=["messages"])
RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "`stream: true`: the events of a message. Otherwise: the message.",
        "content": {"text/event-stream": {}, "application/json": {}},
    },
    "4XX": {"model": MessagesErrorBody, "description": "The request cannot be served as it is."},
    **{status: {"model": MessagesErrorBody, "description": HTTPStatus(status).phrase} for status in (502, 503)},
}


@router.post("", response_model=None, responses=RESPONSES)
@needs("ask")
async def create_message(body: MessagesRequest, request: Request, by: Asking) -> Response:
    """Answer the last message of a conversation in blocks of text with citations."""
    name, asked, thinking = asked_model(by.settings, body.model, thinks=body.thinks)
    run_request = body.to_run_request(by.me, asked, thinking=thinking, knobs=by.settings.run_knobs)
    session_id = body.session_id
    if session_id is None:
        session_id = (await by.library.sessions.create(by.me, ephemeral=True, dialect="messages")).session_id
    run = await by.runner.start(session_id, run_request)
    options = MessageForm(name, by.address, await by.library.links.signer(by.me), thinking=body.thinks)
    headers = {"X-Request-ID": run.run_id, "Request-ID": run.run_id}
    if body.stream:
        return RunStream(run, MessagesEncoder(options), body.citewell.on_disconnect or "cancel", headers=headers)
    end = await wait_for_end(run, request, "cancel")
    if isinstance(end, RunFailed):
        return in_dialect_shape(request.url.path, run_problem(end, run.run_id, headers))
    thoughts = await thoughts_of(run, end) if body.thinks else ""
    return JSONResponse(whole_message(run.run_id, run.session_id, end, options, thinking=thoughts), headers=headers)
