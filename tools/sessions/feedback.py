"""Feedback on answers: up or down, a reason, and the claim that is meant. It goes with its answer."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, get_args
from uuid import UUID

from psycopg.types.json import Jsonb
from typing_extensions import TypedDict

from graph.errors import InvalidRequest, NotFound
from graph.evidence import Identity
from tools.storage.database import Connection, Database, row_of
from tools.storage.tenants import Workspaces
from tools.telemetry.metrics import FEEDBACK

Rating = Literal["up", "down"]
Reason = Literal["wrong", "invented", "incomplete", "off_topic", "outdated", "unanswered", "unclear", "other"]
REASONS: tuple[Reason, ...] = get_args(Reason)

_ANSWER = """
SELECT role, body -> 'claims' FROM messages JOIN sessions USING (session_id)
WHERE message_id = %(message_id)s AND session_id = %(session_id)s AND workspace = %(workspace)s AND "user" = %(user)s
"""
_GIVE = """
INSERT INTO message_feedback AS known (message_id, rating, reason_code, note, claim)
VALUES (%(message_id)s, %(rating)s, %(reason_code)s, %(text)s, %(claim)s)
ON CONFLICT (message_id) DO UPDATE
SET rating = excluded.rating, reason_code = excluded.reason_code, note = excluded.note, claim = excluded.claim,
    changed_at = now()
RETURNING rating, reason_code, note AS text, claim, changed_at
"""
_WITHDRAW = "DELETE FROM message_feedback WHERE message_id = %(message_id)s"


class MeantClaim(TypedDict):
    """The claim that feedback is about: its section, and its offsets in the section's text."""

    section_index: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Feedback:
    """What the reader of an answer says of it."""

    rating: Rating
    reason_code: Reason | None
    text: str | None
    claim: MeantClaim | None
    changed_at: datetime


class FeedbackBook:
    """The feedback of a deployment. On answers in sessions of other identities it raises NotFound."""

    def __init__(self, database: Database, workspaces: Workspaces) -> None:
        self._database = database
        self._workspaces = workspaces

    async def give(
        self,
        identity: Identity,
        session_id: str,
        message_id: str,
        rating: Rating,
        *,
        reason_code: Reason | None = None,
        text: str | None = None,
        claim: MeantClaim | None = None,
    ) -> Feedback:
        """Store what a reader says of an answer, in the place of what was said before.

        Raises NotFound, InvalidRequest for a question, for a claim that the answer does not have, and for a reason of
        an answer that is good.
        """
        if rating == "up" and reason_code is not None:
            raise InvalidRequest("reason_code: it says what is wrong, so it goes with the rating down.")
        row = await self._row(identity, session_id, message_id)
        async with self._database.connection() as connection, connection.transaction():
            claims = await _claims(connection, row)
            if claim is not None and not any(claim.items() <= each.items() for each in claims):
                raise InvalidRequest("claim: the answer has no claim at this place.")
            given = {
                **row,
                "rating": rating,
                "reason_code": reason_code,
                "text": text,
                "claim": None if claim is None else Jsonb(claim),
            }
            stored = await row_of(connection, Feedback, _GIVE, given)
        assert stored is not None
        FEEDBACK.labels(rating, reason_code or "").inc()
        return stored

    async def withdraw(self, identity: Identity, session_id: str, message_id: str) -> None:
        """Delete what was said of an answer, if anything was. Raises NotFound where there is no such answer."""
        row = await self._row(identity, session_id, message_id)
        async with self._database.connection() as connection, connection.transaction():
            await _claims(connection, row)
            await connection.execute(_WITHDRAW, row)

    async def _row(self, identity: Identity, session_id: str, message_id: str) -> dict[str, Any]:
        number = await self._workspaces.number(identity.workspace)
        return {
            "workspace": number,
            "user": identity.user,
            "session_id": UUID(session_id),
            "message_id": UUID(message_id),
        }


async def _claims(connection: Connection, row: dict[str, Any]) -> list[dict[str, Any]]:
    found = await (await connection.execute(_ANSWER, row)).fetchone()
    if found is None:
        raise NotFound(f"There is no message {row['message_id']} in the session.")
    role, claims = found
    if role != "assistant":
        raise InvalidRequest("message: feedback is given to answers, and this is a question.")
    return claims or []
