"""What a model scores: the relevance of segments, and the usefulness of an answer."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from pydantic import BaseModel, Field

import prompts
from graph.errors import BudgetExhausted, ModelReplyInvalid, fallback_failure
from graph.evidence import Hit
from graph.ports import Grading, RelevanceGrader
from graph.reasons import Reason
from graph.usage import Meter
from tools.llm.model_endpoint import Endpoint
from tools.llm.prompting import cut_to_tokens, estimate_tokens, messages, place_line, sanitize, shown_text
from tools.llm.reply_schemas import ASSESSMENT, grading_schema, read_form
from tools.rules.score_grading import ranked_once

GRADING_PROMPT = prompts.load("grade_segments", "question", "passages")
PASSAGE_TOKENS = 320
FEWEST_TOKENS = 24
BY_SEARCH_SCORE = Reason("kept_by_score")

log = logging.getLogger(__name__)


class GradingReply(BaseModel):
    """The model's reply: the numbers of the relevant passages, from 1."""

    relevant: list[int]


@dataclass(frozen=True, slots=True)
class LlmGrader:
    """A RelevanceGrader that shows the model numbered candidates and asks for the numbers to keep.

    Selected pages are kept unasked.
    """

    endpoint: Endpoint
    by_score: RelevanceGrader

    async def grade(self, question: str, candidates: Sequence[Hit], *, meter: Meter) -> Grading:
        """Keep the candidates that the model finds relevant, ordered by search score.

        Candidates that the reply does not name are dropped; numbers that were not shown are ignored. Each candidate
        gets an equal share of the context; the worst ones are dropped unread if there is no room. Of those that the
        model keeps, ``by_score`` drops what the writer has no room for. If the reply can't be read or the budget is
        spent, it grades.
        """
        once = ranked_once(candidates)
        pages = tuple((hit.segment_id, hit.score) for hit in once if hit.kind == "page")
        ranked = once[len(pages) :]
        if not ranked:
            return Grading(pages)
        passages = self._passages(question, ranked)
        prompt = messages(GRADING_PROMPT, question=sanitize(question), passages="\n\n".join(passages))
        schema = grading_schema(len(passages))
        limit = 200 + 20 * len(passages)
        try:
            text = await self.endpoint.read(prompt, schema=schema, max_characters=limit, meter=meter)
            numbers = set(read_form(text, GradingReply).relevant)
        except (ModelReplyInvalid, BudgetExhausted) as error:
            log.warning("Model %s: %s Keeping by search score.", self.endpoint.name, error.message)
            failure = fallback_failure(error, BY_SEARCH_SCORE)
            by_score = await self.by_score.grade(question, candidates, meter=meter)
            return replace(by_score, fallback=failure)
        graded = _graded(ranked, numbers, shown=len(passages))
        relevant = {segment_id for segment_id, _ in (*pages, *graded.kept)}
        fitting = await self.by_score.grade(question, [hit for hit in once if hit.segment_id in relevant], meter=meter)
        return replace(graded, kept=fitting.kept, dropped=graded.dropped + fitting.dropped)

    def _passages(self, question: str, ranked: Sequence[Hit]) -> list[str]:
        room = (
            self.endpoint.context_tokens * 3 // 4 - estimate_tokens(GRADING_PROMPT.text) - 2 * estimate_tokens(question)
        )
        share = max(FEWEST_TOKENS, min(PASSAGE_TOKENS, room // len(ranked)))
        passages: list[str] = []
        for number, hit in enumerate(ranked, start=1):
            heading = f"[{number}] {place_line(hit.segment)}\n"
            body = cut_to_tokens(shown_text(hit.segment), max(1, share - estimate_tokens(heading)))
            room -= estimate_tokens(heading + body)
            if room < 0 and passages:
                break
            passages.append(heading + body)
        return passages


def _graded(ranked: Sequence[Hit], numbers: set[int], *, shown: int) -> Grading:
    kept: list[tuple[str, float]] = []
    dropped: list[tuple[str, str]] = []
    for number, hit in enumerate(ranked, start=1):
        segment_id = hit.segment.segment_id
        if number in numbers:
            kept.append((segment_id, hit.score))
        elif number <= shown:
            dropped.append((segment_id, Reason("off_subject")))
        else:
            dropped.append((segment_id, Reason("no_room_to_grade")))
    return Grading(tuple(kept), tuple(dropped))


ASSESSMENT_PROMPT = prompts.load("assess_quality", "question", "answer")
ASSESSMENT_CHARACTERS = 400
HIGHEST = 10


class AssessmentReply(BaseModel):
    """The model's reply: from 0 (useless) to 10 (complete)."""

    utility: Annotated[float, Field(ge=0, le=HIGHEST, strict=True)]


@dataclass(frozen=True, slots=True)
class LlmAssessor:
    """A QualityAssessor that asks the model for a score."""

    endpoint: Endpoint

    async def assess(self, question: str, answer: str, *, meter: Meter) -> float:
        """Score an answer in [0, 1]. A long answer is cut to fit the model's context.

        Raises ModelReplyInvalid if the reply can't be read.
        """
        safe_question = sanitize(question)
        prompt_tokens = estimate_tokens(ASSESSMENT_PROMPT.text) + estimate_tokens(safe_question)
        room = self.endpoint.context_tokens * 3 // 4 - prompt_tokens
        shown = cut_to_tokens(sanitize(answer), max(1, room))
        text = await self.endpoint.read(
            messages(ASSESSMENT_PROMPT, question=safe_question, answer=shown),
            schema=ASSESSMENT,
            max_characters=ASSESSMENT_CHARACTERS,
            meter=meter,
        )
        return read_form(text, AssessmentReply).utility / HIGHEST
