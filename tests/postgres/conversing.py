"""A conversation through the real graph and the real saver, kept as the ledger keeps it, without a runner."""

from dataclasses import dataclass, field, replace
from typing import Any
from uuid import uuid4

from psycopg.types.json import Jsonb

from graph.builder import build
from graph.context import Context
from graph.evidence import Identity
from graph.ports import Family
from graph.state import State
from tools.process.library import Library
from tools.runs.completion import finished_message
from tools.sessions.checkpoints import RunSaver
from tools.sessions.run_request import Fork, RunRequest, resolve_fork
from tools.sessions.settled_claims import JUDGED_EARLY
from tools.storage.database import Database

ME = Identity("default", "local")

_RUN = """
INSERT INTO runs (run_id, session_id, workspace, "user", question, status, outcome, stop_reason, started_at,
                  finished_at)
SELECT %(run_id)s, session_id, workspace, "user", %(question)s, 'finished', %(outcome)s, 'scripted', now(), now()
FROM sessions WHERE session_id = %(session_id)s::uuid
"""
_SAY = f"""
INSERT INTO messages (message_id, session_id, run_id, parent_message_id, checkpoint_id, role, content, body,
                      judged_early, outcome)
VALUES (%(message_id)s, %(session_id)s::uuid, %(run_id)s, %(parent)s,
        (SELECT max(checkpoint_id) FROM checkpoints WHERE thread_id = %(session_id)s::text),
        %(role)s, %(content)s, %(body)s, {JUDGED_EARLY}, %(outcome)s)
"""
_LAST = "SELECT message_id::text FROM messages WHERE session_id = %s ORDER BY created_at DESC LIMIT 1"


async def store_turn(
    database: Database,
    session_id: str,
    question: str,
    answer: str | None,
    *,
    fork: Fork | None = None,
    question_body: dict[str, Any] | None = None,
    body: dict[str, Any] | None = None,
) -> tuple[str, str]:
    """Store a finished run with its question and, where it has one, its answer; gives the ids of the two."""
    run_id, question_id, answer_id = str(uuid4()), str(uuid4()), str(uuid4())
    outcome = "failed" if answer is None else "answered"
    row: dict[str, Any] = {"session_id": session_id, "run_id": run_id, "question": question, "outcome": outcome}
    async with database.connection() as connection, connection.transaction():
        await connection.execute(_RUN, row)
        if fork is not None and fork.request.regenerate is not None:
            question_id = str(fork.parent_message_id)
        else:
            last = await (await connection.execute(_LAST, [session_id])).fetchone()
            at_the_end = fork is None or fork.fork_checkpoint is None
            parent = last and last[0] if at_the_end else fork and fork.parent_message_id
            asked = {"message_id": question_id, "parent": parent, "role": "user", "content": question, "outcome": None}
            await connection.execute(_SAY, {**row, **asked, "body": Jsonb(question_body or {})})
        if answer is not None:
            said = {"message_id": answer_id, "parent": question_id, "role": "assistant", "content": answer}
            await connection.execute(_SAY, {**row, **said, "body": Jsonb(body or {})})
    return question_id, answer_id


@dataclass
class Conversation:
    """A session over an open library, asked through the graph. ``states`` has the state at each run's end.

    A ``family`` answers in the place of the deployment's.
    """

    library: Library
    session_id: str
    context: Context = field(default_factory=Context)
    family: Family | None = None
    states: list[State] = field(default_factory=list)

    def __post_init__(self) -> None:
        family = self.family or self.library.families(self.context.model)
        resources = replace(self.library.resources, families=lambda model, *, thinking=False: family)
        self._graph = build(resources).compile()

    @property
    def graph(self) -> Any:
        """The graph with a saver of its own, as a run has it."""
        return self._graph.copy({"checkpointer": RunSaver(self.library.database.pool)})

    async def fork(self, request: RunRequest) -> Fork:
        """Say where a request goes on from."""
        async with self.library.database.connection() as connection:
            return await resolve_fork(connection, self.session_id, request)

    async def ask(self, question: str = "", **request: Any) -> str:
        """Ask, store what was said, and give the id of the answer."""
        fork = await self.fork(RunRequest(question, self.context, **request))
        state = await self.follow(fork.request.question, fork)
        message = await finished_message(state, self.library.reader, ME, "extractive")
        _, answer_id = await store_turn(
            self.library.database,
            self.session_id,
            fork.request.question,
            message["answer"],
            fork=fork,
            question_body={"page_ids": list(fork.request.page_ids), "selected_text": fork.request.selected_text},
            body=dict(message),
        )
        return answer_id

    async def follow(self, question: str | None, fork: Fork | None = None, **how: Any) -> State:
        """Run the graph on a question, or go on where it broke off, and give the state at the end."""
        place = {"thread_id": self.session_id}
        asked: dict[str, Any] | None = None if question is None else {"question": question}
        if fork is not None and asked is not None:
            asked |= {"page_ids": list(fork.request.page_ids), "selected_text": fork.request.selected_text}
            if fork.fork_checkpoint == "":
                asked["history"] = []
            elif fork.fork_checkpoint is not None:
                place["checkpoint_id"] = fork.fork_checkpoint
        values = await self.graph.ainvoke(asked, {"configurable": place}, context=self.context, **how)
        values.pop("__interrupt__", None)
        state = State(**values)
        self.states.append(state)
        return state
