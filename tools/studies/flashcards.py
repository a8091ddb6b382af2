"""Cards to learn documents by: questions whose answers are proven by quotes, and whose checks were passed.

With a model its questions are asked again, each of its document, and a card is made where the answer is confirmed.
Without one the cards are what documents are written as: terms with their definitions, and questions with their answers.
"""

import asyncio
import time
from collections.abc import Iterator, Sequence
from typing import Literal

from typing_extensions import TypedDict

from answers.citations import quote_alone
from answers.entries import entries_of
from graph.evidence import Identity, Segment
from tools.guides.own_questions import own_questions
from tools.settings import EXTRACTIVE
from tools.spending.charges import Spending
from tools.studies.asking import MOST_SECONDS, Asker, StudyAnswer

MOST_CARDS = 12
READ_ALONE = 40  # segments of a document that are looked through without a model


class Flashcard(TypedDict):
    """A question or a term, and the claims that answer it, each with its quotes."""

    question: str
    answer: StudyAnswer


class Flashcards(TypedDict):
    """Cards, asked by a model or the documents themselves, and how many were left out unchecked or for want of time."""

    by: Literal["model", "documents"]
    cards: list[Flashcard]
    dropped: int


class CardMaker:
    """Makes cards, each request within bounds of time and calls, counted and charged as a run."""

    def __init__(self, asker: Asker, spending: Spending) -> None:
        self._asker = asker
        self._spending = spending

    async def make(self, identity: Identity, document_ids: Sequence[str], *, model: str = "") -> Flashcards:
        """Return cards of documents. Raises NotFound, UnknownModel, SpendingLimitReached."""
        until = time.monotonic() + MOST_SECONDS
        found = await self._asker.documents(identity, document_ids)
        keyless = self._asker.by(model) == EXTRACTIVE
        async with self._spending.as_run(identity, "flashcards", asks_models=not keyless):
            if keyless:
                return await self._alone(identity, document_ids, until)
            proposed = await self._asker.proposed([each for of_one in found.values() for each in of_one], model)
            asked = [(each.question, each.segment_id.rpartition(":")[0]) for each in proposed[:MOST_CARDS]]
            return await self._asked(asked, identity, model, until, by="model")

    async def _alone(self, identity: Identity, document_ids: Sequence[str], until: float) -> Flashcards:
        wanted = [f"{document_id}:{index}" for document_id in document_ids for index in range(READ_ALONE)]
        segments = await self._asker.resources.reader.read_segments(wanted, identity)
        defined, asked = await asyncio.to_thread(_in_text, segments)
        more = await self._asked(asked[: MOST_CARDS - len(defined)], identity, EXTRACTIVE, until, by="documents")
        return Flashcards(by="documents", cards=[*defined, *more["cards"]], dropped=more["dropped"])

    async def _asked(
        self,
        asked: Sequence[tuple[str, str]],
        identity: Identity,
        model: str,
        until: float,
        *,
        by: Literal["model", "documents"],
    ) -> Flashcards:
        answers = await self._asker.ask_all(asked, identity, model, seconds=until - time.monotonic())
        cards = [
            Flashcard(question=question, answer=answer)
            for (question, _), answer in zip(asked, answers, strict=True)
            if answer["state"] == "said"
        ]
        return Flashcards(by=by, cards=cards, dropped=len(asked) - len(cards))


def _in_text(segments: Sequence[Segment]) -> tuple[list[Flashcard], list[tuple[str, str]]]:
    """Return cards of the terms that segments define, and the questions that they ask, each with its document."""
    cards = [card for segment in segments for card in _definitions(segment)]
    return cards[:MOST_CARDS], [(each.question, each.document_id) for each in own_questions(segments)]


def _definitions(segment: Segment) -> Iterator[Flashcard]:
    told: set[tuple[int, int]] = set()
    for entry in entries_of(segment):
        term = next((each for each in reversed(entry.context) if each.role == "term"), None)
        if term is None or not entry.quotable or (term.start, term.end) in told:
            continue
        told.add((term.start, term.end))
        claim, source = quote_alone(segment, entry.start, entry.end)
        answer = StudyAnswer(document_id=segment.document_id, state="said", claims=[claim], sources=[source])
        yield Flashcard(question=" ".join(term.text.split()), answer=answer)
