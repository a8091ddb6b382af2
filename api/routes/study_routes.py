"""Routes that ask many questions at once: documents side by side, and cards to learn them by."""

from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter
from pydantic import Field

from api.dependencies import Me, Opened, OpenRunner, needs
from api.fields import Body, ModelName, Question
from api.problems import problems
from tools.studies.asking import MOST_DOCUMENTS
from tools.studies.comparisons import Comparison
from tools.studies.flashcards import Flashcards

router = APIRouter(prefix="/api", tags=["notes"])


class NewComparison(Body):
    """Which documents to compare, and by what; without a question a model proposes the points."""

    document_ids: Annotated[list[UUID], Field(min_length=2, max_length=MOST_DOCUMENTS)]
    question: Literal[""] | Question = ""
    model: ModelName = ""


class NewFlashcards(Body):
    """Which documents to make cards of."""

    document_ids: Annotated[list[UUID], Field(min_length=1, max_length=MOST_DOCUMENTS)]
    model: ModelName = ""


@router.post("/comparisons", responses=problems(400, 403, 404, 422, 429, 503))
@needs("ask", lists=True)
async def compare_documents(body: NewComparison, me: Me, citewell: Opened, runner: OpenRunner) -> Comparison:
    """Compare two to five documents: what each says of a question, or of points that a model proposes.

    Every cell is asked of its document alone and checked as an answer is; without a model it quotes. It takes at most
    90 seconds and counts as one run; what is late stays `unasked`.
    """
    async with runner.counted():
        return await citewell.comparisons.compare(
            me, [str(each) for each in body.document_ids], question=body.question, model=body.model
        )


@router.post("/flashcards", responses=problems(400, 403, 404, 422, 429, 503))
@needs("ask", lists=True)
async def make_flashcards(body: NewFlashcards, me: Me, citewell: Opened, runner: OpenRunner) -> Flashcards:
    """Make up to twelve cards of documents: a question, and an answer whose checks were passed.

    Without a model the cards are the definitions of the documents, and the questions that they ask and answer.
    """
    async with runner.counted():
        return await citewell.cards.make(me, [str(each) for each in body.document_ids], model=body.model)
