"""Whether what an old answer quotes still stands: checked against today's text whenever a session is read."""

import asyncio
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from graph.evidence import Citation, Freshness, Identity, Page, Place, Segment
from graph.ports import SegmentReader
from tools.relocating import Quoted, relocate
from tools.word_edges import is_whole

Standing = tuple[Freshness, Place | None]
GONE: Standing = ("deleted", None)


class TodaysText:
    """A document as it is today, in which the quotes of answers are looked for."""

    def __init__(self, page: Page) -> None:
        self._segments = page.segments
        self._starts = [segment.start for segment in page.segments]
        self._text = "".join(segment.text for segment in page.segments)

    def locate(self, quotes: Sequence[Quoted]) -> dict[Quoted, Standing]:
        """Tell of the quotes of one answer whether each is fresh, has moved or has changed, and where it stands.

        They are of one version of the document, so those that stayed tell where the text around the others has gone.
        """
        found = relocate(quotes, self._text, edges=self._starts, heading_at=self._heading)
        return {quoted: self._standing(quoted, found.get(quoted)) for quoted in quotes}

    def _standing(self, quoted: Quoted, at: int | None) -> Standing:
        if at is None:
            return "changed", None
        segment = self._holding(at)
        place = Place(
            segment_id=segment.segment_id,
            segment_index=segment.segment_index,
            page_idx=segment.page_idx,
            start=at,
            end=at + len(quoted.quote),
        )
        return "fresh" if at == quoted.start else "moved", place

    def _heading(self, at: int) -> str:
        return self._holding(at).heading

    def _holding(self, at: int) -> Segment:
        return self._segments[bisect_right(self._starts, at) - 1]


async def check_freshness(
    bodies: Sequence[dict[str, Any]], reader: SegmentReader, identity: Identity
) -> list[dict[str, Any]]:
    """Give bodies of stored messages with ``freshness``, and where it differs ``now``, in each of their citations.

    Two reads at most, however many citations there are: of the segments cited, and of the documents in which a quote
    no longer stands where it did. A document that is gone, expired or out of the identity's reach is deleted to it.
    """
    cited = [citation for body in bodies for citation in _citations(body)]
    if not cited:
        return list(bodies)
    wanted = list(dict.fromkeys(citation["segment_id"] for citation in cited))
    segments = {segment.segment_id: segment for segment in await reader.read_segments(wanted, identity)}
    stays = _Stays(segments)
    stale = list(dict.fromkeys(citation["document_id"] for citation in cited if not stays(citation)))
    pages = await reader.read_pages(stale, identity) if stale else []
    texts = {page.document_id: TodaysText(page) for page in pages}
    if not stale:
        return [_told(body, None, texts) for body in bodies]
    return await asyncio.to_thread(lambda: [_told(body, stays, texts) for body in bodies])


class _Stays:
    """Tells whether a quote stands where it stood, and looks at each once: an answer names every citation twice."""

    def __init__(self, segments: Mapping[str, Segment]) -> None:
        self._segments = segments
        self._seen: dict[tuple[str, int, int, str], bool] = {}

    def __call__(self, citation: Citation) -> bool:
        key = (citation["segment_id"], citation["start"], citation["end"], citation["quote"])
        if (seen := self._seen.get(key)) is None:
            seen = self._seen[key] = _stayed(citation, self._segments)
        return seen


def _told(body: dict[str, Any], stays: _Stays | None, texts: Mapping[str, TodaysText]) -> dict[str, Any]:
    """Tell of an answer's citations how they stand; without ``stays`` all of them stayed."""
    headings = {source["index"]: source["heading"] for source in body.get("sources", [])}
    quotes: dict[str, set[Quoted]] = defaultdict(set)
    moving: set[str] = set()
    if stays is not None:
        moving = {citation["document_id"] for citation in _citations(body) if not stays(citation)}
    if moving:  # all quotes of a document tell where the text around the others has gone
        for citation in _citations(body):
            quotes[citation["document_id"]].add(_quoted(citation, headings))
    located = {
        document_id: texts[document_id].locate(sorted(quotes[document_id]))
        for document_id in moving
        if document_id in texts
    }

    def checked(citation: Citation) -> Citation:
        document_id = citation["document_id"]
        if document_id not in moving:
            return {**citation, "freshness": "fresh"}
        freshness, place = located.get(document_id, {}).get(_quoted(citation, headings), GONE)
        told: Citation = {**citation, "freshness": freshness}
        if place is not None and (freshness == "moved" or place["segment_id"] != citation["segment_id"]):
            told["now"] = place
        return told

    told = dict(body)
    if "citations" in body:
        told["citations"] = [checked(citation) for citation in body["citations"]]
    if "claims" in body:
        told["claims"] = [
            {**claim, "citations": [checked(citation) for citation in claim["citations"]]} for claim in body["claims"]
        ]
    return told


def _citations(body: dict[str, Any]) -> Iterator[Citation]:
    """Give every citation of an answer, those in its list of claims too."""
    yield from body.get("citations", [])
    for claim in body.get("claims", []):
        yield from claim["citations"]


def _quoted(citation: Citation, headings: Mapping[int, str]) -> Quoted:
    return Quoted(citation["start"], citation["quote"], headings.get(citation["source_index"], ""))


def _stayed(citation: Citation, segments: Mapping[str, Segment]) -> bool:
    segment = segments.get(citation["segment_id"])
    if segment is None or not segment.start <= citation["start"] < citation["end"] <= segment.end:
        return False
    start, end = citation["start"] - segment.start, citation["end"] - segment.start
    return segment.text[start:end] == citation["quote"] and is_whole(segment.text, start, end)
