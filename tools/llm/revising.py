"""Write sections again that failed their check: one call for all of them."""

from collections.abc import Sequence

from pydantic import BaseModel, ValidationError

import prompts
from graph.errors import ModelReplyInvalid
from graph.evidence import Hit
from graph.ports import FaultySection, Revision
from graph.spending import Meter
from tools.llm.citing import CitedIds, offers
from tools.llm.context import segment_context
from tools.llm.endpoint import Endpoint
from tools.llm.formats import revision_schema
from tools.llm.json_object import read_form
from tools.llm.messages import language_name, messages
from tools.llm.neutral import neutralise
from tools.llm.section_text import SectionText
from tools.llm.tokens import cut_to_tokens, estimate_tokens

PROMPT = prompts.load("revise_sections", "language", "context", "question", "sections")
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
    asked = neutralise(question)
    room = endpoint.context_tokens - reserve - estimate_tokens(PROMPT.text) - estimate_tokens(asked)
    shown = _shown(faulty, max_tokens=room // 3)
    context = segment_context(
        [hit.segment for hit in sources], max_tokens=max(1, room - sum(estimate_tokens(each) for each in shown))
    )
    if not shown:
        return []
    text = await endpoint.read(
        messages(
            PROMPT,
            language=language_name(language),
            context=context.text,
            question=asked,
            sections="\n\n".join(shown),
        ),
        schema=revision_schema(len(shown), context.segment_ids),
        max_characters=reserve * CHARACTERS_PER_TOKEN,
        meter=meter,
    )
    return _read(text, faulty[: len(shown)], context.segment_ids)


def _shown(faulty: Sequence[FaultySection], *, max_tokens: int) -> list[str]:
    """Lay out the sections under their numbers, from 1, as many as fit; each with the sentences that failed."""
    shown: list[str] = []
    for number, section in enumerate(faulty, start=1):
        lines = [f"[{number}] {_line(section.text)}"]
        for claim in section.claims:
            reasons = _line("; ".join(claim.reasons)) or claim.verdict
            lines.append(f'- Failed: "{_line(claim.text)}" Reason: {reasons}')
        laid_out = "\n".join(lines)
        max_tokens -= estimate_tokens(laid_out)
        if max_tokens < 0:
            break
        shown.append(laid_out)
    return shown


def _line(text: str) -> str:
    return cut_to_tokens(neutralise(" ".join(text.split())), 400)


def _read(text: str, faulty: Sequence[FaultySection], segment_ids: Sequence[str]) -> list[Revision]:
    replies = read_form(text, RevisionReply).sections
    offered = offers(segment_ids)
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
