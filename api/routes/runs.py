"""Runs: a question asked of a session, told as it is answered or given when it is done."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Header, Request, Response, status

from api.asking import left_off
from api.dependencies import AppSettings, Me, OpenLibrary, OpenRunner
from api.dialects import DIALECTS
from api.errors import problem, problems
from api.schemas.runs import FinishedRun, NewRun
from api.stream import RunStream, end_of, streamed
from graph.errors import InvalidRequest
from graph.events import RunFailed
from tools.sessions import RunStatus

router = APIRouter(tags=["runs"])
LastEventId = Annotated[str | None, Header(description="The id of the last event that the reader has had.")]
EVENTS = streamed(
    "`stream: true`: the run's events as they happen. `stream: false`: the finished run.",
    {"$ref": "#/components/schemas/RunEvent"},
)


@router.post(
    "/api/sessions/{session_id}/runs",
    response_model=FinishedRun,
    responses={**EVENTS, **problems(400, 404, 409, 413, 422, 502, 503)},
)
async def start_run(
    session_id: UUID, body: NewRun, request: Request, me: Me, settings: AppSettings, runner: OpenRunner
) -> Any:
    """Ask a question in a session."""
    run = await runner.start(str(session_id), body.request(me, settings.run_knobs))
    if body.stream:
        return RunStream(run, DIALECTS["native"](), body.on_disconnect)
    end = await end_of(run, request, body.on_disconnect)
    if isinstance(end, RunFailed):
        return problem(end.code, end.message, end.suggestion, retryable=end.retryable, run_id=run.run_id)
    return FinishedRun.of(run, end)


@router.get("/api/runs/{run_id}", responses=problems(404, 422, 503))
async def get_run(run_id: UUID, me: Me, library: OpenLibrary) -> RunStatus:
    """Say where a run stands."""
    return await library.sessions.run(me, str(run_id))


@router.get(
    "/api/runs/{run_id}/stream",
    response_class=Response,
    responses={**EVENTS, 204: {"description": "The reader has had the whole run."}, **problems(404, 422, 503)},
)
async def join_run(
    run_id: UUID, request: Request, me: Me, runner: OpenRunner, last_event_id: LastEventId = None
) -> Any:
    """Join a run, or join it again: its events from the first one, or those behind `Last-Event-ID`."""
    behind = left_off(request)
    if behind is not None and behind.run_id != str(run_id):
        raise InvalidRequest("Last-Event-ID: it belongs to another run.")
    run = await runner.join(me, str(run_id))
    after = behind.seq if behind is not None else 0
    if after and await run.is_over(after):
        return Response(status_code=status.HTTP_204_NO_CONTENT)
    return RunStream(run, DIALECTS["native"](), "continue", after=after)


@router.post("/api/runs/{run_id}/cancel", responses=problems(404, 422, 503))
async def cancel_run(run_id: UUID, me: Me, library: OpenLibrary, runner: OpenRunner) -> RunStatus:
    """Stop a run where it stands, whichever process has it, and say how it ended; one that has ended stays as it is."""
    await (await runner.join(me, str(run_id))).cancel("cancel_requested")
    return await library.sessions.run(me, str(run_id))
