"""Questions that are asked of one document each, beside any session: by a model and a judge, or without both."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from typing_extensions import TypedDict

from answers.marks import mark_of
from graph.errors import CitewellError, InvalidRequest, NotFound
from graph.evidence import FamilyName, Identity, SectionClaim, Segment, Source
from graph.ports import ProposedQuestion, Resources
from graph.state import InputState
from graph.usage import Meter
from text.language import language
from tools.guides.proving import QuestionGraph, ask_once
from tools.settings import EXTRACTIVE

log = logging.getLogger("citewell.studies")

MOST_DOCUMENTS = 5
MOST_SECONDS = 90.0  # of one request, however many questions it asks
ANSWER_SECONDS = 45.0
ANSWER_CALLS = 3  # of one question: it is written, judged, and judged or written once more
AT_ONCE = 3  # questions of one request
PROPOSED_FROM = 12  # segments of all documents together, which a model proposes questions of
PROPOSED_SECONDS = 30.0
PROPOSED_CALLS = 2
MOST_CLAIMS = 3  # of an answer that are kept

AnswerState = Literal["said", "nothing", "doubted", "unasked"]


class StudyAnswer(TypedDict):
    """What a document says of a question: claims whose checks were passed, each with its quotes.

    ``state``: ``said``; ``nothing`` that answers it; ``doubted``, where a model said something that its checks did not
    pass, which is left out; ``unasked``, where there was no time, or nobody could be asked.
    """

    document_id: str
    state: AnswerState
    claims: list[SectionClaim]
    sources: list[Source]


def left_empty(document_id: str, state: AnswerState) -> StudyAnswer:
    """Return an answer without a claim."""
    return StudyAnswer(document_id=document_id, state=state, claims=[], sources=[])


@dataclass(frozen=True, slots=True)
class Asker:
    """Asks by a graph over a process's resources, and without a model by one over ``alone``."""

    resources: Resources
    graph: QuestionGraph
    alone: Resources
    graph_alone: Callable[[], QuestionGraph]

    def by(self, model: str) -> FamilyName:
        """Return the family that answers for a model's name. Raises UnknownModel."""
        return self.resources.families(model).name

    async def documents(self, identity: Identity, document_ids: Sequence[str]) -> dict[str, list[Segment]]:
        """Return the first segments of documents, in the order asked. Raises NotFound, InvalidRequest for one twice."""
        if len(set(document_ids)) < len(document_ids):
            raise InvalidRequest("document_ids: a document is named twice.")
        each = max(1, PROPOSED_FROM // len(document_ids))
        wanted = [f"{document_id}:{index}" for document_id in document_ids for index in range(each)]
        found: dict[str, list[Segment]] = {document_id: [] for document_id in document_ids}
        for segment in await self.resources.reader.read_segments(wanted, identity):
            found[segment.document_id].append(segment)
        for document_id, segments in found.items():
            if not segments:
                raise NotFound(f"There is no document {document_id}.")
        return found

    async def proposed(self, segments: Sequence[Segment], model: str) -> list[ProposedQuestion]:
        """Return the questions that a model proposes of segments; none where it can't be asked."""
        proposer = self.resources.families(model).proposer
        if proposer is None:
            return []
        spoken = language(" ".join(segment.text for segment in segments)[:5000])
        meter = Meter(calls_left=PROPOSED_CALLS, seconds_left=PROPOSED_SECONDS)
        if meter.account is not None:
            await meter.account.refresh()
        try:
            return await proposer.propose(segments, asked=(), language=spoken, meter=meter)
        except CitewellError as error:
            log.info("No model proposed questions: %s", error.message)
            return []

    async def ask_all(
        self, asked: Sequence[tuple[str, str]], identity: Identity, model: str, *, seconds: float
    ) -> list[StudyAnswer]:
        """Ask questions of documents, a few at once, and return their answers in order; late ones stay unasked."""
        turn = asyncio.Semaphore(AT_ONCE)

        async def answered(question: str, document_id: str) -> StudyAnswer:
            async with turn:
                return await self._ask(question, document_id, identity, model)

        tasks = [asyncio.ensure_future(answered(*each)) for each in asked]
        if not tasks:
            return []
        try:
            await asyncio.wait(tasks, timeout=max(seconds, 0.0))
        finally:
            late = [task for task in tasks if not task.done()]
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        return [
            left_empty(document_id, "unasked") if task.cancelled() else task.result()
            for task, (_, document_id) in zip(tasks, asked, strict=True)
        ]

    async def _ask(self, question: str, document_id: str, identity: Identity, model: str) -> StudyAnswer:
        by = self.by(model)
        keyless = by == EXTRACTIVE
        try:
            state, message = await ask_once(
                self.graph_alone() if keyless else self.graph,
                self.alone if keyless else self.resources,
                InputState(question=question, page_ids=[document_id]),
                identity,
                by,
                seconds=ANSWER_SECONDS,
                only_selected_pages=True,
                model=model,
                effort="fast",
                max_model_calls=0 if keyless else ANSWER_CALLS,
                max_rewrites=0,
                max_repairs=0,
            )
        except (CitewellError, TimeoutError) as error:
            log.info("A question was not answered: %s", error)
            return left_empty(document_id, "unasked")
        if state.outcome != "answered" and state.exhausted:
            return left_empty(document_id, "unasked")
        if state.outcome != "answered" or state.about_library is not None:
            return left_empty(document_id, "nothing")
        claims = [each for each in message["claims"] if mark_of(each) == "shown"][:MOST_CLAIMS]
        if not claims:
            return left_empty(document_id, "doubted" if message["claims"] else "nothing")
        return StudyAnswer(document_id=document_id, state="said", claims=claims, sources=message["sources"])
