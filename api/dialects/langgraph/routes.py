"""Routes of LangGraph's server that its chat clients call: threads are sessions, assistants are models."""

from collections.abc import Sequence
from importlib.metadata import version
from itertools import accumulate
from typing import Annotated, Any
from uuid import UUID, uuid4

from fastapi import APIRouter, Query, status
from fastapi.responses import Response

from api.dependencies import AppSettings, Asker, Asking, needs
from api.dialects.annotated_text import SourceAddresses
from api.dialects.langgraph.encoder import MODES, LangGraphEncoder
from api.dialects.langgraph.schemas import GraphRun, ThreadHistory, ThreadRequest, ThreadSearch
from api.dialects.langgraph.thread_messages import GRAPH, Json, human, thread_states
from api.dialects.openai_api import models_of
from api.problems import problems
from api.stream import RunStream, stream_responses
from graph.errors import NotFound
from graph.events import timestamp
from tools.sessions.history import History
from tools.sessions.run_request import RunReader, question_id
from tools.sessions.session_store import Session, named_session

PREFIX = "/langgraph"
router = APIRouter(prefix=PREFIX, tags=["langgraph"])
DIALECT = "langgraph"
STREAM = stream_responses("The run in its stream modes.")
ASKING = {**STREAM, **problems(400, 404, 409, 413, 422, 429, 503)}
READING = problems(404, 422, 503)
MOST_REPEATED = 1_000  # messages in the states of one reply
StreamMode = Annotated[Sequence[str], Query(max_length=10, description="As a run's; by default its values and texts.")]


@router.get("/info", responses=problems(503))
@needs("ask", "read")
async def get_server_info() -> Json:
    """Tell that the server is there, and its version."""
    return {"version": version("citewell")}


@router.post("/assistants/search", responses=problems(503))
@needs("ask")
async def search_assistants(settings: AppSettings) -> list[Json]:
    """List the models that may answer, after `citewell`, which stands for the deployment's default."""
    names = {GRAPH: GRAPH, **{model.id: model.name for model in models_of(settings)}}
    empty: Json = {"config": {}, "context": {}, "metadata": {}, "version": 1}
    return [{"assistant_id": each, "graph_id": GRAPH, "name": name, **empty} for each, name in names.items()]


@router.post("/threads", responses=problems(422, 503))
@needs("ask")
async def create_thread(body: ThreadRequest, by: Asking) -> Json:
    """Make a thread, or find the one of that id."""
    thread_id = str(body.thread_id or uuid4())
    return _thread(await by.library.sessions.create(by.me, external_id=thread_id, dialect=DIALECT), {})


@router.post("/threads/search", responses=problems(422, 503))
@needs("ask", lists=True)
async def search_threads(body: ThreadSearch, by: Asking) -> list[Json]:
    """List threads, the last used first. Each has its title as its only message, by which clients name it."""
    found = await by.library.sessions.list(by.me, limit=body.offset + body.limit, dialect=DIALECT)
    listed = found.sessions[body.offset :]
    return [_thread(each, {"messages": [human(each.session_id, each.title)]}) for each in listed]


@router.get("/threads/{thread_id:uuid}", responses=READING)
@needs("ask")
async def get_thread(thread_id: UUID, by: Asking) -> Json:
    """Read a thread with its messages."""
    history, states, _ = await _states(thread_id, by)
    return _thread(history.session, states[-1]["values"])


@router.get("/threads/{thread_id}/state", responses=READING)
@needs("ask")
async def get_thread_state(thread_id: UUID, by: Asking) -> Json:
    """Read the newest state of a thread."""
    return (await _states(thread_id, by))[1][-1]


@router.post("/threads/{thread_id}/history", responses=READING)
@needs("ask")
async def get_thread_history(thread_id: UUID, body: ThreadHistory, by: Asking) -> list[Json]:
    """Read the states of a thread's newest branch, the newest first: one before its first message, one after each.

    Each has all messages before it, so a long thread has the newest alone that have no more than MOST_REPEATED in all.
    """
    states = (await _states(thread_id, by))[1][: -body.limit - 1 : -1]
    repeated = accumulate(len(state["values"]["messages"]) for state in states)
    within = [state for state, count in zip(states, repeated, strict=True) if count <= MOST_REPEATED]
    return within or states[:1]


