"""Resolve a passage that a reader marked: find it in the documents at hand, or store it to be cited."""

import asyncio
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import accumulate, pairwise
from uuid import UUID, uuid5

from graph.evidence import Identity, Page, Segment
from graph.ports import SegmentReader
from text.normal_forms import compose
from text.words import is_whole
from tools.library.ingestion import Ingestor, NewDocument

SOURCE_TYPE = "selection"
PLACES_LOOKED_AT = 1000  # for one that stands between words
_NAMESPACE = UUID("5b0c5d4e-6e0b-5b7e-9f0a-3f4de1c4b8f2")


class MarkedPassages:
    """Finds passages in documents, and keeps for ``keep_days`` those that stand in none of them."""

    def __init__(self, reader: SegmentReader, ingestor: Ingestor, *, keep_days: int) -> None:
        self._reader = reader
        self._ingestor = ingestor
        self._keep = timedelta(days=keep_days)

    async def find_passage(self, text: str, document_ids: Sequence[str], identity: Identity) -> list[Segment]:
        """Return the segments that hold a passage; see ``graph.ports.PassageFinder``.

        A stored passage is a document of its user alone and of no search; marked again, it keeps its id and its time
        begins anew. Raises NotFound for an unknown workspace, EmbeddingUnavailable where the passage has to be stored,
        DatabaseUnavailable.
        """
        passage = compose(text).strip()
        if not passage:
            return []
        pages = await self._reader.read_pages(list(dict.fromkeys(document_ids)), identity) if document_ids else []
        found = await asyncio.to_thread(_first_holding, pages, passage)
        return found or await self._stored(passage, identity)

    async def _stored(self, passage: str, identity: Identity) -> list[Segment]:
        document_id = str(uuid5(_NAMESPACE, "\0".join((identity.workspace, identity.user, passage))))
        document = NewDocument(
            document_id=document_id,
            text=passage,
            media_type="text/plain",
            owner=identity.user,
            source_type=SOURCE_TYPE,
            metadata={},
            expires_at=datetime.now(UTC) + self._keep,
        )
        await self._ingestor.ingest(identity, document)
        return [segment for page in await self._reader.read_pages([document_id], identity) for segment in page.segments]


def _first_holding(pages: Sequence[Page], passage: str) -> list[Segment]:
    for page in pages:
        if span := find_span(passage, "".join(segment.text for segment in page.segments)):
            start, end = span
            return [segment for segment in page.segments if segment.start < end and start < segment.end]
    return []


def find_span(passage: str, text: str) -> tuple[int, int] | None:
    """Find a passage in a text, white space and the composition of accented letters aside.

    A browser gives a selection with other line breaks than the text has, and may compose its letters. Everything else
    has to stand there exactly. Returns the span in the text as it is; a place between words is preferred to one within
    a word. Takes time linear in the text.
    """
    wanted = _squeezed(compose(passage))
    composed, clusters = _composed(text)
    squeezed = _squeezed(composed)
    at = squeezed.find(wanted) if wanted else -1
    if at < 0:
        return None
    runs = _runs(composed)
    found = first = _spread(runs, at, at + len(wanted))
    for _ in range(PLACES_LOOKED_AT):
        if is_whole(composed, *found):
            break
        at = squeezed.find(wanted, at + 1)
        if at < 0:
            found = first
            break
        found = _spread(runs, at, at + len(wanted))
    return found if clusters is None else (clusters[found[0]][0], clusters[found[1] - 1][1])


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _runs(text: str) -> tuple[list[int], list[int]]:
    """Return where each run of letters begins: in the text without white space, and in the text."""
    matches = [match.span() for match in re.finditer(r"\S+", text)]
    squeezed = accumulate((end - start for start, end in matches), initial=0)
    return list(squeezed)[: len(matches)], [start for start, _ in matches]


def _spread(runs: tuple[list[int], list[int]], start: int, end: int) -> tuple[int, int]:
    """Turn a span of the text without white space into that of the text."""
    squeezed, spread = runs
    first, last = bisect_right(squeezed, start) - 1, bisect_right(squeezed, end - 1) - 1
    return spread[first] + start - squeezed[first], spread[last] + end - squeezed[last]


def _composed(text: str) -> tuple[str, list[tuple[int, int]] | None]:
    """Compose a text, with the span in it that each composed letter comes from; None where they are the same."""
    if unicodedata.is_normalized("NFC", text):
        return text, None
    starts = [at for at, letter in enumerate(text) if at == 0 or not _joins(letter)]
    clusters = list(pairwise([*starts, len(text)]))
    parts = [compose(text[start:end]) for start, end in clusters]
    return "".join(parts), [cluster for cluster, part in zip(clusters, parts, strict=True) for _ in part]


def _joins(letter: str) -> bool:
    """Return whether a letter may be composed with the one before: marks, vowels and finals of Hangul syllables."""
    return unicodedata.combining(letter) > 0 or "\u1160" <= letter <= "\u11ff"
