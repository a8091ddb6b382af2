"""Resolve a passage that a reader marked: find it in the selected documents, or store it so that it can be cited."""

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
MOST_PLACES = 1000  # tried in the search for a place at word boundaries
_NAMESPACE = UUID("5b0c5d4e-6e0b-5b7e-9f0a-3f4de1c4b8f2")


class MarkedPassages:
    """A finder of passages in documents; passages that are in none of them are stored for ``keep_days``."""

    def __init__(self, reader: SegmentReader, ingestor: Ingestor, *, keep_days: int) -> None:
        self._reader = reader
        self._ingestor = ingestor
        self._keep = timedelta(days=keep_days)

    async def find_passage(self, text: str, document_ids: Sequence[str], identity: Identity) -> list[Segment]:
        """Return the segments that contain a passage; see ``graph.ports.PassageFinder``.

        A stored passage is a private document of its user and never searched; if it is marked again, it keeps its id
        and its expiry date is renewed. Raises NotFound for an unknown workspace, EmbeddingUnavailable if the passage
        must be stored, DatabaseUnavailable.
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
    """Find a passage in a text, ignoring white space and the composition of accented letters.

    A browser's selection has other line breaks than the text, and may compose letters. Everything else must match
    exactly. Returns the span in the original text; a place at word boundaries is preferred to one inside a word. Takes
    time linear in the text.
    """
    needle = _squeezed(compose(passage))
    composed, clusters = _composed(text)
    squeezed = _squeezed(composed)
    at = squeezed.find(needle) if needle else -1
    if at < 0:
        return None
    runs = _runs(composed)
    found = first = _spread(runs, at, at + len(needle))
    for _ in range(MOST_PLACES):
        if is_whole(composed, *found):
            break
        at = squeezed.find(needle, at + 1)
        if at < 0:
            found = first
            break
        found = _spread(runs, at, at + len(needle))
    return found if clusters is None else (clusters[found[0]][0], clusters[found[1] - 1][1])


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _runs(text: str) -> tuple[list[int], list[int]]:
    """Return the start of each run of non-space characters: in the text without white space, and in the text."""
    matches = [match.span() for match in re.finditer(r"\S+", text)]
    squeezed = accumulate((end - start for start, end in matches), initial=0)
    return list(squeezed)[: len(matches)], [start for start, _ in matches]


def _spread(runs: tuple[list[int], list[int]], start: int, end: int) -> tuple[int, int]:
    """Convert a span of the text without white space into a span of the text."""
    squeezed, spread = runs
    first, last = bisect_right(squeezed, start) - 1, bisect_right(squeezed, end - 1) - 1
    return spread[first] + start - squeezed[first], spread[last] + end - squeezed[last]


def _composed(text: str) -> tuple[str, list[tuple[int, int]] | None]:
    """Compose a text; also return the original span of each composed letter, or None if nothing changed."""
    if unicodedata.is_normalized("NFC", text):
        return text, None
    starts = [at for at, letter in enumerate(text) if at == 0 or not _joins(letter)]
    clusters = list(pairwise([*starts, len(text)]))
    parts = [compose(text[start:end]) for start, end in clusters]
    return "".join(parts), [cluster for cluster, part in zip(clusters, parts, strict=True) for _ in part]


def _joins(letter: str) -> bool:
    """Whether a letter may compose with the one before: a mark, or a vowel or final of a Hangul syllable."""
    return unicodedata.combining(letter) > 0 or "\u1160" <= letter <= "\u11ff"
