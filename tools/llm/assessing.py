"""Ask the model how useful an answer is: one call, one number."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, Field

import prompts
from graph.spending import Meter
from tools.llm.endpoint import Endpoint
from tools.llm.formats import ASSESSMENT
from tools.llm.json_object import read_form
from tools.llm.messages import messages
from tools.llm.neutral import neutralise
from tools.llm.tokens import cut_to_tokens, estimate_tokens

PROMPT = prompts.load("assess_quality", "question", "answer")
MAX_CHARACTERS = 400
HIGHEST = 10


class AssessmentReply(BaseModel):
    """The model's reply: from 0, of no use, to 10, complete."""

    utility: Annotated[float, Field(ge=0, le=HIGHEST, strict=True)]


@dataclass(frozen=True, slots=True)
class LlmAssessor:
    """QualityAssessor by the model's own opinion."""

    endpoint: Endpoint

    async def assess(self, question: str, answer: str, *, meter: Meter) -> float:
        """Score an answer in [0, 1]. A long answer is cut to what the model's context holds.

        Raises ModelReplyInvalid where the reply can't be read.
        """
        asked = neutralise(question)
        room = self.endpoint.context_tokens * 3 // 4 - estimate_tokens(PROMPT.text) - estimate_tokens(asked)
        shown = cut_to_tokens(neutralise(answer), max(1, room))
        text = await self.endpoint.read(
            messages(PROMPT, question=asked, answer=shown),
            schema=ASSESSMENT,
            max_characters=MAX_CHARACTERS,
            meter=meter,
        )
        return read_form(text, AssessmentReply).utility / HIGHEST
