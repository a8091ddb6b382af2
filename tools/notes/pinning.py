"""What is pinned: an answer, a part of it, or a passage of a document, stored as an answer with its citations."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from answers.citations import quote_alone, segments_of
from answers.marks import with_marks
from answers.surroundings import with_next
from graph.errors import InvalidRequest, NotFound
from graph.evidence import (
    Citation,
    Disagreement,
    Identity,
    Proof,
    SectionClaim,
    Segment,
    Source,
    section_of,
)
from graph.ports import SegmentReader
from text.words import cuts_word
from tools.library.marked_passages import find_rendered, find_span
from tools.retrieval.selections import passage_of
from tools.retrieval.withholding import WITHHELD
from tools.sessions.session_store import Sessions

MOST_QUOTED = 4_000  # characters of a passage
_ALSO = ("disagreements", "family", "assessment")


async def answer_to_pin(
    sessions: Sessions,
    identity: Identity,
    session_id: str,
    message_id: str,
    *,
    section: int | None = None,
    start: int | None = None,
) -> tuple[str, dict[str, Any]]:
    """Return the question and the body of an answer, of one section of it, or of the claim that begins at ``start``.

    What the identity may not read any more is left out. Raises NotFound, InvalidRequest where nothing is left.
    """
    history = await sessions.whole(identity, session_id, through=message_id)
    if not history.messages or history.messages[-1].message_id != message_id:
        raise NotFound(f"There is no message {message_id} in the session.")
    message = history.messages[-1]
    if message.role != "assistant":
        raise InvalidRequest("message_id: it must name an answer, not a question.")
    body = message.body
    wanted = [
        index
        for index, each in enumerate(body.get("sections", ()))
        if each["text"] not in ("", WITHHELD) and section in (None, index)
    ]
    claims = [_stored(each) for each in body.get("claims", ()) if each["section_index"] in wanted]
    sections = [body["sections"][index] for index in wanted]
    if start is not None:
        claims = [each for each in claims if each["start"] == start][:1]
        sections = [_only(sections[0], each) for each in claims]
        claims = [SectionClaim(**{**each, "start": 0, "end": each["end"] - each["start"]}) for each in claims]
    if not sections:
        raise InvalidRequest("message_id: the answer has no such part to pin.")
    moved = [_moved(each, wanted.index(each["section_index"])) for each in claims]
    kept: dict[str, Any] = {name: body[name] for name in _ALSO if name in body and section is None}
    kept |= {"outcome": message.outcome, "stop_reason": message.stop_reason}
    question = next((each.content for each in reversed(history.messages) if each.role == "user"), "")
    return question, {**kept, **_body(sections, moved, body.get("sources", ()), kept.get("disagreements", ()))}


async def passage_to_pin(
    reader: SegmentReader, identity: Identity, document_id: str, quote: str, *, start: int | None = None
) -> dict[str, Any]:
    """Return a passage of a document as the body of an answer that quotes it.

    The quote may have other line breaks than the text; ``start`` is where it begins, if that is known. What is stored
    is the slice of the text, to whole words, as part of one is never found again. Raises NotFound, InvalidRequest where
    the document does not hold the quote.
    """
    pages = await reader.read_pages([document_id], identity)
    if not pages:
        raise NotFound(f"There is no document {document_id}.")
    segments = pages[0].segments
    found = await asyncio.to_thread(_find, segments, passage_of(quote), start)
    if found is None:
        raise InvalidRequest("quote: the document does not hold these words.", suggestion="Mark the passage again.")
    segment = _holding(segments, *found)
    claim, source = quote_alone(segment, *found)
    proof = Proof(segment_id=segment.segment_id, start=found[0], end=found[1], origin="cited")
    section = section_of(claim["text"], [segment.segment_id], passage=proof)
    return {"family": "extractive", **_body([section], [claim], [source])}


def _find(segments: Sequence[Segment], passage: str, start: int | None) -> tuple[int, int] | None:
    """Return the span of a passage in a document, widened to whole words; None where it is not there."""
    text = "".join(segment.text for segment in segments)
    if start is not None and passage and text.startswith(passage, start):
        found: tuple[int, int] | None = (start, start + len(passage))
    else:
        found = find_span(passage, text) or find_rendered(passage, text)
    if found is None or found[1] - found[0] > MOST_QUOTED:
        return None
    first, last = found
    while cuts_word(text, first) and last - first <= 2 * MOST_QUOTED:
        first -= 1
    while cuts_word(text, last) and last - first <= 2 * MOST_QUOTED:
        last += 1
    return (first, last) if last - first <= 2 * MOST_QUOTED else found


def _holding(segments: Sequence[Segment], start: int, end: int) -> Segment:
    """Return the segment in which a span begins, joined with as many behind it as the span reaches into."""
    within = [segment for segment in segments if segment.start < end and start < segment.end]
    joined = within[0]
    for each in within[1:]:
        joined = with_next(joined, each)
    return joined


def _body(
    sections: Sequence[Any],
    claims: Sequence[SectionClaim],
    sources: Sequence[Source],
    disagreements: Sequence[Disagreement] = (),
) -> dict[str, Any]:
    """Return a body with the sources that it cites: by them it is told later who may read it."""
    cited = {each["segment_id"] for claim in claims for each in claim["citations"]}
    cited |= {each for section in sections for each in section["source_ids"]}
    cited |= {each for found in disagreements for each in found["segment_ids"]}
    indices = {each["source_index"] for claim in claims for each in claim["citations"]}
    return {
        "sections": with_marks(sections, claims),
        "claims": list(claims),
        "citations": [each for claim in claims for each in claim["citations"]],
        "sources": [each for each in sources if cited & segments_of(each).keys() or each["index"] in indices],
    }


def _only(section: Mapping[str, Any], claim: SectionClaim) -> dict[str, Any]:
    """Return a section that has one of its claims alone; of one that cites nothing, its section's sources may be it."""
    text = section["text"][claim["start"] : claim["end"]]
    ids = list(dict.fromkeys(each["segment_id"] for each in claim["citations"])) or section["source_ids"]
    return {**section_of(text, ids, grounded=section.get("grounded", True))}


def _stored(claim: SectionClaim) -> SectionClaim:
    """Return a claim without what is told of its quotes on reading; those that are withheld are left out."""
    citations = [each.copy() for each in claim["citations"] if each.get("freshness") != "withheld"]
    for each in citations:
        each.pop("freshness", None)
        each.pop("now", None)
    return SectionClaim(**{**claim, "citations": citations})


def _moved(claim: SectionClaim, section_index: int) -> SectionClaim:
    citations = [Citation(**{**each, "section_index": section_index}) for each in claim["citations"]]
    return SectionClaim(**{**claim, "section_index": section_index, "citations": citations})
