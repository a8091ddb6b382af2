"""Write and revise cited sections with the model, and converse; a simpler writer is the fallback on a spent budget."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial

from pydantic import BaseModel, ValidationError

import prompts
from graph.errors import BudgetExhausted, InvalidRequest, ModelReplyInvalid, fallback_failure
from graph.evidence import Failure, Hit, Intent
from graph.ports import AnswerWriter, Draft, DraftClosed, DraftOpened, DraftText, DraftThinking, FaultySection, Revision
from graph.state import Turn
from graph.usage import Meter
from tools.llm.model_endpoint import Endpoint
from tools.llm.model_reply import ReplyEnd, ReplyPart, ReplyText, ReplyThinking
from tools.llm.prompting import conversation, cut_to_tokens, estimate_tokens, language_name, messages, segment_context
from tools.llm.reply_schemas import answer_schema, read_form, revision_schema
from tools.llm.sanitizing import sanitize
from tools.llm.section_reader import BROKEN_OFF, CitedIds, SectionReader, SectionText, offered_ids


async def within_budget(
    drafts: AsyncGenerator[Draft, None],
    *,
    broken_off: Callable[[], Iterable[Draft]],
    fallback: AsyncIterator[Draft],
    instead: str,
) -> AsyncGenerator[Draft, None]:
    """Pass drafts on for as long as the budget lasts.

    Where it ends after a section began, ``broken_off`` returns the drafts that close it. Before that the fallback
    writes, and its first section says why; ``instead`` says in a sentence what it does.
    """
    begun = False
    try:
        async with aclosing(drafts) as stream:
            async for draft in stream:
                begun = begun or not isinstance(draft, DraftThinking)
                yield draft
        return
    except BudgetExhausted as error:
        said: Failure | None = fallback_failure(error, instead)
    if begun:
        for draft in broken_off():
            yield draft
        return
    async with aclosing(fallback) as simpler:  # type: ignore[type-var]
        async for draft in simpler:
            if isinstance(draft, DraftOpened):
                draft, said = replace(draft, fallback=said), None
            yield draft


REVISION_PROMPT = prompts.load("revise_sections", "language", "context", "question", "sections")
CHARACTERS_PER_TOKEN = 4


class RevisionReply(BaseModel):
    """The model's reply; each section is read on its own, so that one slip does not cost the others."""

    sections: list[object]


class SectionReply(BaseModel):
    """A section as written again, under the number it was shown with. What stands for ids may be anything."""

    section: int
    text: str
    source_ids: list[object] | str = []


