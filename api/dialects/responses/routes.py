"""Routes of OpenAI's Responses API: ask, read, rejoin, cancel and delete."""

from contextlib import aclosing, suppress
from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import JSONResponse, Response

from api.dependencies import Asker, Asking, needs
from api.dialects.branch_request import branch_at_question, whole_history
from api.dialects.openai_api import DEPLOYMENT_DEFAULT, asked_model, error_responses
from api.dialects.responses.encoder import ResponsesEncoder
from api.dialects.responses.schemas import (
    CONVERSATION,
    MESSAGE,
    RESPONSE,
    DeletedResponse,
    InputItem,
    InputItems,
    ResponseOptions,
    ResponseRequest,
    response_object,
    run_of,
    unknown_response,
)
from api.problems import in_dialect_shape, run_problem
from api.stream import RunStream, wait_for_end
from graph.errors import CitewellError, InvalidRequest, NotFound
from graph.events import RunFailed, RunFinished
from tools.auth.document_links import LinkSigner
from tools.sessions.run_request import RunReader, question_id
from tools.sessions.session_store import RunStatus, Session

router = APIRouter(prefix="/v1/responses", tags=["responses"])
DIALECT = "responses"
Switch = Annotated[bool | None, Header()]
ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "`stream: true`: the events of the response. Otherwise: the response.",
        "content": {"text/event-stream": {}, "application/json": {}},
    }
}
ONE: dict[int | str, dict[str, Any]] = {200: {"description": "The response.", "content": {"application/json": {}}}}


@router.post("", response_model=None, responses={**ANSWERS, **error_responses(502, 503)})
@needs("ask")
async def create_response(
    body: ResponseRequest,
    request: Request,
    by: Asking,
    x_citewell_links: Switch = None,
) -> Response:
    """Answer the last message of the input.

    A response is stored, in a session of its own or in the one that it continues, unless `store` is false. With
    `background` the reply comes at once, or the stream may be left, and the response is read later.
    """
    body.check()
    body.question()  # so that a question that can't be asked makes no session
    name, asked, thinking = asked_model(by.settings, body.model, thinks=body.thinks)
    session_id, edit, continues = await _session(body, by)
    run_request = body.to_run_request(
        by.me, asked, thinking=thinking, knobs=by.settings.run_knobs, continues=continues, edit=edit
    )
    try:
        run = await by.runner.start(session_id, run_request)
    except CitewellError:
        if not continues:  # else each try of a full service would leave an empty session in the list
            with suppress(CitewellError):
                await by.library.sessions.delete(by.me, session_id)
        raise
    options = ResponseOptions(
        model=name,
        base_url=by.address,
        signer=await by.library.links.signer(by.me),
        steps=body.citewell.steps,
        links=bool(x_citewell_links) if body.citewell.links is None else body.citewell.links,
        background=bool(body.background),
        store=body.stored,
        previous_response_id=body.previous_response_id,
        conversation=body.conversation,
    )
    headers = {"X-Request-ID": run.run_id}
    if body.stream:
        return RunStream(run, ResponsesEncoder(options), "continue" if body.background else "cancel", headers=headers)
    if body.background:
        return JSONResponse(await _now(run, await by.library.sessions.run(by.me, run.run_id), options), headers=headers)
    end = await wait_for_end(run, request, "cancel")
    if isinstance(end, RunFailed):
        return in_dialect_shape(request.url.path, run_problem(end, run.run_id, headers))
    return JSONResponse(await _whole(run, options), headers=headers)


Stream = Annotated[bool, Query(description="Read the events of the response instead.")]
After = Annotated[int, Query(ge=-1, description="The sequence number of the last event that the reader has received.")]


@router.get("/{response_id}", response_model=None, responses={**ANSWERS, **error_responses(503)})
@needs("ask")
async def get_response(
    response_id: str,
    by: Asking,
    stream: Stream = False,
    starting_after: After = -1,
) -> Response:
    """Read a stored response, or join its stream again."""
    found, session = await _stored(by, response_id)
    run = await by.runner.join(by.me, found.run_id)
    options = _reading(by, session, await by.library.links.signer(by.me))
    if stream:
        return RunStream(run, ResponsesEncoder(replace(options, after=starting_after)), "continue")
    return JSONResponse(await _now(run, found, options))


@router.get("/{response_id}/input_items", responses=error_responses(503))
@needs("ask")
async def list_input_items(response_id: str, by: Asking) -> InputItems:
    """List the stored input of a response: its question."""
    found, _ = await _stored(by, response_id)
    message_id = (await by.runner.join(by.me, found.run_id)).message_id
    item_id = f"{MESSAGE}{question_id(message_id)}"
    item = InputItem(
        id=item_id,
        type="message",
        role="user",
        status="completed",
        content=[{"type": "input_text", "text": found.question}],
    )
    return {"object": "list", "data": [item], "first_id": item_id, "last_id": item_id, "has_more": False}


