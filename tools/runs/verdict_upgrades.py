"""Settle in stored messages what a judge said before its exam, once that is over, and tell who follows the session.

It is done where an exam ends and where a message ends that was judged meanwhile: whichever comes second sees the other.
What a process that died has left undone the hourly sweep does. Each message is changed by one statement, if nobody else
has changed it since it was read.
"""

import asyncio
import itertools
import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from psycopg.types.json import Jsonb

from graph.events import VerdictsUpgraded
from graph.evidence import Identity, JudgeMark
from tools.judges.exam import Exam, built_in_exam
from tools.judges.exam_standing import Standing, standing_of
from tools.judges.exam_store import ExamKey, ExamStore
from tools.runs.event_log import wait_for_wakeup
from tools.runs.notifications import NOTIFY, Notifications
from tools.sessions.session_store import Sessions
from tools.sessions.settled_claims import JUDGED_EARLY, settled_body
from tools.storage.database import TAKES_CHANGES, Database

log = logging.getLogger("citewell.judges")

AT_ONCE = 1000  # messages whose ids are read together
POLL_SECONDS = 5.0  # in case a notification is lost
FOLLOW_SECONDS = 600.0  # that a session is followed at most: nobody may ever take the exam that is waited for

# The judges that wait for an exam, without a look at the bodies.
_WAITING = """
SELECT DISTINCT word ->> 'model', word ->> 'version', word ->> 'language'
FROM messages, jsonb_array_elements(judged_early) AS word
WHERE judged_early <> '[]'
"""
_WAITING_IN_ONE = f"{_WAITING} AND message_id = %s"
_PAGE_OF_JUDGES = f"""
SELECT messages.created_at, message_id::text FROM messages JOIN sessions USING (session_id)
WHERE judged_early <> '[]' AND judged_early @> ANY(%(words)s::jsonb[]) AND {TAKES_CHANGES}
  AND (messages.created_at, message_id) > (%(at)s::timestamptz, %(id)s::uuid)
ORDER BY messages.created_at, message_id LIMIT {AT_ONCE}
"""
_ONE = "SELECT xmin::text, body FROM messages WHERE message_id = %s AND judged_early <> '[]'"
_CHANGE = f"""
WITH let AS MATERIALIZED (
    SELECT refuse_where_closed(workspace, false) FROM sessions
    WHERE session_id = (SELECT session_id FROM messages WHERE message_id = %(id)s)
), changed AS (
    UPDATE messages SET body = %(body)s, judged_early = {JUDGED_EARLY}, upgraded_at = clock_timestamp() FROM let
    WHERE message_id = %(id)s AND messages.xmin::text = %(version)s
    RETURNING session_id
)
SELECT session_id::text FROM changed
"""
_OF_SESSION = """
SELECT message_id::text, upgraded_at, judged_early <> '[]' FROM messages
WHERE session_id = %(session)s AND (upgraded_at IS NOT NULL OR judged_early <> '[]')
ORDER BY upgraded_at, message_id
"""


class Word(NamedTuple):
    """Who spoke of a claim before its exam, and in which language."""

    model: str
    version: str
    language: str


def _word(judge: JudgeMark) -> Word:
    return Word(judge["model"], judge.get("version", ""), judge.get("language", ""))


Standings = Mapping[Word, Standing]  # those that are known


