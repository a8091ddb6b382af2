"""Write the answer in cited sections, and small talk without them, as the model's reply arrives."""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial

import prompts
from graph.errors import InvalidRequest, ModelReplyInvalid
from graph.evidence import Hit, Intent
from graph.ports import Draft, DraftClosed, DraftOpened, DraftText, DraftThought, FaultySection, Revision
from graph.spending import Meter
from graph.state import Turn
from tools.extractive.writer import ExtractiveWriter
from tools.llm.context import segment_context
from tools.llm.endpoint import Endpoint
from tools.llm.formats import answer_schema
from tools.llm.messages import conversation, language_name, messages
from tools.llm.neutral import neutralise
from tools.llm.reply import Ended, ReplyPart, Said, Thought
from tools.llm.revising import revise
from tools.llm.section_text import SectionText
from tools.llm.sections import BROKEN_OFF, SectionReader
from tools.llm.tokens import estimate_tokens
from tools.llm.understudy import within_budget

ANSWER = prompts.load("generate_answer", "language", "context", "question")
CONVERSE = prompts.load("answer_directly", "language", "conversation", "question")
CHARACTERS_PER_TOKEN = 4
LEAST_CONTEXT = 128  # tokens
QUOTED = "The best sentences of the sources are quoted word for word."
FIXED_LINE = "A fixed line stands in for the reply."


@dataclass(frozen=True, slots=True)
class LlmWriter:
    """Writes with the model. A quarter of its context is left for the reply, half where it thinks first.

    Where the budget is used up before a first section began, the extractive writer stands in, and says why; after
    that the sections that are finished stay, and the open one ends with "…".
    """

    endpoint: Endpoint
    thinks: bool = False

    async def write(
        self, question: str, sources: Sequence[Hit], *, language: str, meter: Meter
    ) -> AsyncIterator[Draft]:
        """Write the answer in sections that cite the sources given; no section at all is an honest no.

        What the model cites beyond the segments it was shown is dropped and counted. Prose in the place of JSON
        becomes sections by paragraph, citing only what it tags. Raises InvalidRequest where the question leaves no
        room in the model's context, and ModelReplyInvalid where the reply ends without a readable section.
        """
        asked = neutralise(question)
        room = self.endpoint.context_tokens - self._reserve - estimate_tokens(ANSWER.text) - estimate_tokens(asked)
        if room < LEAST_CONTEXT:
            raise InvalidRequest("The question is too long for the context of this model.")
        context = segment_context([hit.segment for hit in sources], max_tokens=room)
        if not context.segment_ids:
            return
        reader = SectionReader(context.segment_ids)
        reply = self.endpoint.reply(
            messages(ANSWER, language=language_name(language), context=context.text, question=asked),
            schema=answer_schema(context.segment_ids),
            max_characters=self._reserve * CHARACTERS_PER_TOKEN,
            meter=meter,
        )
        drafts = within_budget(
            _sections(reply, reader),
            broken_off=partial(reader.end, cut=True),
            understudy=ExtractiveWriter().write(question, sources, language=language, meter=meter),
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
            CONVERSE, language=language_name(language), conversation=history, question=neutralise(question)
        )
        section = SectionText()
        limit = self._reserve * CHARACTERS_PER_TOKEN
        drafts = within_budget(
            _paragraph(self.endpoint.reply(asked, schema=None, max_characters=limit, meter=meter), section),
            broken_off=lambda: (DraftText(section.finish(BROKEN_OFF)), DraftClosed(section.text, ())),
            understudy=ExtractiveWriter().converse(question, turns, language=language, intent=intent, meter=meter),
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
                case Thought(text):
                    yield DraftThought(text)
                case Said(text):
                    for draft in reader.feed(text):
                        yield draft
                case Ended(cut):
                    for draft in reader.end(cut=cut):
                        yield draft


async def _paragraph(reply: AsyncGenerator[ReplyPart, None], section: SectionText) -> AsyncGenerator[Draft, None]:
    async with aclosing(reply) as parts:
        async for part in parts:
            begun = section.begun
            match part:
                case Thought(text):
                    yield DraftThought(text)
                    continue
                case Said(text):
                    shown = section.feed(text)
                case Ended(cut):
                    shown = section.finish(BROKEN_OFF if cut else "")
            if shown:
                if not begun:
                    yield DraftOpened()
                yield DraftText(shown)
    if not section.begun:
        raise ModelReplyInvalid("The model's reply is empty.")
    yield DraftClosed(section.text, ())