@router.post("/{response_id}/cancel", response_model=None, responses={**ONE, **error_responses(503)})
@needs("ask")
async def cancel_response(response_id: str, by: Asking) -> Response:
    """Stop a response, in the background or not; one that has ended is left as it is."""
    found, session = await _stored(by, response_id)
    run = await by.runner.join(by.me, found.run_id)
    await run.cancel("cancel_requested")
    options = _reading(by, session, await by.library.links.signer(by.me))
    return JSONResponse(await _now(run, await by.library.sessions.run(by.me, found.run_id), options))


@router.delete("/{response_id}", responses=error_responses(503))
@needs("ask")
async def delete_response(response_id: str, by: Asking) -> DeletedResponse:
    """Delete a response with its session, if it is the only one there."""
    found, session = await _stored(by, response_id)
    others = await by.library.sessions.list_runs(by.me, session_id=session.session_id, limit=2)
    if len(others.runs) > 1:
        raise InvalidRequest(
            "response_id: it is part of a conversation, and can't be deleted alone.",
            suggestion=f"DELETE /api/sessions/{session.session_id} deletes the conversation.",
        )
    await by.library.sessions.delete(by.me, session.session_id)
    return {"id": f"{RESPONSE}{found.run_id}", "object": "response", "deleted": True}


async def _session(body: ResponseRequest, by: Asker) -> tuple[str, str | None, bool]:
    """Return the session of a request, the question beside which its own stands, and whether the session goes on.

    An answer in the input that bears our id stands for the response that it came with, as ``previous_response_id``
    does; one that is no longer stored is read as it was sent.
    """
    if body.previous_response_id is not None:
        session, edit = await _following(by, body.previous_response_id, "previous_response_id")
        return session, edit, True
    if body.conversation is not None:
        return await _conversation(by, body.conversation), None, True
    if body.stored and (named := body.answered_before) is not None:
        run_id, field = named
        try:
            session, edit = await _following(by, f"{RESPONSE}{run_id}", field)
        except NotFound:
            if body.only_refers:
                raise unknown_response(f"{MESSAGE}{run_id}", field) from None
        else:
            return session, edit, True
    made = await by.library.sessions.create(by.me, ephemeral=not body.stored, dialect=DIALECT)
    return made.session_id, None, False


async def _following(by: Asker, response_id: str, field: str) -> tuple[str, str | None]:
    """Return the session of a response, and the question that already follows it there, if any."""
    found, session = await _stored(by, response_id, field)
    answer = (await by.runner.join(by.me, found.run_id)).message_id
    try:
        history = await whole_history(by.library, by.me, session.session_id, branch=answer)
    except NotFound:  # it failed, and so left a question without an answer
        history = await whole_history(by.library, by.me, session.session_id)
    return session.session_id, branch_at_question(history, [answer], first=False).edit


async def _conversation(by: Asker, name: str) -> str:
    session_id = run_of(CONVERSATION, name)
    if session_id is not None:
        return (await by.library.sessions.get(by.me, session_id, limit=1)).session.session_id
    return (await by.library.sessions.create(by.me, external_id=name, dialect=DIALECT)).session_id


async def _stored(by: Asker, response_id: str, field: str = "") -> tuple[RunStatus, Session]:
    run_id = run_of(RESPONSE, response_id)
    if run_id is None:
        raise unknown_response(response_id, field)
    try:
        found = await by.library.sessions.run(by.me, run_id)
        session = (await by.library.sessions.get(by.me, found.session_id, limit=1)).session
    except NotFound:
        raise unknown_response(response_id, field) from None
    if session.ephemeral:
        raise unknown_response(response_id, field)
    return found, session


def _reading(by: Asker, session: Session, signer: LinkSigner | None) -> ResponseOptions:
    """Return the options of a response that is read again; its model is told by the run."""
    conversation = session.external_id if session.dialect == DIALECT else None
    return ResponseOptions(model="", base_url=by.address, signer=signer, conversation=conversation)


async def _now(run: RunReader, status: RunStatus, options: ResponseOptions) -> dict[str, Any]:
    """Return a response as it is now, without output while it is not finished."""
    if status.status == "finished":
        return await _whole(run, options)
    state = "queued" if status.status == "queued" else "in_progress"
    known = replace(options, model=options.model or DEPLOYMENT_DEFAULT[-1])
    return response_object(run.run_id, int(status.created_at.timestamp()), state, known)


async def _whole(run: RunReader, options: ResponseOptions) -> dict[str, Any]:
    """Return the response of a run that has ended."""
    encoder = ResponsesEncoder(options)
    end: Any = None
    async with aclosing(run.events()) as events:
        async for envelope in events:
            encoder.encode(envelope)
            end = envelope.event
    if isinstance(end, RunFailed):
        return encoder.failed(end)
    assert isinstance(end, RunFinished)
    return encoder.finished(end)
