"""Title sessions automatically after their first question, never over a title that a user chose."""

import logging
import time

from graph.context import Context
from graph.errors import CitewellError
from graph.evidence import Spent
from graph.ports import Families, Titler
from graph.usage import Meter
from text.language import language
from tools.rules.question_rules import DEFAULT_TITLE, RuleTitler
from tools.storage.database import Database

log = logging.getLogger("citewell.titles")

MOST_CALLS = 2  # one, and one more where the endpoint failed or refused its form
MOST_SECONDS = 20.0

_UNTITLED = """
SELECT 1 FROM sessions JOIN workspaces ON number = workspace
WHERE session_id = %(session_id)s AND name = %(workspace)s AND "user" = %(user)s AND NOT ephemeral
  AND title = %(default)s
"""
# One who renames the session meanwhile wins.
SET_WHERE_UNTITLED = f"""
UPDATE sessions SET title = %(title)s WHERE session_id = %(session_id)s AND title = '{DEFAULT_TITLE}'
"""


async def best_title(titler: Titler | None, question: str) -> tuple[str, Spent]:
    """Title a question by a titler, or by rule where there is none or it fails; gives what that has spent."""
    meter = Meter(calls_left=MOST_CALLS, seconds_left=MOST_SECONDS)
    began, spoken = time.perf_counter(), language(question)
    try:
        title = await (titler or RuleTitler()).title(question, language=spoken, meter=meter)
    except CitewellError as error:
        log.warning("A title could not be made: %s", error.message)
        title = await RuleTitler().title(question, language=spoken, meter=meter)
    ms = round((time.perf_counter() - began) * 1000, 3)
    return title, Spent(calls=meter.calls, tokens=meter.tokens, ms=ms)


class SessionTitler:
    """Titles sessions beside their first run."""

    def __init__(self, database: Database, families: Families) -> None:
        self._database = database
        self._families = families

    async def title_session(self, session_id: str, question: str, context: Context) -> tuple[str, Spent] | None:
        """Title a session after its first question; gives the title and what it has spent.

        None where the session has a title or is ephemeral, where the family leaves sessions untitled, or where the
        database fails: a title is never worth an answer.
        """
        asked = {
            "session_id": session_id,
            "workspace": context.workspace,
            "user": context.user,
            "default": DEFAULT_TITLE,
        }
        try:
            titler = self._families(context.model, thinking=context.thinking).titler
            if titler is None or not await self._is_one(_UNTITLED, asked):
                return None
            title, spent = await best_title(titler, question)
            given = await self._is_one(f"{SET_WHERE_UNTITLED} RETURNING 1", {"session_id": session_id, "title": title})
        except CitewellError as error:
            log.warning("Session %s stays untitled: %s", session_id, error.message)
            return None
        return (title, spent) if given else None

    async def _is_one(self, statement: str, row: dict[str, str]) -> bool:
        async with self._database.connection() as connection:
            return await (await connection.execute(statement, row)).fetchone() is not None
