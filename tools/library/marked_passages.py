"""Resolve a passage that a reader marked: find it in the library, or store it so that it can be cited."""

import asyncio
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import accumulate, pairwise

from graph.evidence import Identity, Segment
from graph.ports import SearchQuery, SegmentReader, SegmentSearcher
from text.normal_forms import compose
from text.words import is_whole
from tools.library.ingestion import Ingestor, NewDocument
from tools.retrieval.selections import passage_of, selection_id
from tools.retrieval.withholding import MARKED

MOST_PLACES = 1000  # tried in the search for a place at word boundaries
CANDIDATES = 10  # segments of the library that are most like a passage
KEEP_DAYS = 30  # of what a search brought: longer than a session that cites it is usually kept
BESIDE = 2  # neighbours of each on either side, into which it may reach
FEWEST_LETTERS = 12  # of a passage that may stand between notation: fewer are found by chance
WITH_ITS_SESSION = datetime(9999, 12, 31, tzinfo=UTC)  # when a passage of a session expires: it is deleted with that
OUTSIDE_OF_SESSIONS = timedelta(days=1)


class MarkedPassages:
    """A finder of passages in documents; a passage that is in none of them is stored for its session."""

    def __init__(self, reader: SegmentReader, searcher: SegmentSearcher, ingestor: Ingestor) -> None:
        self._reader = reader
        self._searcher = searcher
        self._ingestor = ingestor

    async def find_passage(
        self, text: str, document_ids: Sequence[str], identity: Identity, *, session_id: str = ""
    ) -> list[Segment]:
        """Return the segments that contain a passage; see ``graph.ports.PassageFinder``.

        A stored passage is a private document of its user, neither searched nor listed; if it is marked again in its
        session, it keeps its id. Raises NotFound for an unknown workspace, EmbeddingUnavailable if the passage must be
        stored, DatabaseUnavailable.
        """
        passage = passage_of(text)
        if not passage:
            return []
        if document_ids:
            pages = await self._reader.read_pages(list(dict.fromkeys(document_ids)), identity)
            texts: list[Sequence[Segment]] = [page.segments for page in pages]
        else:
            texts = await self._likely(passage, identity)
        found = await asyncio.to_thread(_first_holding, texts, passage)
        return found or await self._stored(passage, identity, session_id)

    async def _likely(self, passage: str, identity: Identity) -> list[Sequence[Segment]]:
        """Return the stretches of the library that are most like a passage, each of consecutive segments."""
        query = SearchQuery(passage, identity, top_k=CANDIDATES, min_score=0.0, expand=BESIDE)
        stretches: list[list[Segment]] = []
        rank: dict[str, int] = {}
        hits = (await self._searcher.search(query)).hits
        for hit in hits:
            rank.setdefault(hit.segment.document_id, len(rank))
        for segment in sorted((hit.segment for hit in hits), key=lambda each: (rank[each.document_id], each.start)):
            last = stretches[-1][-1] if stretches else None
            if last and (last.document_id, last.end) == (segment.document_id, segment.start):
                stretches[-1].append(segment)
            else:
                stretches.append([segment])
        return [*stretches]

    async def _stored(self, passage: str, identity: Identity, session_id: str) -> list[Segment]:
        document_id = selection_id(session_id or f"{identity.workspace}\0{identity.user}", passage)
        document = NewDocument(
            document_id=document_id,
            text=passage,
            media_type="text/plain",
            owner=identity.user,
            source_type=MARKED,
            metadata={},
            expires_at=WITH_ITS_SESSION if session_id else datetime.now(UTC) + OUTSIDE_OF_SESSIONS,
        )
        await self._ingestor.ingest(identity, document)
        return [segment for page in await self._reader.read_pages([document_id], identity) for segment in page.segments]


def _first_holding(texts: Sequence[Sequence[Segment]], passage: str) -> list[Segment]:
    """Return the segments of the first text that holds a passage; word for word goes before between notation."""
    for find in (find_span, find_rendered):
        for segments in texts:
            if segments and (span := find(passage, "".join(segment.text for segment in segments))):
                start, end = (segments[0].start + at for at in span)
                return [segment for segment in segments if segment.start < end and start < segment.end]
    return []


_VISIBLE = re.compile(r"\S+")
_LETTERS = re.compile(r"[^\W_]+")
# What a browser shows nothing of: the target of a link or an image, a tag, an attribute behind a heading.
_HIDDEN = re.compile(r"\]\([^()\n]*\)|</?[A-Za-z][^<>]*>|\{#[\w-]+\}")


def find_span(passage: str, text: str) -> tuple[int, int] | None:
    """Find a passage in a text, ignoring white space and the composition of accented letters.

    A browser's selection has other line breaks than the text, and may compose letters. Everything else must match
    exactly. Returns the span in the original text; a place at word boundaries is preferred to one inside a word. Takes
    time linear in the text.
    """
    composed, clusters = _composed(text)
    return _found(compose(passage), composed, clusters, _VISIBLE)


def find_rendered(passage: str, text: str) -> tuple[int, int] | None:
    """Find a passage of a page as a browser shows it in the page's Markdown: by its letters and digits alone."""
    composed, clusters = _composed(text)
    shown = _HIDDEN.sub(lambda hidden: " " * len(hidden[0]), composed)
    selected = compose(passage)
    if len(_squeezed(selected, _LETTERS)) < FEWEST_LETTERS:
        return None
    return _found(selected, shown, clusters, _LETTERS)


def _found(
    passage: str, composed: str, clusters: list[tuple[int, int]] | None, part: re.Pattern[str]
) -> tuple[int, int] | None:
    needle = _squeezed(passage, part)
    squeezed = _squeezed(composed, part)
    at = squeezed.find(needle) if needle else -1
    if at < 0:
        return None
    runs = _runs(composed, part)
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


def _squeezed(text: str, part: re.Pattern[str]) -> str:
    return "".join(part.findall(text))


def _runs(text: str, part: re.Pattern[str]) -> tuple[list[int], list[int]]:
    """Return the start of each run of characters that count: in the text of those alone, and in the text."""
    matches = [match.span() for match in part.finditer(text)]
    squeezed = accumulate((end - start for start, end in matches), initial=0)
    return list(squeezed)[: len(matches)], [start for start, _ in matches]


def _spread(runs: tuple[list[int], list[int]], start: int, end: int) -> tuple[int, int]:
    """Convert a span of the text of those alone into a span of the text."""
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