@router.post("/threads/{thread_id}/runs/stream", responses=ASKING, response_class=Response)
@needs("ask")
async def stream_run(thread_id: UUID, body: GraphRun, by: Asking) -> Response:
    """Ask a thread's next question; by a checkpoint, ask another in the place of an earlier one, or the same again."""
    creates = body.if_not_exists == "create"
    await _wait_for_turn(await _session_of(thread_id, by, creates=creates), body.multitask_strategy, by)
    history, states, addresses = await _states(thread_id, by)
    question, branch, place = body.branch(str(thread_id), history.messages)
    asked = body.to_run_request(question, branch, by.me, by.settings.run_knobs, is_new=not history.messages)
    run = await by.runner.start(history.session.session_id, asked)
    asked_id = history.messages[place].message_id if branch.regenerate else question_id(run.message_id)
    before = [*states[place]["values"]["messages"], human(asked_id, question)]
    encoder = LangGraphEncoder(body.stream_mode, run.message_id, before, addresses)
    headers = {"Content-Location": f"{PREFIX}/threads/{thread_id}/runs/{run.run_id}"}
    return RunStream(run, encoder, body.on_disconnect, headers=headers)


@router.get("/threads/{thread_id}/runs/{run_id}/stream", responses={**STREAM, **READING}, response_class=Response)
@needs("ask")
async def join_run_stream(thread_id: UUID, run_id: UUID, by: Asking, stream_mode: StreamMode = ()) -> Response:
    """Join a run of a thread again, from its beginning."""
    history, states, addresses = await _states(thread_id, by)
    run = await _run(history.session.session_id, run_id, by)
    ours = (question_id(run.message_id), run.message_id)
    place = next((at for at, each in enumerate(history.messages) if each.message_id in ours), -1)
    before = states[place]["values"]["messages"]
    if place < 0 or history.messages[place].role == "user":  # else the run answers a question again that is there
        before = [*before, human(ours[0], (await by.library.sessions.run(by.me, run.run_id)).question)]
    named = " ".join(stream_mode)  # a parameter for each, or a list as JSON, as the client for JavaScript has it
    modes = [mode for mode in MODES if mode in named] or MODES[:2]
    encoder = LangGraphEncoder(modes, run.message_id, before, addresses)
    return RunStream(run, encoder, "continue")


@router.post("/threads/{thread_id}/runs/{run_id}/cancel", status_code=status.HTTP_202_ACCEPTED, responses=READING)
@needs("ask")
async def cancel_run_of_thread(thread_id: UUID, run_id: UUID, by: Asking) -> Json:
    """Cancel a run of a thread; one that has ended is left as it is."""
    await (await _run(await _session_of(thread_id, by), run_id, by)).cancel("cancel_requested")
    return {}


async def _wait_for_turn(session_id: str, strategy: str, by: Asker) -> None:
    """Wait until no run of a thread is under way, unless that is refused: a run's state has what was said before."""
    while strategy != "reject" and (run := await by.runner.current(by.me, session_id)) is not None:
        if strategy == "interrupt":
            await run.cancel("cancel_requested")
        else:
            async for _ in run.batches():
                pass


async def _run(session_id: str, run_id: UUID, by: Asker) -> RunReader:
    run = await by.runner.join(by.me, str(run_id))
    if run.session_id != session_id:
        raise NotFound(f"There is no run {run_id} in the thread.")
    return run


async def _states(thread_id: UUID, by: Asker) -> tuple[History, list[Json], SourceAddresses]:
    """Return the newest branch of a thread, its states, oldest first, and the addresses that a new run may fill.

    Raises NotFound where there is no such thread.
    """
    history = await by.library.sessions.whole(by.me, await _session_of(thread_id, by))
    addresses = SourceAddresses(by.address, await by.library.links.signer(by.me))
    return history, thread_states(str(thread_id), history, addresses), addresses


async def _session_of(thread_id: UUID, by: Asker, *, creates: bool = False) -> str:
    library, name = by.library, str(thread_id)
    session_id = await named_session(library.database, library.workspaces, by.me, DIALECT, name)
    if session_id is None and creates:
        session_id = (await library.sessions.create(by.me, external_id=name, dialect=DIALECT)).session_id
    if session_id is None:
        raise NotFound(f"There is no thread {thread_id}.", suggestion=f"POST {PREFIX}/threads makes one.")
    return session_id


def _thread(session: Session, values: dict[str, Any]) -> Json:
    dates = {"created_at": timestamp(session.created_at), "updated_at": timestamp(session.updated_at)}
    about = {"metadata": {"graph_id": GRAPH, "title": session.title}, "status": "idle", "interrupts": {}}
    return {"thread_id": session.external_id, "values": values, **dates, **about}
