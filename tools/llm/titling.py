"""Ask the model for a conversation's title: one call, else by rule."""

import logging
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, StringConstraints

import prompts
from graph.errors import BudgetExhausted, DependencyFailed, ModelReplyInvalid
from graph.spending import Meter
from tools.extractive.titler import ExtractiveTitler
from tools.llm.endpoint import Endpoint
from tools.llm.formats import TITLE
from tools.llm.json_object import read_form
from tools.llm.messages import language_name, messages
from tools.llm.neutral import neutralise
from tools.llm.tokens import cut_to_tokens
from tools.title_text import title_of

PROMPT = prompts.load("title", "language", "question")
MAX_CHARACTERS = 1_000
QUESTION_TOKENS = 300  # a long question says at its beginning what it is about

log = logging.getLogger(__name__)


class TitleReply(BaseModel):
    """The model's reply."""

    title: Annotated[str, StringConstraints(min_length=1, max_length=400)]


@dataclass(frozen=True, slots=True)
class LlmTitler:
    """Titler by the model; by rule where it can't be asked or its reply can't be read."""

    endpoint: Endpoint

    async def title(self, question: str, *, language: str, meter: Meter) -> str:
        """Ask for a title in two to seven words."""
        try:
            return await self._ask(question, language=language, meter=meter)
        except (DependencyFailed, BudgetExhausted) as error:
            log.warning("Model %s: %s The title is of the question's own words.", self.endpoint.name, error.message)
            return await ExtractiveTitler().title(question, language=language, meter=meter)

    async def _ask(self, question: str, *, language: str, meter: Meter) -> str:
        shown = neutralise(cut_to_tokens(question, QUESTION_TOKENS))
        asked = messages(PROMPT, language=language_name(language), question=shown)
        text = await self.endpoint.read(asked, schema=TITLE, max_characters=MAX_CHARACTERS, meter=meter)
        title = title_of(read_form(text, TitleReply).title)
        if not title:
            raise ModelReplyInvalid("The model gave no title.")
        return title
