"""Write and revise cited sections with the model, and converse; a simpler writer takes over on a spent budget."""

from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial

from pydantic import BaseModel, ValidationError

import prompts
from graph.errors import BudgetExhausted, InvalidRequest, ModelContextExceeded, ModelReplyInvalid, fallback_failure
from graph.evidence import Failure, Hit, Intent, Segment
from graph.ports import (
    AnswerWriter,
    Draft,
    DraftClosed,
    DraftOpened,
    Drafts,
    DraftText,
    DraftThinking,
    FaultySection,
    Revision,
)
from graph.reasons import Reason
from graph.rows import Turn
from graph.usage import Meter
from tools.llm.model_endpoint import Endpoint
from tools.llm.model_reply import ReplyEnd, ReplyPart, ReplyText, ReplyThinking
from tools.llm.prompting import (
    SegmentContext,
    conversation,
    cut_to_tokens,
    estimate_tokens,
    language_name,
    messages,
    sanitize,
    segment_context,
    segment_tokens,
    with_task,
)
from tools.llm.reply_schemas import answer_schema, read_form, revision_schema
from tools.llm.section_reader import BROKEN_OFF, SectionReader
from tools.llm.section_text import CitedIds, SectionText, offered_ids


async def within_budget(
    drafts: Drafts,
    *,
    broken_off: Callable[[], Iterable[Draft]],
    fallback: Drafts,
    instead: Reason,
) -> Drafts:
    """Yield drafts while the budget lasts.

    If it ends after a section has begun, ``broken_off`` returns the drafts that close that section. If it ends before,
    the fallback writes, and its first section states why; ``instead`` is a sentence about what the fallback does.
    """
    begun = False
    try:
        async with aclosing(drafts) as stream:
            async for draft in stream:
                begun = begun or not isinstance(draft, DraftThinking)
                yield draft
        return
    except BudgetExhausted as error:
        failure: Failure | None = fallback_failure(error, instead)
    if begun:
        for draft in broken_off():
            yield draft
        return
    async with aclosing(fallback) as simpler:
        async for draft in simpler:
            if isinstance(draft, DraftOpened):
                draft, failure = replace(draft, fallback=failure), None
            yield draft


ANSWER_PROMPT = prompts.load("generate_answer", "language", "context", "question")
REVISION_PROMPT = prompts.load("revise_sections", "language", "sections")
CHARACTERS_PER_TOKEN = 4


class RevisionReply(BaseModel):
    """The model's reply; sections are validated one by one, so that an invalid one does not discard the others."""

    sections: list[object]


class SectionReply(BaseModel):
    """A rewritten section with the number under which it was shown. ``source_ids`` may contain anything."""

    section: int
    text: str
    source_ids: list[object] | str = []


def _shown(faulty: Sequence[FaultySection], *, max_tokens: int) -> list[str]:
    """Format the sections under their numbers, from 1, as many as fit, each with its failed claims."""
    shown: list[str] = []
    for number, section in enumerate(faulty, start=1):
        lines = [f"[{number}] {_shown_line(section.text)}"]
        for claim in section.claims:
            reasons = _shown_line("; ".join(claim.reasons)) or claim.verdict
            lines.append(f'- Failed: "{_shown_line(claim.text)}" Reason: {reasons}')
        formatted = "\n".join(lines)
        max_tokens -= estimate_tokens(formatted)
        if max_tokens < 0:
            break
        shown.append(formatted)
    return shown


def _shown_line(text: str) -> str:
    return cut_to_tokens(sanitize(" ".join(text.split())), 400)


def _read_revisions(text: str, faulty: Sequence[FaultySection], context: SegmentContext) -> list[Revision]:
    replies = read_form(text, RevisionReply).sections
    offered = offered_ids(context.segment_ids)
    revisions: dict[int, Revision] = {}
    readable = not replies
    for reply in replies:
        try:
            section = SectionReply.model_validate(reply)
        except ValidationError:
            continue
        readable = True
        if 1 <= section.section <= len(faulty):
            index = faulty[section.section - 1].section_index
            written = SectionText(context.text)
            revisions.setdefault(index, _revision(index, section, written, CitedIds(offered)))
    if not readable:
        raise ModelReplyInvalid("The model's reply holds no section that can be read.")
    return list(revisions.values())


