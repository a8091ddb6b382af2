"""Model calls for questions that some passages answer, to be offered to a reader once they are proven."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, StringConstraints

import prompts
from graph.evidence import Segment
from graph.ports import ProposedQuestion
from graph.usage import Meter
from tools.llm.model_endpoint import Endpoint
from tools.llm.prompting import cut_to_tokens, language_name, messages, sanitize, segment_context
from tools.llm.reply_schemas import proposals_schema, read_form

PROPOSAL_PROMPT = prompts.load("propose_questions", "passages", "asked", "language")
PROPOSAL_CHARACTERS = 12_000
PASSAGE_TOKENS = 3_000
ASKED_TOKENS = 600
LONGEST_QUESTION = 200  # characters
MOST_QUESTIONS = 6

Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2_000)]


class ProposalReply(BaseModel):
    """A question of the model's reply."""

    segment_id: str
    quote: Words
    question: Words


class ProposalsReply(BaseModel):
    """The model's reply with questions."""

    questions: list[ProposalReply]


@dataclass(frozen=True, slots=True)
class LlmProposer:
    """A QuestionProposer by the model."""

    endpoint: Endpoint

    async def propose(
        self, segments: Sequence[Segment], *, asked: Sequence[str], language: str, meter: Meter
    ) -> list[ProposedQuestion]:
        """Return at most six questions; one with the id of no passage, or too long to be offered, is left out."""
        context = segment_context(segments, max_tokens=PASSAGE_TOKENS)
        known = set(context.segment_ids)
        prompt = messages(
            PROPOSAL_PROMPT,
            passages=context.text,
            asked=sanitize(cut_to_tokens("\n".join(asked), ASKED_TOKENS)) or "none",
            language=language_name(language),
        )
        schema = proposals_schema(sorted(known))
        text = await self.endpoint.read(prompt, schema=schema, max_characters=PROPOSAL_CHARACTERS, meter=meter)
        return [
            ProposedQuestion(" ".join(each.question.split()), each.segment_id, each.quote)
            for each in read_form(text, ProposalsReply).questions[:MOST_QUESTIONS]
            if each.segment_id in known and len(each.question) <= LONGEST_QUESTION
        ]
