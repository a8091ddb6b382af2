"""The AG-UI agent's route: it answers a thread's last message with a stream of events."""

from fastapi import APIRouter, Response

from api.dependencies import Asking, needs
from api.dialects.ag_ui.encoder import AgUiEncoder
from api.dialects.ag_ui.schemas import RunAgentInput
from api.dialects.branch_request import BranchPoint, as_regeneration, branch_at_question
from api.problems import problems
from api.stream import RunStream, stream_responses
from tools.sessions.session_store import StoredMessage

router = APIRouter(tags=["ag_ui"])
DIALECT = "ag_ui"
STREAM = stream_responses("The run's AG-UI events.")


@router.post("/agui", responses={**STREAM, **problems(400, 409, 413, 422, 429, 503)}, response_class=Response)
@needs("ask")
async def run_agent(body: RunAgentInput, by: Asking) -> Response:
    """Ask a thread's next question, or regenerate its last answer by sending the same question again.

    A client that disconnects cancels its run, since the protocol has no other way to stop one; `forwardedProps` may
    set `on_disconnect: continue`.
    """
    question = body.question()
    options = body.forwarded_props
    session = await by.library.sessions.create(by.me, external_id=body.thread_id, dialect=DIALECT)
    fork = BranchPoint()
    if answers := body.answers_above():
        history = await by.library.sessions.get(by.me, session.session_id, limit=200)
        fork = _branch_of(question, history.messages, answers)
    request = options.to_run_request(question, by.me, by.settings.run_knobs, edit=fork.edit, regenerate=fork.regenerate)
    run = await by.runner.start(session.session_id, request)
    state = body.state if isinstance(body.state, dict) else None
    dialect = AgUiEncoder(body.thread_id, body.run_id, run.message_id, state)
    return RunStream(run, dialect, options.on_disconnect or "cancel")


def _branch_of(question: str, history: list[StoredMessage], answers: list[str]) -> BranchPoint:
    """Return the branch of a reload: the same question at the same place. The protocol has no request for it."""
    fork = branch_at_question(history, answers, first=False)
    same = any(message.message_id == fork.edit and message.content == question for message in history)
    return as_regeneration(history, fork) if same else BranchPoint()