def _revision(section_index: int, section: SectionReply, text: SectionText, cited: CitedIds) -> Revision:
    text.feed(section.text)
    text.finish()
    for written in [section.source_ids] if isinstance(section.source_ids, str) else section.source_ids:
        cited.cite(written)
    for tagged in text.tagged:
        cited.cite(tagged)
    return Revision(section_index, text.text, cited.ids if text.begun else (), cited.unknown)


CONVERSATION_PROMPT = prompts.load("answer_directly", "language", "conversation", "question")
KNOWLEDGE_PROMPT = prompts.load("own_knowledge", "language", "conversation", "question")
LEAST_CONTEXT = 128  # tokens
QUOTED = Reason("quoted_instead")
FIXED_LINE = Reason("fixed_line")


@dataclass(frozen=True, slots=True)
class LlmRoom:
    """A SourceRoom: a model's context less the prompt, the question, and ``reserve`` tokens for the reply."""

    context_tokens: int
    reserve: int

    def tokens(self, question: str) -> int:
        """Return the tokens left for sources."""
        prompt = estimate_tokens(ANSWER_PROMPT.text) + estimate_tokens(sanitize(question))
        return self.context_tokens - self.reserve - prompt

    def measure(self, segment: Segment) -> int:
        """Return the tokens of a segment as the model is shown it."""
        return segment_tokens(segment)


