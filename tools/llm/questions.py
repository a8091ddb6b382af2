"""Model calls about questions: make one standalone, rewrite it for a search, title its conversation, propose others."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, zip_longest
from typing import Annotated, Literal

from pydantic import BaseModel, StringConstraints

import prompts
from graph.errors import BudgetExhausted, DependencyFailed, ModelReplyInvalid, fallback_failure
from graph.evidence import Asks, Effort, Failure, Intent, SearchMode, Segment
from graph.ports import Preparation, ProposedQuestion, Rewriting
from graph.reasons import Reason, why
from graph.rows import Turn
from graph.usage import Meter
from tools.llm.model_endpoint import Endpoint
from tools.llm.prompting import (
    conversation,
    cut_to_tokens,
    language_name,
    messages,
    one_line,
    sanitize,
    segment_context,
)
from tools.llm.reply_schemas import (
    TITLE,
    preparation_schema,
    proposals_schema,
    read_form,
    rewriting_schema,
)
from tools.rules.follow_ups import standalone
from tools.rules.question_rules import RulePreparer, RuleRewriter, RuleTitler, title_of
from tools.rules.small_talk_rules import small_talk, without_courtesies

PREPARATION_PROMPT = prompts.load("decide_retrieval", "conversation", "pages", "general", "parts", "search", "question")
PREPARATION_CHARACTERS = 24_000
MOST_LANGUAGES = 3  # of the library, that a model is told
MOST_PARTS = 4  # of a question
MOST_WORDINGS = 6  # in other languages

_ABOUT_LIBRARY: Mapping[str, Asks] = {"about_library": "list", "file_order": "edit"}

log = logging.getLogger(__name__)


class PreparationReply(BaseModel):
    """The model's reply to a preparation."""

    standalone_question: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=10_000)]
    intent: Literal[Intent, "file_order"]
    needs_retrieval: bool
    reason: str = ""
    sub_questions: list[str] | None = None
    search_queries: dict[str, list[str] | str | None] | None = None


