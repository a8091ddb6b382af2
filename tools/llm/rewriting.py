"""Word a question as another search query: one call, else by rule."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pydantic import BaseModel

import prompts
from graph.errors import BudgetExhausted, DependencyFailed, ModelReplyInvalid, left_out
from graph.ports import Rewriting
from graph.spending import Meter
from tools.extractive.rewriter import ExtractiveRewriter
from tools.llm.endpoint import Endpoint
from tools.llm.formats import REWRITING
from tools.llm.json_object import read_form
from tools.llm.messages import language_name, messages
from tools.llm.neutral import neutralise, one_line

PROMPT = prompts.load("rewrite_query", "language", "question", "tried")
MAX_CHARACTERS = 2_000
LONGEST_QUERY = 300  # characters

log = logging.getLogger(__name__)


class RewritingReply(BaseModel):
    """The model's reply."""

    query: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class LlmRewriter:
    """QueryRewriter by the model; by rule where the model can't be asked or gives nothing new."""

    endpoint: Endpoint

    async def rewrite(self, question: str, tried: Sequence[str], *, language: str, meter: Meter) -> Rewriting:
        """Ask for a query in other words than those tried, in at most 300 characters."""
        try:
            return await self._ask(question, tried, language=language, meter=meter)
        except (DependencyFailed, BudgetExhausted) as error:
            log.warning("Model %s: %s Rewriting the query by rule.", self.endpoint.name, error.message)
            by_rule = await ExtractiveRewriter().rewrite(question, tried, language=language, meter=meter)
            said = left_out(error, "The query was rewritten by rule.")
            return replace(by_rule, fallback=said)

    async def _ask(self, question: str, tried: Sequence[str], *, language: str, meter: Meter) -> Rewriting:
        asked = messages(
            PROMPT,
            language=language_name(language),
            question=neutralise(question),
            tried="\n".join(f"- {one_line(query)}" for query in tried) or "- (none)",
        )
        text = await self.endpoint.read(asked, schema=REWRITING, max_characters=MAX_CHARACTERS, meter=meter)
        reply = read_form(text, RewritingReply)
        query = " ".join(reply.query.split())[:LONGEST_QUERY].strip()
        if not query:
            raise ModelReplyInvalid("The model gave no query.")
        if _said(query) in {_said(each) for each in tried}:
            raise ModelReplyInvalid("The model repeated a query that was tried.")
        return Rewriting(query, " ".join(reply.reason.split())[:300])


def _said(query: str) -> str:
    """Give a query without what makes no difference to a search: case, white space, and marks at its end."""
    return " ".join(query.casefold().split()).strip(" .?!。？！\"'“”")
