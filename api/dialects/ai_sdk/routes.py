"""AI SDK routes: ask in a chat, rejoin its stream, read its history, and stop it.

Closing the connection does not stop a run, so there is a route for it.
"""

from typing import Annotated, Any, Literal, get_args

from fastapi import APIRouter, Depends, Header, Path, Response, status
from fastapi.responses import RedirectResponse

from api.dependencies import Asker, Asking, needs
from api.dialects.ai_sdk.encoder import HEADERS, AiSdkEncoder
from api.dialects.ai_sdk.schemas import ChatHistory, ClientFeature, UIChatRequest, ui_messages
from api.dialects.branch_request import (
    BranchPoint,
    as_regeneration,
    branch_at_answer,
    branch_at_last_answer,
    branch_at_question,
    whole_history,
)
from api.fields import Cursor, Limit, Name
from api.problems import problems
from api.stream import RunStream, stream_responses
from graph.errors import NotFound
from tools.sessions.session_store import StoredMessage, named_session

router = APIRouter(tags=["ai_sdk"])
DIALECT = "ai_sdk"
ChatId = Annotated[Name, Path(description="The chat's id, chosen by the client.")]


# One text, not a list: generated clients can send no lists in headers.
_FEATURES = rf"^[ ,]*(?:(?:{'|'.join(get_args(ClientFeature))})(?:[ ,]+|$))*$"


def _accepted(
    sent: Annotated[
        str,
        Header(
            alias="x-citewell-accept",
            pattern=_FEATURES,
            description="Features that the client understands and some releases do not, with commas between them.",
        ),
    ] = "",
) -> list[ClientFeature]:
    """Return the features that the header lists."""
    return [each for each in get_args(ClientFeature) if each in sent]


Accepts = Annotated[list[ClientFeature], Depends(_accepted)]
STREAM = stream_responses("One assistant message as a UI message stream, version 1.")


AS_AG_UI: dict[int | str, dict[str, Any]] = {307: {"description": "A run of AG-UI: ask `/agui`."}}


@router.post(
    "/api/chat", responses={**STREAM, **AS_AG_UI, **problems(400, 409, 413, 422, 429, 503)}, response_class=Response
)
@needs("ask")
async def chat(body: UIChatRequest, by: Asking, accepts: Accepts) -> Response:
    """Ask a chat's next question, edit one, or regenerate an answer.

    The run continues when its reader leaves, so that the stream can be joined again, unless `on_disconnect` is
    `cancel`. Another question interrupts it, unless `while_running` has another value. A chat without an id is not
    stored: its run is cancelled when its reader leaves; one that has the `runId` of AG-UI is sent on to `/agui`.
    """
    named = body.id is not None
    if not named and body.run_id is not None:
        return RedirectResponse("../agui", status.HTTP_307_TEMPORARY_REDIRECT)  # which the client asks again
    question = body.question()
    session = await by.library.sessions.create(by.me, external_id=body.id, ephemeral=not named, dialect=DIALECT)
    while_running = body.while_running or "interrupt"
    fork = BranchPoint()
    if named and (body.trigger == "regenerate-message" or body.message_id is not None):
        if while_running == "interrupt":
            await _stop(by, session.session_id)  # so that the history has its partial answer
        fork = _fork(body, await whole_history(by.library, by.me, session.session_id))
    request = body.to_run_request(
        question,
        by.me,
        by.settings.run_knobs,
        while_running=while_running,
        edit=fork.edit,
        regenerate=fork.regenerate,
        history=None if named else body.history(),
    )
    run = await by.runner.start(session.session_id, request)
    dialect = AiSdkEncoder({*body.accepts, *accepts})
    return RunStream(run, dialect, body.on_disconnect or ("continue" if named else "cancel"), headers=HEADERS)


@router.get(
    "/api/chat/{chat_id}/stream",
    responses={**STREAM, 204: {"description": "Nothing is being answered."}, **problems(422, 503)},
    response_class=Response,
)
@needs("ask")
async def join_chat(chat_id: ChatId, by: Asking, accepts: Accepts) -> Response:
    """Join the answer in progress of a chat, from the start of the message."""
    session_id = await named_session(by.library.database, by.library.workspaces, by.me, DIALECT, chat_id)
    run = None if session_id is None else await by.runner.current(by.me, session_id)
    if run is None:
        return Response(status_code=status.HTTP_204_NO_CONTENT)
    return RunStream(run, AiSdkEncoder(accepts), "continue", headers=HEADERS)


@router.get("/api/chat/{chat_id}", responses=problems(404, 422, 503))
@needs("ask")
async def get_chat(chat_id: ChatId, by: Asking, limit: Limit = 100, cursor: Cursor = None) -> ChatHistory:
    """Read a chat's newest messages in the client's format, for a page that is opened again."""
    history = await by.library.sessions.get(by.me, await _session(by, chat_id), limit=limit, cursor=cursor)
    return ChatHistory(
        id=chat_id,
        title=history.session.title,
        messages=ui_messages(history.shown),
        next_cursor=history.next_cursor,
    )


@router.delete("/api/chat/{chat_id}/stream", status_code=status.HTTP_204_NO_CONTENT, responses=problems(404, 422, 503))
@needs("ask")
async def stop_chat(chat_id: ChatId, by: Asking) -> None:
    """Stop the answer in progress of a chat, and wait until that is recorded; without one, do nothing."""
    await _stop(by, await _session(by, chat_id), "cancel_requested")


async def _session(by: Asker, chat_id: str) -> str:
    session_id = await named_session(by.library.database, by.library.workspaces, by.me, DIALECT, chat_id)
    if session_id is None:
        raise NotFound(f"There is no chat {chat_id}.")
    return session_id


async def _stop(by: Asker, session_id: str, reason: Literal["cancel_requested", "interrupted"] = "interrupted") -> None:
    """Cancel the active run of a session and those that wait, each once."""
    stopped: set[str] = set()
    while (run := await by.runner.current(by.me, session_id)) is not None and run.run_id not in stopped:
        stopped.add(run.run_id)
        await run.cancel(reason)


def _fork(body: UIChatRequest, history: list[StoredMessage]) -> BranchPoint:
    above = body.sent_messages[:-1]
    answers = [message.id for message in above if message.role == "assistant"]
    if body.trigger == "submit-message":
        return branch_at_question(history, answers, first=body.message is None and not above)
    if body.message_id is not None and (fork := branch_at_answer(history, body.message_id)) != BranchPoint():
        return fork
    if body.message is not None:
        return branch_at_last_answer(history)
    return as_regeneration(history, branch_at_question(history, answers, first=not above))
