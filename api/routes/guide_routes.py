"""Routes of guides: what a document is about, and questions to begin with and to go on with."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from api.dependencies import Asking, needs
from api.problems import problems
from tools.guides.guides import FollowUps, Guide, Suggestions

router = APIRouter()
Language = Annotated[str, Query(pattern=r"^[a-z]{2}$")]
Languages = Annotated[
    list[Language], Query(description="Languages (ISO 639-1) whose questions come first.", max_length=10)
]


@router.get("/api/documents/{document_id}/guide", tags=["documents"], responses=problems(404, 422, 503))
@needs("ask", "read", opens=True)
async def get_guide(document_id: UUID, by: Asking) -> Guide:
    """Read how a document begins, its headings or lines of contents, and questions that it answers.

    It is made when it is first asked for, and anew for each version of the text.
    """
    return await by.citewell.guides.guide(by.me, str(document_id))


@router.get("/api/suggestions", tags=["search"], responses=problems(422, 503))
@needs("ask", opens=True)
async def get_suggestions(by: Asking, language: Languages = []) -> Suggestions:  # noqa: B006
    """Return up to three questions that the library answers, and documents with their first headings.

    They are of the documents that were changed last. Each question was asked and answered with a quote of its document
    before it is offered; there may be none. While guides are still being made, `status` is `making`.
    """
    return await by.citewell.guides.suggestions(by.me, languages=language)


@router.get("/api/sessions/{session_id}/follow-ups", tags=["sessions"], responses=problems(404, 422, 503))
@needs("ask")
async def get_follow_ups(session_id: UUID, by: Asking) -> FollowUps:
    """Return up to three questions to go on with after the last answer, each proven to be answered.

    They are made when they are first asked for; none is better than a bad one.
    """
    return await by.citewell.guides.follow_ups(by.me, str(session_id))
