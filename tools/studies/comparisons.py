"""Compare documents: what each says of the same points, every cell checked as an answer is."""

import time
from collections.abc import Sequence
from itertools import zip_longest
from typing import Literal

from typing_extensions import TypedDict

from graph.errors import InvalidRequest
from graph.evidence import Identity, Segment
from text.normal_forms import fold_case
from tools.settings import EXTRACTIVE
from tools.spending.charges import Spending
from tools.studies.asking import MOST_SECONDS, Asker, StudyAnswer

MOST_CELLS = 12
MOST_ROWS = 5


class ComparedDocument(TypedDict):
    """A column of a comparison."""

    document_id: str
    title: str


class ComparisonRow(TypedDict):
    """What documents say of a point, in the order of the columns."""

    point: str
    cells: list[StudyAnswer]


class Comparison(TypedDict):
    """Documents side by side. ``by`` says who wrote the cells: a model, or nobody, and then they quote."""

    by: Literal["model", "quotes"]
    documents: list[ComparedDocument]
    rows: list[ComparisonRow]


class Comparisons:
    """Compares documents, each within bounds of time and calls, counted and charged as a run."""

    def __init__(self, asker: Asker, spending: Spending) -> None:
        self._asker = asker
        self._spending = spending

    async def compare(
        self, identity: Identity, document_ids: Sequence[str], *, question: str = "", model: str = ""
    ) -> Comparison:
        """Return what documents say of a question or, without one, of points that a model proposes from them.

        A point of which no document says anything is left out. Raises NotFound, UnknownModel,
        SpendingLimitReached, and InvalidRequest for a document that is named twice, and without a question where there
        is no model.
        """
        until = time.monotonic() + MOST_SECONDS
        found = await self._asker.documents(identity, document_ids)
        documents = [ComparedDocument(document_id=each, title=segments[0].title) for each, segments in found.items()]
        keyless = self._asker.by(model) == EXTRACTIVE
        if keyless and not question:
            raise InvalidRequest(
                "question: say what is to be compared; only a model can propose points.",
                suggestion="Ask a question, or add a model.",
            )
        async with self._spending.as_run(identity, "comparison", asks_models=not keyless):
            points = [question] if question else await self._points(list(found.values()), model)
            rows = await self._rows(points, identity, document_ids, model, until)
        kept = rows if question else [row for row in rows if any(cell["state"] == "said" for cell in row["cells"])]
        return Comparison(by="quotes" if keyless else "model", documents=documents, rows=kept)

    async def _points(self, segments: Sequence[Sequence[Segment]], model: str) -> list[str]:
        """Return the points that a model proposes, the first of each document, then the second."""
        proposed = await self._asker.proposed([each for of_one in segments for each in of_one], model)
        by_document: dict[str, list[str]] = {}
        for each in proposed:
            by_document.setdefault(each.segment_id.rpartition(":")[0], []).append(each.question)
        mixed = [each for turn in zip_longest(*by_document.values()) for each in turn if each is not None]
        unlike = {fold_case(each): each for each in reversed(mixed)}
        return list(unlike.values())[::-1][: min(MOST_ROWS, MOST_CELLS // len(segments))]

    async def _rows(
        self, points: Sequence[str], identity: Identity, document_ids: Sequence[str], model: str, until: float
    ) -> list[ComparisonRow]:
        asked = [(point, document_id) for point in points for document_id in document_ids]
        cells = await self._asker.ask_all(asked, identity, model, seconds=until - time.monotonic())
        width = len(document_ids)
        return [
            ComparisonRow(point=point, cells=cells[row * width : (row + 1) * width]) for row, point in enumerate(points)
        ]
