"""Model calls about the question: make it standalone, reword it as a search query, and title its conversation."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from pydantic import BaseModel, StringConstraints

import prompts
from graph.errors import BudgetExhausted, DependencyFailed, ModelReplyInvalid, fallback_failure
from graph.evidence import Failure, Intent, SearchMode
from graph.ports import Preparation, Rewriting
from graph.state import Turn
from graph.usage import Meter
from text.language import language
from tools.llm.model_endpoint import Endpoint
from tools.llm.prompting import conversation, cut_to_tokens, language_name, messages
from tools.llm.reply_schemas import PREPARATION, REWRITING, TITLE, read_form
from tools.llm.sanitizing import one_line, sanitize
from tools.rules.question_rules import RulePreparer, RuleRewriter, RuleTitler, title_of

PREPARATION_PROMPT = prompts.load("decide_retrieval", "conversation", "pages", "question")
PREPARATION_CHARACTERS = 24_000

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
            by_rule = await RulePreparer().prepare(question, turns, search=search, has_pages=has_pages, meter=meter)
            said = fallback_failure(error, "The question was prepared by rule.")
            return replace(by_rule, fallback=said)
        needed = search == "always" or reply.needs_retrieval or (has_pages and reply.intent == "content_query")
        intent: Intent = "content_query" if needed else reply.intent
        return Preparation(reply.standalone_question, needed, reply.reason.strip()[:300], intent, spoken)

    async def _ask(self, question: str, turns: Sequence[Turn], *, has_pages: bool, meter: Meter) -> PreparationReply:
        asked = messages(
            PREPARATION_PROMPT,
            conversation=conversation(turns, max_tokens=self.endpoint.context_tokens // 3),
            pages="yes, the message is about them" if has_pages else "none",
            question=sanitize(question),
        )
        text = await self.endpoint.read(asked, schema=PREPARATION, max_characters=PREPARATION_CHARACTERS, meter=meter)
        return read_form(text, PreparationReply)


REWRITING_PROMPT = prompts.load("rewrite_query", "language", "question", "tried")
REWRITING_CHARACTERS = 2_000
LONGEST_QUERY = 300  # characters


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
            by_rule = await RuleRewriter().rewrite(question, tried, language=language, meter=meter)
            said = fallback_failure(error, "The query was rewritten by rule.")
            return replace(by_rule, fallback=said)

    async def _ask(self, question: str, tried: Sequence[str], *, language: str, meter: Meter) -> Rewriting:
        asked = messages(
            REWRITING_PROMPT,
            language=language_name(language),
            question=sanitize(question),
            tried="\n".join(f"- {one_line(query)}" for query in tried) or "- (none)",
        )
        text = await self.endpoint.read(asked, schema=REWRITING, max_characters=REWRITING_CHARACTERS, meter=meter)
        reply = read_form(text, RewritingReply)
        query = " ".join(reply.query.split())[:LONGEST_QUERY].strip()
        if not query:
            raise ModelReplyInvalid("The model gave no query.")
        if _normalized_query(query) in {_normalized_query(each) for each in tried}:
            raise ModelReplyInvalid("The model repeated a query that was tried.")
        return Rewriting(query, " ".join(reply.reason.split())[:300])


def _normalized_query(query: str) -> str:
    """Return a query without what makes no difference to a search: case, white space, and marks at its end."""
    return " ".join(query.casefold().split()).strip(" .?!。？！\"'“”")


TITLE_PROMPT = prompts.load("title", "language", "question")
TITLE_CHARACTERS = 1_000
QUESTION_TOKENS = 300  # a long question says at its beginning what it is about


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
            return await RuleTitler().title(question, language=language, meter=meter)

    async def _ask(self, question: str, *, language: str, meter: Meter) -> str:
        shown = sanitize(cut_to_tokens(question, QUESTION_TOKENS))
        asked = messages(TITLE_PROMPT, language=language_name(language), question=shown)
        text = await self.endpoint.read(asked, schema=TITLE, max_characters=TITLE_CHARACTERS, meter=meter)
        title = title_of(read_form(text, TitleReply).title)
        if not title:
            raise ModelReplyInvalid("The model gave no title.")
        return title
