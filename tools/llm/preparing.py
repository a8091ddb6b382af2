"""Make a question standalone and decide on retrieval, in at most one call."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from pydantic import BaseModel, StringConstraints

import prompts
from graph.errors import BudgetExhausted, ModelReplyInvalid, left_out
from graph.evidence import Failure, Intent, SearchMode
from graph.ports import Preparation
from graph.spending import Meter
from graph.state import Turn
from tools.extractive.preparer import ExtractivePreparer
from tools.languages import language
from tools.llm.endpoint import Endpoint
from tools.llm.formats import PREPARATION
from tools.llm.json_object import read_form
from tools.llm.messages import conversation, messages
from tools.llm.neutral import neutralise

PROMPT = prompts.load("decide_retrieval", "conversation", "pages", "question")
MAX_CHARACTERS = 24_000

log = logging.getLogger(__name__)


class PreparationReply(BaseModel):
    """The model's reply."""

    standalone_question: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=10_000)]
    intent: Intent
    needs_retrieval: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class LlmPreparer:
    """Prepares questions by asking the model, where there is anything to ask."""

    endpoint: Endpoint

    async def prepare(
        self, question: str, turns: Sequence[Turn], *, search: SearchMode, has_pages: bool, meter: Meter
    ) -> Preparation:
        """Make the question standalone and decide on retrieval, in at most one model call.

        No call is made where nothing is open: a first question to be searched for in any case, or search off.
        Selected pages are read for every question that is no small talk. Where the budget is used up, the question
        is prepared by rule.
        """
        spoken = language(question)
        if search == "off" and not has_pages:
            return Preparation(question, False, "The request asks for no search.", "content_query", spoken)
        if search == "always" and not turns:
            return Preparation(question, True, "The request asks for a search.", "content_query", spoken)
        try:
            reply = await self._ask(question, turns, has_pages=has_pages, meter=meter)
        except ModelReplyInvalid as error:
            log.warning("Model %s: %s Searching for the question as asked.", self.endpoint.name, error.message)
            said = Failure(
                code=error.code, message="The model's reply could not be read; the question is searched for as asked."
            )
            return Preparation(question, True, "The decision could not be read.", "content_query", spoken, said)
        except BudgetExhausted as error:
            by_rule = await ExtractivePreparer().prepare(
                question, turns, search=search, has_pages=has_pages, meter=meter
            )
            said = left_out(error, "The question was prepared by rule.")
            return replace(by_rule, fallback=said)
        needed = search == "always" or reply.needs_retrieval or (has_pages and reply.intent == "content_query")
        intent: Intent = "content_query" if needed else reply.intent
        return Preparation(reply.standalone_question, needed, reply.reason.strip()[:300], intent, spoken)

    async def _ask(self, question: str, turns: Sequence[Turn], *, has_pages: bool, meter: Meter) -> PreparationReply:
        asked = messages(
            PROMPT,
            conversation=conversation(turns, max_tokens=self.endpoint.context_tokens // 3),
            pages="yes, the message is about them" if has_pages else "none",
            question=neutralise(question),
        )
        text = await self.endpoint.read(asked, schema=PREPARATION, max_characters=MAX_CHARACTERS, meter=meter)
        return read_form(text, PreparationReply)