@dataclass(frozen=True, slots=True)
class LlmPreparer:
    """A QuestionPreparer by rule, and by the model in one small call where the effort asks for it.

    In ``fast`` effort the model is never asked, in ``balanced`` about messages that follow a question and about
    questions in another language than the library, in ``thorough`` about first questions too, and always for the parts
    of a question.
    """

    endpoint: Endpoint
    effort: Effort = "balanced"

    async def prepare(
        self,
        question: str,
        turns: Sequence[Turn],
        *,
        search: SearchMode,
        has_pages: bool,
        general_knowledge: bool = False,
        search_languages: Sequence[str] = (),
        meter: Meter,
    ) -> Preparation:
        """Make the question standalone and decide on retrieval, in at most one model call.

        No call is made where there is nothing to decide: for small talk that the rules know, and where the request
        allows no search. Selected pages are read for every message that is not small talk. If the budget is spent, the
        question is prepared by rule.
        """
        by_rule = await RulePreparer().prepare(question, turns, search=search, has_pages=has_pages, meter=meter)
        if not standalone(question, turns).changed:
            asked = by_rule.standalone_question  # within a prompt that wraps it, of which the writer reads all
            beside = {by_rule.language: (asked,)} if by_rule.search_queries else {}
            whole = without_courtesies(question)  # with its line breaks
            by_rule = replace(by_rule, standalone_question=whole, search_queries=beside)
        nowhere = search == "off" and not has_pages
        nothing_open = not by_rule.needs_retrieval and not _accepts_offer(question, turns)
        worded_in = [each for each in search_languages if each != by_rule.language][:MOST_LANGUAGES]
        foreign = bool(worded_in) and by_rule.language not in search_languages
        if nowhere or nothing_open or not self._asks(turns, search, foreign=foreign):
            return by_rule
        try:
            reply = await self._ask(
                question,
                turns,
                has_pages=has_pages,
                general=general_knowledge,
                worded_in=worded_in,
                meter=meter,
            )
        except ModelReplyInvalid as error:
            log.warning("Model %s: %s Searching for the question as asked.", self.endpoint.name, error.message)
            instead = Reason("searched_as_asked")
            failure = Failure(code=error.code, message=str(instead), why=why(instead))
            unread = Reason("decision_unreadable")
            return Preparation(question, True, unread, "content_query", by_rule.language, failure)
        except BudgetExhausted as error:
            return replace(by_rule, fallback=fallback_failure(error, Reason("prepared_by_rule")))
        needed = search == "always" or reply.needs_retrieval or (has_pages and reply.intent == "content_query")
        about = None if needed else _ABOUT_LIBRARY.get(reply.intent)
        intent: Intent = "small_talk" if not needed and reply.intent == "small_talk" else "content_query"
        reason = reply.reason.strip()[:300] or Reason("model_decided")
        if needed != reply.needs_retrieval:
            reason = Reason("pages_selected" if has_pages else "search_asked")
        parts = [part for each in (reply.sub_questions or [])[:MOST_PARTS] if (part := one_query(each))]
        return Preparation(
            reply.standalone_question,
            needed,
            reason,
            intent,
            by_rule.language,
            search_queries=_queries(reply.search_queries or {}, worded_in),
            sub_questions=tuple(parts) if self.effort == "thorough" and len(parts) > 1 else (),
            about_library=about,
        )

    def _asks(self, turns: Sequence[Turn], search: SearchMode, *, foreign: bool) -> bool:
        if self.effort == "fast":
            return False
        if foreign:
            return True
        follows = any(small_talk(turn["question"]) is None for turn in turns)
        return follows or (self.effort == "thorough" and search != "always")

    async def _ask(
        self,
        question: str,
        turns: Sequence[Turn],
        *,
        has_pages: bool,
        general: bool,
        worded_in: Sequence[str],
        meter: Meter,
    ) -> PreparationReply:
        thorough = self.effort == "thorough"
        prompt = messages(
            PREPARATION_PROMPT,
            conversation=conversation(turns, max_tokens=self.endpoint.context_tokens // 3),
            pages="yes, the message is about them" if has_pages else "none",
            general="yes" if general and not has_pages else "no",
            parts="yes" if thorough else "no",
            search=_named(worded_in) or "none",
            question=sanitize(question),
        )
        schema = preparation_schema(worded_in, sub_questions=thorough)
        text = await self.endpoint.read(prompt, schema=schema, max_characters=PREPARATION_CHARACTERS, meter=meter)
        return read_form(text, PreparationReply)


def _named(languages: Sequence[str]) -> str:
    """Name languages with the codes that are the keys of a reply."""
    return ", ".join(f"{language_name(each)} ({each})" for each in languages)


def _queries(replied: Mapping[str, list[str] | str | None], languages: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the queries of a reply in these languages; the first of each, then the second, as far as they go."""
    of = {each: [texts] if isinstance(texts := replied.get(each), str) else texts or [] for each in languages}
    pairs = [[(each, one_query(text)) for text in texts] for each, texts in of.items()]
    taken = [pair for pair in chain.from_iterable(zip_longest(*pairs)) if pair and pair[1]][:MOST_WORDINGS]
    return {each: found for each in of if (found := tuple(text for code, text in taken if code == each))}


def _accepts_offer(question: str, turns: Sequence[Turn]) -> bool:
    """Return whether a message such as "Yes, please" replies to an answer that ended in a question."""
    asked = bool(turns) and turns[-1]["answer"].rstrip().endswith(("?", "？"))
    return asked and small_talk(question) == "acknowledgement"


REWRITING_PROMPT = prompts.load("rewrite_query", "language", "question", "tried")
REWRITING_CHARACTERS = 2_000
LONGEST_QUERY = 300  # characters


def one_query(text: str) -> str:
    """Return a model's query on one line, cut to the longest that is searched for."""
    return " ".join(text.split())[:LONGEST_QUERY].strip()


class RewritingReply(BaseModel):
    """The model's reply to a rewriting."""

    query: str = ""
    queries: dict[str, str] = {}
    reason: str = ""


@dataclass(frozen=True, slots=True)
class LlmRewriter:
    """A QueryRewriter by the model, or by rule if the model call fails or repeats a query."""

    endpoint: Endpoint

    async def rewrite(
        self, question: str, tried: Sequence[str], *, languages: Sequence[str], meter: Meter
    ) -> Rewriting:
        """Return a query in other words than those tried, at most 300 characters long; one call for all languages."""
        try:
            return await self._ask(question, tried, languages, meter)
        except (DependencyFailed, BudgetExhausted) as error:
            log.warning("Model %s: %s Rewriting the query by rule.", self.endpoint.name, error.message)
            by_rule = await RuleRewriter().rewrite(question, tried, languages=languages, meter=meter)
            failure = fallback_failure(error, Reason("rewritten_by_rule"))
            return replace(by_rule, fallback=failure)

    async def _ask(self, question: str, tried: Sequence[str], languages: Sequence[str], meter: Meter) -> Rewriting:
        one = len(languages) == 1
        prompt = messages(
            REWRITING_PROMPT,
            language=language_name(languages[0]) if one else f'{_named(languages)}, under the key "queries"',
            question=sanitize(question),
            tried="\n".join(f"- {one_line(query)}" for query in tried) or "- (none)",
        )
        schema = rewriting_schema(languages)
        text = await self.endpoint.read(prompt, schema=schema, max_characters=REWRITING_CHARACTERS, meter=meter)
        reply = read_form(text, RewritingReply)
        worded = map(one_query, (reply.query, *(reply.queries.get(each, "") for each in languages)))
        new = {key: query for query in worded if (key := _normalized_query(query))}
        if not new:
            raise ModelReplyInvalid("The model returned no query.")
        query, *beside = [query for key, query in new.items() if key not in map(_normalized_query, tried)] or [""]
        if not query:
            raise ModelReplyInvalid("The model repeated an earlier query.")
        return Rewriting(query, " ".join(reply.reason.split())[:300], beside=tuple(beside))


def _normalized_query(query: str) -> str:
    """Normalize what makes no difference to a search: case, white space, and punctuation at either end."""
    return " ".join(query.casefold().split()).strip(" .?!。？！\"'“”")


TITLE_PROMPT = prompts.load("title", "language", "question")
TITLE_CHARACTERS = 1_000
QUESTION_TOKENS = 300  # the beginning of a long question names its subject


class TitleReply(BaseModel):
    """The model's reply with a title."""

    title: Annotated[str, StringConstraints(min_length=1, max_length=400)]


@dataclass(frozen=True, slots=True)
class LlmTitler:
    """A Titler by the model, or by rule if the model call fails or its reply can't be read."""

    endpoint: Endpoint

    async def title(self, question: str, *, language: str, meter: Meter) -> str:
        """Return a title; the prompt asks for two to seven words."""
        try:
            return await self._ask(question, language=language, meter=meter)
        except (DependencyFailed, BudgetExhausted) as error:
            log.warning("Model %s: %s Making the title by rule.", self.endpoint.name, error.message)
            return await RuleTitler().title(question, language=language, meter=meter)

    async def _ask(self, question: str, *, language: str, meter: Meter) -> str:
        shown = sanitize(cut_to_tokens(question, QUESTION_TOKENS))
        prompt = messages(TITLE_PROMPT, language=language_name(language), question=shown)
        text = await self.endpoint.read(prompt, schema=TITLE, max_characters=TITLE_CHARACTERS, meter=meter)
        title = title_of(read_form(text, TitleReply).title)
        if not title:
            raise ModelReplyInvalid("The model returned no title.")
        return title


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