@dataclass(frozen=True, slots=True)
class LlmWriter:
    """An AnswerWriter by the model. A quarter of its context is kept for the reply, half if it thinks first.

    If the budget ends before the first section, ``fallback`` writes and states why; if it ends later, finished sections
    are kept and the open one ends with "…".
    """

    endpoint: Endpoint
    fallback: AnswerWriter
    thinks: bool = False

    async def write(self, question: str, sources: Sequence[Hit], *, language: str, meter: Meter) -> Drafts:
        """Write the answer in sections that cite the sources; no section means that the sources don't answer.

        Where the endpoint says that its context is smaller than was known, it is asked again with fewer sources.
        Ids of segments that the model was not shown are dropped and counted. Prose instead of JSON becomes one section
        per paragraph, citing only the ids that it names. Raises InvalidRequest if the question leaves no room in the
        model's context, and ModelReplyInvalid if the reply ends without a readable section.
        """
        safe_question = sanitize(question)
        room = self.room.tokens(question)
        if room < LEAST_CONTEXT:
            raise InvalidRequest("The question is too long for the context of this model.")
        context = segment_context([hit.segment for hit in sources], max_tokens=room)
        if not context.segment_ids:
            return
        reader = SectionReader(context.segment_ids, context.text)
        reply = self.endpoint.reply(
            messages(ANSWER_PROMPT, language=language_name(language), context=context.text, question=safe_question),
            schema=answer_schema(context.segment_ids),
            max_characters=self._reserve * CHARACTERS_PER_TOKEN,
            meter=meter,
        )
        drafts = within_budget(
            _sections(reply, reader),
            broken_off=partial(reader.end, cut=True),
            fallback=self.fallback.write(question, sources, language=language, meter=meter),
            instead=QUOTED,
        )
        known = self.endpoint.context_tokens
        try:
            async with aclosing(drafts) as stream:
                async for draft in stream:
                    yield draft
        except ModelContextExceeded:
            if self.endpoint.context_tokens >= known:
                raise
        else:
            return
        shorter = self.write(question, sources, language=language, meter=meter)
        async with aclosing(shorter) as again:
            async for draft in again:
                yield draft

    async def revise(
        self, question: str, faulty: Sequence[FaultySection], sources: Sequence[Hit], *, language: str, meter: Meter
    ) -> list[Revision]:
        """Rewrite faulty sections from the sources, all in one call.

        Sections that the reply omits, and those that don't fit into the context, stay as they are. Without sources, all
        are withdrawn without a call. If the reply has a section twice, the first counts. Raises ModelReplyInvalid if
        nothing in the reply is readable.
        """
        if not sources:
            return [Revision(section.section_index, "", ()) for section in faulty]
        room = self.room.tokens(question) - estimate_tokens(REVISION_PROMPT.text)
        shown = _shown(faulty, max_tokens=room // 3)
        if not shown:
            return []
        left = room - sum(estimate_tokens(each) for each in shown)
        context = segment_context([hit.segment for hit in sources], max_tokens=max(1, left))
        written = language_name(language)
        text = await self.endpoint.read(
            # The beginning of the request that the answer was written by, which its endpoint may have kept.
            with_task(
                messages(ANSWER_PROMPT, language=written, context=context.text, question=sanitize(question)),
                REVISION_PROMPT.format(language=written, sections="\n\n".join(shown)),
            ),
            schema=revision_schema(len(shown), context.segment_ids),
            max_characters=self._reserve * CHARACTERS_PER_TOKEN,
            meter=meter,
        )
        return _read_revisions(text, faulty[: len(shown)], context)

    async def converse(
        self,
        question: str,
        turns: Sequence[Turn],
        *,
        language: str,
        intent: Intent,
        own_knowledge: bool = False,
        meter: Meter,
    ) -> Drafts:
        """Reply without the library, in one section without sources; with ``own_knowledge`` by a prompt of its own.

        Raises ModelReplyInvalid if the reply is empty.
        """
        history = conversation(turns, max_tokens=self.endpoint.context_tokens // 3, last_whole=True)
        prompt = messages(
            KNOWLEDGE_PROMPT if own_knowledge else CONVERSATION_PROMPT,
            language=language_name(language),
            conversation=history,
            question=sanitize(question),
        )
        section = SectionText()
        limit = self._reserve * CHARACTERS_PER_TOKEN
        drafts = within_budget(
            _paragraph(self.endpoint.reply(prompt, schema=None, max_characters=limit, meter=meter), section),
            broken_off=lambda: (DraftText(section.finish(BROKEN_OFF)), DraftClosed(section.text, ())),
            fallback=self.fallback.converse(
                question, turns, language=language, intent=intent, own_knowledge=own_knowledge, meter=meter
            ),
            instead=FIXED_LINE,
        )
        async with aclosing(drafts) as stream:
            async for draft in stream:
                yield draft

    @property
    def room(self) -> LlmRoom:
        """What fits beside the prompt."""
        return LlmRoom(self.endpoint.context_tokens, self._reserve)

    @property
    def _reserve(self) -> int:
        return self.endpoint.context_tokens // (2 if self.thinks else 4)


async def _sections(reply: AsyncGenerator[ReplyPart, None], reader: SectionReader) -> Drafts:
    async with aclosing(reply) as parts:
        async for part in parts:
            match part:
                case ReplyThinking(text):
                    yield DraftThinking(text)
                case ReplyText(text):
                    for draft in reader.feed(text):
                        yield draft
                case ReplyEnd(cut):
                    for draft in reader.end(cut=cut):
                        yield draft


async def _paragraph(reply: AsyncGenerator[ReplyPart, None], section: SectionText) -> Drafts:
    async with aclosing(reply) as parts:
        async for part in parts:
            begun = section.begun
            match part:
                case ReplyThinking(text):
                    yield DraftThinking(text)
                    continue
                case ReplyText(text):
                    shown = section.feed(text)
                case ReplyEnd(cut):
                    shown = section.finish(BROKEN_OFF if cut else "")
            if shown:
                if not begun:
                    yield DraftOpened(source_ids=())
                yield DraftText(shown)
    if not section.begun:
        raise ModelReplyInvalid("The model's reply is empty.")
    yield DraftClosed(section.text, ())
