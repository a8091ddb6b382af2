"""Runs: a question asked of a session, told as it is answered or given when it is done."""

from typing import Any
from uuid import UUID

from fastapi import APIRouter, Request

from api.dependencies import AppSettings, Me, OpenLibrary, OpenRunner
from api.dialects import DIALECTS
from api.errors import problem, problems
from api.schemas import FinishedRun, NewRun
from api.stream import RunStream, end_of
from graph.events import RunFailed
from tools.sessions import RunStatus

router = APIRouter(tags=["runs"])
EVENTS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "`stream: true`: the run's events as they happen. `stream: false`: the finished run.",
        "content": {"text/event-stream": {"schema": {"$ref": "#/components/schemas/RunEvent"}}},
    }
}


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


@router.post("/api/runs/{run_id}/cancel", responses=problems(404, 409, 422, 503), response_model=RunStatus)
async def cancel_run(run_id: UUID, me: Me, library: OpenLibrary, runner: OpenRunner) -> Any:
    """Stop a run where it stands, and say how it ended; one that has ended stays as it is."""
    stands = await library.sessions.run(me, str(run_id))
    if (run := runner.active(str(run_id))) is not None:
        await run.cancel("cancel_requested")
        stands = await library.sessions.run(me, str(run_id))
    if stands.status != "finished":
        return problem("invalid_request", "The run is in the hands of another process.", "Cancel it there.", status=409)
    return stands
