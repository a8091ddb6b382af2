"""Routes that ask many questions at once: documents side by side, and cards to learn them by."""

from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter, Depends, Request
from pydantic import Field

from api.dependencies import Asking, needs
from api.fields import Body, ModelName, Question
from api.problems import problems
from api.turns import Turns, while_awaited
from tools.runs.executor import WAITING_FOR_EACH
from tools.settings import RunSettings
from tools.studies.asking import AT_ONCE, MOST_DOCUMENTS
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


def study_turns(settings: RunSettings) -> Turns:
    """Return the turns of a process's studies: as many as ask no more questions at once than its runs do."""
    at_once = max(1, settings.max_active // AT_ONCE)
    return Turns("comparisons and sets of cards", at_once=at_once, most_waiting=WAITING_FOR_EACH * at_once)


async def _turns(request: Request) -> Turns:
    turns: Turns = request.app.state.study_turns
    return turns


StudyTurns = Annotated[Turns, Depends(_turns)]


@router.post("/comparisons", responses=problems(400, 403, 404, 422, 429, 503))
@needs("ask", lists=True, action="ask")
async def compare_documents(body: NewComparison, request: Request, by: Asking, turns: StudyTurns) -> Comparison:
    """Compare two to five documents: what each says of a question, or of points that a model proposes.

    Every cell is asked of its document alone and checked as an answer is; without a model it quotes. It takes at most
    90 seconds and counts as one run; what is late stays `unasked`. It is stopped where its client leaves.
    """

    async def compare() -> Comparison:
        async with turns.turn(), by.runner.counted(body.question):
            ids = [str(each) for each in body.document_ids]
            return await by.citewell.comparisons.compare(by.me, ids, question=body.question, model=body.model)

    return await while_awaited(request, compare())


@router.post("/flashcards", responses=problems(400, 403, 404, 422, 429, 503))
@needs("ask", lists=True, action="ask")
async def make_flashcards(body: NewFlashcards, request: Request, by: Asking, turns: StudyTurns) -> Flashcards:
    """Make up to twelve cards of documents: a question, and an answer whose checks were passed.

    Without a model the cards are the definitions of the documents, and the questions that they ask and answer. It
    counts as one run, and is stopped where its client leaves.
    """

    async def make() -> Flashcards:
        async with turns.turn(), by.runner.counted():
            return await by.citewell.cards.make(by.me, [str(each) for each in body.document_ids], model=body.model)

    return await while_awaited(request, make())
