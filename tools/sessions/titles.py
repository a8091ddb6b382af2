"""Automatic titles of sessions after their first question; they never overwrite a title that a user chose."""

import logging
import time

from answers.links import without_links
from graph.context import Context
from graph.errors import CitewellError
from graph.evidence import Spent
from graph.ports import Families, Titler
from graph.usage import Meter
from text.inline_spans import READS_AS_A_MARK
from text.language import language
from tools.rules.question_rules import DEFAULT_TITLE, RuleTitler, rule_title
from tools.storage.database import Database

log = logging.getLogger("citewell.titles")

MOST_CALLS = 2  # one, and one retry if the endpoint failed or refused the request format
MOST_SECONDS = 20.0

_UNTITLED = """
SELECT 1 FROM sessions JOIN workspaces ON number = workspace
WHERE session_id = %(session_id)s AND name = %(workspace)s AND "user" = %(user)s AND NOT ephemeral
  AND title = %(default)s
"""
# A title that the user sets meanwhile wins.
SET_WHERE_UNTITLED = f"""
UPDATE sessions SET title = %(title)s WHERE session_id = %(session_id)s AND title = '{DEFAULT_TITLE}'
"""


async def best_title(titler: Titler | None, question: str) -> tuple[str, Spent]:
    """Return a title for a question and its usage; without a titler, or if it fails, the title is made by rule."""
    meter = Meter(calls_left=MOST_CALLS, seconds_left=MOST_SECONDS)
    began, detected = time.perf_counter(), language(question)
    try:
        title = await (titler or RuleTitler()).title(question, language=detected, meter=meter)
    except CitewellError as error:
        log.warning("A title could not be made: %s", error.message)
        title = await RuleTitler().title(question, language=detected, meter=meter)
    ms = round((time.perf_counter() - began) * 1000, 3)
    return _without_marks(title, question), meter.spent(ms)


def _without_marks(title: str, question: str) -> str:
    """Remove links and marks from a title, but for those that the asker wrote, such as the interval [0, 1]."""
    text = without_links(title, (question,))
    text = READS_AS_A_MARK.sub(lambda mark: mark[0] if mark[0] in question else "", text)
    return " ".join(text.split()) or DEFAULT_TITLE


class SessionTitler:
    """A titler of sessions, called in parallel with their first run."""

    def __init__(self, database: Database, families: Families) -> None:
        self._database = database
        self._families = families

    def title_by_rule(self, question: str, context: Context) -> str | None:
        """Return the title of a family that makes them without a model; None where that takes one, or it makes none.

        Raises UnknownModel.
        """
        titler = self._families(context.model, thinking=context.thinking).titler
        return _without_marks(rule_title(question), question) if isinstance(titler, RuleTitler) else None

    async def title_session(
        self, session_id: str, question: str, context: Context, *, untitled: bool = False
    ) -> tuple[str, Spent] | None:
        """Title a session after its first question; return the title and its usage.

        None if the session already has a title or is ephemeral, the family makes no titles, or the database fails: an
        answer must never fail because of its title. Whoever has just read that it has none says so by ``untitled``.
        """
        values = {
            "session_id": session_id,
            "workspace": context.workspace,
            "user": context.user,
            "default": DEFAULT_TITLE,
        }
        try:
            titler = self._families(context.model, thinking=context.thinking).titler
            if titler is None or not (untitled or await self._has_row(_UNTITLED, values)):
                return None
            title, usage = await best_title(titler, question)
            row = {"session_id": session_id, "title": title}
            updated = await self._has_row(f"{SET_WHERE_UNTITLED} RETURNING 1", row)
        except CitewellError as error:
            log.warning("Session %s stays untitled: %s", session_id, error.message)
            return None
        return (title, usage) if updated else None

    async def _has_row(self, statement: str, row: dict[str, str]) -> bool:
        return await self._database.fetch_one(statement, row) is not None
