"""OpenAI routes: models, and chat completions."""

import time
from typing import Annotated, Any

from fastapi import APIRouter, Header, Request
from fastapi.responses import JSONResponse, Response

from api.dependencies import Asking, needs
from api.dialects.openai.encoder import OpenAIEncoder, text_chunks
from api.dialects.openai.interface_tasks import answer_to_task
from api.dialects.openai.schemas import CompletionForm, CompletionRequest, completion, text_completion
from api.dialects.openai_api import (
    Model,
    ModelList,
    asked_model,
    error_responses,
    models_of,
    resolve_model,
    thoughts_of,
)
from api.problems import in_dialect_shape, run_problem
from api.stream import HEADERS, RunStream, wait_for_end
from graph.events import RunFailed
from tools.auth.identities import SCOPES
from tools.sessions.run_request import RunReader

router = APIRouter(prefix="/v1", tags=["openai"])

Switch = Annotated[bool | None, Header()]
ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "`stream: true`: chunks of a chat completion. Otherwise: the chat completion.",
        "content": {"text/event-stream": {}, "application/json": {}},
    }
}


@router.get("/models", responses=error_responses(503))
@needs(*SCOPES)
async def list_models(by: Asking) -> ModelList:
    """List the models that a request may name, the deployment's default first."""
    return ModelList(data=models_of(by.settings))


@router.get("/models/{model:path}", responses=error_responses(503))
@needs(*SCOPES)
async def get_model(model: str, by: Asking) -> Model:
    """Describe a model."""
    name = resolve_model(by.settings, model)
    return next(each for each in models_of(by.settings) if each.id == name)


@router.post("/chat/completions", response_model=None, responses={**ANSWERS, **error_responses(502, 503)})
@needs("ask")
async def complete(
    body: CompletionRequest,
    request: Request,
    by: Asking,
    x_citewell_events: Switch = None,
    x_citewell_links: Switch = None,
) -> Response:
    """Answer the last message of a conversation."""
    name, asked, thinking = asked_model(by.settings, body.model, thinks=body.thinks)
    if (task := await answer_to_task(body.task)) is not None:
        return _without_run(task, body, name)
    run_request = body.to_run_request(by.me, asked, thinking=thinking, knobs=by.settings.run_knobs)
    session_id = body.session_id
    if session_id is None:
        session_id = (await by.library.sessions.create(by.me, ephemeral=True, dialect="openai")).session_id
    run = await by.runner.start(session_id, run_request)
    options = CompletionForm(
        model=name,
        base_url=by.address,
        signer=await by.library.links.signer(by.me),
        usage=bool(body.stream_options and body.stream_options.include_usage),
        events=_first(body.citewell.events, x_citewell_events),
        links=_first(body.citewell.links, x_citewell_links),
    )
    headers = {"X-Request-ID": run.run_id}
    if body.stream:
        return RunStream(run, OpenAIEncoder(options), "cancel", headers=headers)
    return await _whole(run, request, options, headers)


def _without_run(text: str, body: CompletionRequest, model: str) -> Response:
    made = text_completion(text, model, created=int(time.time()))
    if not body.stream:
        return JSONResponse(made)
    return Response(text_chunks(made, text), media_type="text/event-stream", headers=HEADERS)


async def _whole(run: RunReader, request: Request, options: CompletionForm, headers: dict[str, str]) -> Response:
    end = await wait_for_end(run, request, "cancel")
    if isinstance(end, RunFailed):
        return in_dialect_shape(request.url.path, run_problem(end, run.run_id, headers))
    content = completion(
        run.run_id, run.session_id, end, options, created=int(time.time()), thinking=await thoughts_of(run, end)
    )
    return JSONResponse(content, headers=headers)


def _first(value: bool | None, header: bool | None) -> bool:
    return bool(header) if value is None else value