async def revise(
    endpoint: Endpoint,
    question: str,
    faulty: Sequence[FaultySection],
    sources: Sequence[Hit],
    *,
    language: str,
    reserve: int,
    meter: Meter,
) -> list[Revision]:
    """Write faulty sections again; ``reserve`` tokens of the model's context are left for the reply.

    Sections that the reply leaves out, and those for which the context has no room, stay as they are. Where there is no
    source left to write from, all are withdrawn without a call. Of a section given twice the first counts. Raises
    ModelReplyInvalid where nothing can be read.
    """
    if not sources:
        return [Revision(section.section_index, "", ()) for section in faulty]
    asked = sanitize(question)
    room = endpoint.context_tokens - reserve - estimate_tokens(REVISION_PROMPT.text) - estimate_tokens(asked)
    shown = _shown(faulty, max_tokens=room // 3)
    context = segment_context(
        [hit.segment for hit in sources], max_tokens=max(1, room - sum(estimate_tokens(each) for each in shown))
    )
    if not shown:
        return []
    text = await endpoint.read(
        messages(
            REVISION_PROMPT,
            language=language_name(language),
            context=context.text,
            question=asked,
            sections="\n\n".join(shown),
        ),
        schema=revision_schema(len(shown), context.segment_ids),
        max_characters=reserve * CHARACTERS_PER_TOKEN,
        meter=meter,
    )
    return _read_revisions(text, faulty[: len(shown)], context.segment_ids)


def _shown(faulty: Sequence[FaultySection], *, max_tokens: int) -> list[str]:
    """Lay out the sections under their numbers, from 1, as many as fit; each with the sentences that failed."""
    shown: list[str] = []
    for number, section in enumerate(faulty, start=1):
        lines = [f"[{number}] {_shown_line(section.text)}"]
        for claim in section.claims:
            reasons = _shown_line("; ".join(claim.reasons)) or claim.verdict
            lines.append(f'- Failed: "{_shown_line(claim.text)}" Reason: {reasons}')
        laid_out = "\n".join(lines)
        max_tokens -= estimate_tokens(laid_out)
        if max_tokens < 0:
            break
        shown.append(laid_out)
    return shown


def _shown_line(text: str) -> str:
    return cut_to_tokens(sanitize(" ".join(text.split())), 400)


def _read_revisions(text: str, faulty: Sequence[FaultySection], segment_ids: Sequence[str]) -> list[Revision]:
    replies = read_form(text, RevisionReply).sections
    offered = offered_ids(segment_ids)
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
            revisions.setdefault(index, _revision(index, section, CitedIds(offered)))
    if not readable:
        raise ModelReplyInvalid("The model's reply holds no section that can be read.")
    return list(revisions.values())


def _revision(section_index: int, section: SectionReply, cited: CitedIds) -> Revision:
    text = SectionText()
    text.feed(section.text)
    text.finish()
    for written in [section.source_ids] if isinstance(section.source_ids, str) else section.source_ids:
        cited.cite(written)
    for tagged in text.tagged:
        cited.cite(tagged)
    return Revision(section_index, text.text, cited.ids if text.begun else (), cited.unknown)


ANSWER_PROMPT = prompts.load("generate_answer", "language", "context", "question")
CONVERSATION_PROMPT = prompts.load("answer_directly", "language", "conversation", "question")
LEAST_CONTEXT = 128  # tokens
QUOTED = "The best sentences of the sources are quoted word for word."
FIXED_LINE = "A fixed line stands in for the reply."


@dataclass(frozen=True, slots=True)
class LlmWriter:
    """AnswerWriter by the model. A quarter of its context is left for the reply, half where it thinks first.

    Where the budget is used up before a first section began, ``fallback`` writes, and says why; after that the sections
    that are finished stay, and the open one ends with "…".
    """

    endpoint: Endpoint
    fallback: AnswerWriter
    thinks: bool = False

    async def write(
        self, question: str, sources: Sequence[Hit], *, language: str, meter: Meter
    ) -> AsyncIterator[Draft]:
        """Write the answer in sections that cite the sources given; no section at all is an honest no.

        What the model cites beyond the segments it was shown is dropped and counted. Prose in the place of JSON
        becomes sections by paragraph, citing only what it tags. Raises InvalidRequest where the question leaves no
        room in the model's context, and ModelReplyInvalid where the reply ends without a readable section.
        """
        asked = sanitize(question)
        room = (
            self.endpoint.context_tokens - self._reserve - estimate_tokens(ANSWER_PROMPT.text) - estimate_tokens(asked)
        )
        if room < LEAST_CONTEXT:
            raise InvalidRequest("The question is too long for the context of this model.")
        context = segment_context([hit.segment for hit in sources], max_tokens=room)
        if not context.segment_ids:
            return
        reader = SectionReader(context.segment_ids)
        reply = self.endpoint.reply(
            messages(ANSWER_PROMPT, language=language_name(language), context=context.text, question=asked),
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
        async with aclosing(drafts) as stream:
            async for draft in stream:
                yield draft

    async def revise(
        self, question: str, faulty: Sequence[FaultySection], sources: Sequence[Hit], *, language: str, meter: Meter
    ) -> list[Revision]:
        """Write faulty sections again from the sources, all in one call.

        Raises ModelReplyInvalid where nothing can be read.
        """
        return await revise(
            self.endpoint, question, faulty, sources, language=language, reserve=self._reserve, meter=meter
        )

    async def converse(
        self, question: str, turns: Sequence[Turn], *, language: str, intent: Intent, meter: Meter
    ) -> AsyncIterator[Draft]:
        """Reply without the library, in one section without sources.

        Raises ModelReplyInvalid where the reply is empty.
        """
        history = conversation(turns, max_tokens=self.endpoint.context_tokens // 3)
        asked = messages(
            CONVERSATION_PROMPT, language=language_name(language), conversation=history, question=sanitize(question)
        )
        section = SectionText()
        limit = self._reserve * CHARACTERS_PER_TOKEN
        drafts = within_budget(
            _paragraph(self.endpoint.reply(asked, schema=None, max_characters=limit, meter=meter), section),
            broken_off=lambda: (DraftText(section.finish(BROKEN_OFF)), DraftClosed(section.text, ())),
            fallback=self.fallback.converse(question, turns, language=language, intent=intent, meter=meter),
            instead=FIXED_LINE,
        )
        async with aclosing(drafts) as stream:
            async for draft in stream:
                yield draft

    @property
    def _reserve(self) -> int:
        return self.endpoint.context_tokens // (2 if self.thinks else 4)


async def _sections(reply: AsyncGenerator[ReplyPart, None], reader: SectionReader) -> AsyncGenerator[Draft, None]:
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


async def _paragraph(reply: AsyncGenerator[ReplyPart, None], section: SectionText) -> AsyncGenerator[Draft, None]:
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
                    yield DraftOpened()
                yield DraftText(shown)
    if not section.begun:
        raise ModelReplyInvalid("The model's reply is empty.")
    yield DraftClosed(section.text, ())