class VerdictUpgrades:
    """The words of judges in a deployment's messages that wait for an exam. ``load`` returns the exam; it may block."""

    def __init__(self, database: Database, *, load: Callable[[], Exam] = built_in_exam) -> None:
        self._database = database
        self._exams = ExamStore(database)
        self._load = load

    async def run(self) -> int:
        """Settle what can be settled in all messages; return in how many something was."""
        standings = await self._standings(await self._database.fetch_all(_WAITING))
        words = [Jsonb([word._asdict()]) for word in standings]
        row: dict[str, Any] = {"words": words, "at": "-infinity", "id": UUID(int=0)}
        settled = 0
        while words and (page := await self._database.fetch_all(_PAGE_OF_JUDGES, row)):
            settled += sum([await self._settle(standings, message_id) for _, message_id in page])
            row["at"], row["id"] = page[-1]
        if settled:
            log.info("%d messages have verdicts of judges whose exam is over", settled)
        return settled

    async def of_message(self, message_id: str) -> bool:
        """Settle what can be settled in a message that was just stored."""
        waiting = await self._database.fetch_all(_WAITING_IN_ONE, [message_id])
        return await self._settle(await self._standings(waiting), message_id)

    async def _standings(self, waiting: Sequence[tuple[str, str, str]]) -> Standings:
        """Return the standings that are known of judges, given by model, version and language."""
        if not waiting:
            return {}
        exam = await asyncio.to_thread(self._load)
        found: dict[Word, Standing] = {}
        for word in itertools.starmap(Word, waiting):
            stored = await self._exams.read(ExamKey(word.model, word.version, exam.digest))
            if (standing := standing_of(word.model, stored, exam, word.language)) is not None:
                found[word] = standing
        return found

    async def _settle(self, standings: Standings, message_id: str) -> bool:
        while standings and (row := await self._database.fetch_one(_ONE, [message_id])) is not None:
            version, body = row
            changed = settled_body(body, lambda judge: standings.get(_word(judge)))
            if changed is None:
                return False
            values = {"body": Jsonb(changed), "id": message_id, "version": version}
            async with self._database.connection() as connection:
                if (done := await (await connection.execute(_CHANGE, values)).fetchone()) is not None:
                    # After the commit: of the transactions that notify, only one commits at a time.
                    await connection.execute(NOTIFY, done)
                    return True
        return False


@dataclass(frozen=True, slots=True)
class SessionEvents:
    """What happens in a session beside its runs, for those who follow it."""

    database: Database
    sessions: Sessions
    notifications: Notifications
    at_most: float = FOLLOW_SECONDS

    async def waits(self, identity: Identity, session_id: str, after: datetime | None = None) -> bool:
        """Whether there is, or may come, an event after a time. Raises NotFound."""
        await self.sessions.get(identity, session_id, limit=1)
        found = await self._messages(session_id)
        return any(waits or (at is not None and (after is None or at > after)) for _, at, waits in found)

    async def follow(
        self, identity: Identity, session_id: str, *, after: datetime | None = None
    ) -> AsyncIterator[VerdictsUpgraded]:
        """Yield an event for each message whose verdicts were settled after a time, until none waits for an exam.

        It ends after ``at_most`` seconds too; who still waits then comes again. What the identity may no longer read is
        withheld. Raises NotFound where the session is not the identity's.
        """
        told: set[tuple[str, datetime]] = set()
        ends = asyncio.get_running_loop().time() + self.at_most
        await self.sessions.get(identity, session_id, limit=1)
        with self.notifications.subscribe(session_id) as wakeup:
            while True:
                wakeup.clear()
                found = await self._messages(session_id)
                for message_id, at, _ in found:
                    if at is not None and (after is None or at > after) and (message_id, at) not in told:
                        told.add((message_id, at))
                        yield await self._event(identity, session_id, message_id, at)
                if not any(waits for _, _, waits in found) or asyncio.get_running_loop().time() >= ends:
                    return
                await wait_for_wakeup(wakeup, POLL_SECONDS)

    async def _messages(self, session_id: str) -> list[tuple[str, datetime | None, bool]]:
        """Return the messages that were settled, when, and those that wait for an exam."""
        return await self.database.fetch_all(_OF_SESSION, {"session": session_id})

    async def _event(self, identity: Identity, session_id: str, message_id: str, at: datetime) -> VerdictsUpgraded:
        read = (await self.sessions.whole(identity, session_id, through=message_id)).messages[-1]
        claims = read.body.get("claims", [])
        return VerdictsUpgraded(session_id=session_id, message_id=message_id, at=at.isoformat(), claims=claims)
