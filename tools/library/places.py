"""Where in its original a segment, or a part of it, stands: page and boxes, anchor, sheet and cell, or slide."""

import asyncio
from bisect import bisect_right
from collections.abc import Mapping
from typing import Any

from typing_extensions import TypedDict

from answers.citations import original_place, page_at, passage_shown
from answers.entries import entries_of
from answers.passages import Passages
from graph.errors import InvalidRequest, NotFound
from graph.evidence import Identity, Segment, ShownPassage
from graph.ports import SegmentReader
from tools.library.original_views import OriginalViews
from tools.originals.originals import Originals
from tools.parsers.canonical_text import PAGE_BREAK


class PlaceBox(TypedDict):
    """A rectangle on a page of some width and height as shown, in points from the upper left corner."""

    page_idx: int
    left: float
    top: float
    right: float
    bottom: float
    width: float
    height: float


class PlaceInOriginal(TypedDict):
    """The place of canonical text from ``start`` to ``end`` in the original; what the format does not have is null.

    ``boxes`` are of PDF alone, and empty where its original is not kept, or where no files may be read. ``anchor`` is
    the id to link to. ``passage`` is what stands around a part of a segment, grown from it as an answer's passages are.
    """

    document_id: str
    segment_index: int
    start: int
    end: int
    page_idx: int | None
    boxes: list[PlaceBox]
    anchor: str | None
    sheet: str | None
    cell: str | None
    slide: int | None
    passage: ShownPassage | None


class Places:
    """A finder of places in originals."""

    def __init__(self, reader: SegmentReader, originals: Originals, views: OriginalViews) -> None:
        self._reader = reader
        self._originals = originals
        self._views = views

    async def find(
        self, identity: Identity, document_id: str, segment_index: int, start: int | None = None, end: int | None = None
    ) -> PlaceInOriginal:
        """Find where a segment stands, or its part from ``start`` to ``end`` in offsets of the canonical text.

        Raises NotFound if the identity may not read the document or it has no such segment, InvalidRequest if the part
        is not inside of the segment, DependencyFailed if the store of originals fails.
        """
        found = await self._reader.read_segments([f"{document_id}:{segment_index}"], identity)
        if not found:
            raise NotFound(f"There is no segment {document_id}:{segment_index}.")
        [segment] = found
        start, end = segment.start if start is None else start, segment.end if end is None else end
        if not segment.start <= start < end <= segment.end:
            raise InvalidRequest(
                f"start and end: must be offsets inside of the segment, from {segment.start} to {segment.end}."
            )
        media_type = (await self._originals.text(identity, document_id)).media_type
        anchor = next((block.anchor for block in segment.blocks if block.end > start), "") or None
        page_idx = page_at(segment, start)
        place = original_place(media_type, page_idx, anchor or "")
        return PlaceInOriginal(
            document_id=segment.document_id,
            segment_index=segment.segment_index,
            start=start,
            end=end,
            page_idx=page_idx,
            boxes=await self._boxes(identity, segment, start, end, media_type),
            anchor=anchor,
            sheet=place.get("sheet"),
            cell=place.get("cell"),
            slide=place.get("slide"),
            passage=await asyncio.to_thread(_passage, segment, start, end),
        )

    async def _boxes(
        self, identity: Identity, segment: Segment, start: int, end: int, media_type: str
    ) -> list[PlaceBox]:
        if not identity.reads_files or media_type != "application/pdf" or segment.page_idx is None:
            return []
        boxes: list[PlaceBox] = []
        reached = segment.start
        for page_idx, text in enumerate(segment.text.split(PAGE_BREAK), segment.page_idx):  # of a sentence over pages
            first, last = max(start - reached, 0), end - reached
            reached += len(text) + len(PAGE_BREAK)
            if not text[first:last].strip():
                continue
            place = await self._views.place(identity, segment.document_id, page_idx, text[first:last], text[:first])
            boxes += [] if place is None else [_box(box, page_idx, place) for box in place["boxes"]]
        return boxes


def _box(box: Mapping[str, float], page_idx: int, place: Mapping[str, Any]) -> PlaceBox:
    return PlaceBox(
        page_idx=page_idx,
        left=box["left"],
        top=box["top"],
        right=box["right"],
        bottom=box["bottom"],
        width=place["width"],
        height=place["height"],
    )


def _passage(segment: Segment, start: int, end: int) -> ShownPassage | None:
    """Return the passage around a part of a segment; None of the whole, and of a part with no entry to be shown."""
    entries = entries_of(segment)
    at = bisect_right(entries, start, key=lambda entry: entry.start) - 1
    if (start, end) == (segment.start, segment.end) or at < 0 or not entries[at].quotable:
        return None
    shown = Passages(entries).of(at)
    last = max(end, entries[shown[-1]].end)
    return passage_shown(segment, min(start, entries[shown[0]].start), last, highlight={"start": start, "end": end})
