"""A conversation as rows: what is stored, what has failed, and what is still being answered."""

from dataclasses import dataclass

from api.dialects.id_citations_rows import Row
from api.schemas.id_citations import MessagePage, failed_row, in_progress, stored_row
from graph.evidence import Identity
from tools.resources import Library
from tools.runner import Runner
from tools.sessions import RunStatus, StoredMessage


@dataclass(frozen=True, slots=True)
class WorkspaceMessages:
    """A person's conversation with a workspace."""

    library: Library
    runner: Runner
    me: Identity
    session_id: str

    async def page(self, limit: int, cursor: str | None) -> MessagePage:
        """Read the newest ``limit`` stored messages, or those before a cursor; beside them a row for each failure.

        Behind the newest come the runs that are going or waiting.
        """
        # Read first, so that a run that ends meanwhile is in one of the two at least.
        unfinished = [] if cursor else await self._unfinished()
        history = await self.library.sessions.get(self.me, self.session_id, limit=limit, cursor=cursor)
        ended = {message.run_id for message in history.messages}
        rows = await self._stored(history.messages)
        for run in unfinished:
            if run.run_id not in ended:
                rows += in_progress(run, await self._message_id(run.run_id))
        return MessagePage(messages=rows, next_cursor=history.next_cursor)

    async def _unfinished(self) -> list[RunStatus]:
        listed = self.library.sessions.list_runs
        running = await listed(self.me, session_id=self.session_id, status="running")
        waiting = await listed(self.me, session_id=self.session_id, status="queued")
        return sorted([*running.runs, *waiting.runs], key=lambda run: run.created_at)

    async def _stored(self, messages: list[StoredMessage]) -> list[Row]:
        answered = {message.run_id for message in messages if message.role == "assistant"}
        rows: list[Row] = []
        for message in messages:
            rows.append(stored_row(message))
            if message.run_id and message.run_id not in answered:
                run = await self.library.sessions.run(self.me, message.run_id)
                rows.append(failed_row(run, await self._message_id(run.run_id)))
        return rows

    async def _message_id(self, run_id: str) -> str:
        return (await self.runner.join(self.me, run_id)).message_id
