"""Routes of feedback: what the reader of an answer says of it."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, status
from pydantic import Field

from api.dependencies import Asking, needs
from api.fields import Body, Printable
from api.problems import problems
from tools.sessions.feedback import Feedback, MeantClaim, Rating, Reason

router = APIRouter(prefix="/api/sessions/{session_id}/messages/{message_id}/feedback", tags=["sessions"])
Offset = Annotated[int, Field(ge=0, le=10_000_000)]


class ClaimPlace(Body):
    """A claim of the answer, by its section and its offsets in the section's text."""

    section_index: Offset
    start: Offset
    end: Offset


class NewFeedback(Body):
    """Up or down; what is wrong, in a word and in words, and in which claim, all of which may be left out."""

    rating: Rating
    reason_code: Reason | None = Field(default=None, description="What is wrong with the answer; only with `down`.")
    text: Annotated[str, Field(min_length=1, max_length=2000), Printable] | None = None
    claim: ClaimPlace | None = None


@router.post("", responses=problems(404, 422, 503))
@needs("ask")
async def give_feedback(session_id: UUID, message_id: UUID, body: NewFeedback, by: Asking) -> Feedback:
    """Say what you think of an answer; it takes the place of what you said before."""
    at = body.claim
    claim = None if at is None else MeantClaim(section_index=at.section_index, start=at.start, end=at.end)
    return await by.library.feedback.give(
        by.me,
        str(session_id),
        str(message_id),
        body.rating,
        reason_code=body.reason_code,
        text=body.text,
        claim=claim,
    )


@router.delete("", status_code=status.HTTP_204_NO_CONTENT, responses=problems(404, 422, 503))
@needs("ask")
async def withdraw_feedback(session_id: UUID, message_id: UUID, by: Asking) -> None:
    """Withdraw what you said of an answer."""
    await by.library.feedback.withdraw(by.me, str(session_id), str(message_id))
