"""How a document is laid out, for readers: what each block of its text is, and where its pictures stand.

Offsets are those of the canonical text, so that a quote is marked in the layout exactly where it is in the text.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NotRequired

from typing_extensions import TypedDict

from graph.errors import NotFound
from graph.evidence import BlockKind, Identity, Page, Segment, SegmentBlock
from graph.ports import SegmentReader
from tools.library.drawn_pictures import Block, DrawnPicture, LayoutPicture, placed_of
from tools.library.original_views import LaidOutText, OriginalViews
from tools.originals.originals import Originals


class LayoutBlock(TypedDict):
    """A block of canonical text, from ``start`` to ``end``. ``page_idx`` is that of its page, slide or sheet.

    ``level`` is of headings, from 1; ``header`` of table rows that name the columns; ``anchor`` is the block's id in
    its file, or the address of a row's first cell.
    """

    kind: BlockKind
    start: int
    end: int
    page_idx: int | None
    level: NotRequired[int]
    header: NotRequired[bool]
    anchor: NotRequired[str]


class Layout(TypedDict):
    """How a document is laid out: its blocks and its pictures, both in order."""

    document_id: str
    media_type: str
    blocks: list[LayoutBlock]
    pictures: list[LayoutPicture]


@dataclass(frozen=True, slots=True)
class ShownPicture:
    """A picture of a raster format."""

    data: bytes
    media_type: str


class Layouts:
    """A reader of how documents are laid out."""

    def __init__(self, reader: SegmentReader, originals: Originals, views: OriginalViews) -> None:
        self._reader = reader
        self._originals = originals
        self._views = views

    async def find(self, identity: Identity, document_id: str, *, with_pictures: bool = True) -> Layout:
        """Return the layout of a document; its pictures are those of its original, where that is kept.

        Raises NotFound if the identity may not read the document, Overloaded if its original can't be read now,
        DependencyFailed if the store of originals fails.
        """
        media_type = await self._originals.media_type(identity, document_id)
        pictures = await self._pictures(identity, document_id) if with_pictures else []
        page = await self._page(identity, document_id)
        return Layout(
            document_id=page.document_id,
            media_type=media_type,
            blocks=await asyncio.to_thread(_blocks, page.segments),
            pictures=[placed_of(each) for each in pictures],
        )

    async def picture(self, identity: Identity, document_id: str, number: int) -> ShownPicture:
        """Return a picture of a document by its number. Raises as ``find`` does."""
        pictures = await self._pictures(identity, document_id)
        picture = next((each for each in pictures if each["number"] == number and each["size"]), None)
        data = None if picture is None else await self._views.picture(identity, document_id, picture)
        if picture is None or not data:
            raise NotFound(f"The document has no picture {number} that can be shown.")
        return ShownPicture(data, picture["media_type"])

    async def _pictures(self, identity: Identity, document_id: str) -> list[DrawnPicture]:
        async def read_text() -> LaidOutText:
            page = await self._page(identity, document_id)
            return await asyncio.to_thread(_laid_out, page.segments)

        return await self._views.pictures(identity, document_id, read_text)

    async def _page(self, identity: Identity, document_id: str) -> Page:
        pages = await self._reader.read_pages([document_id], identity)
        if not pages:
            raise NotFound(f"There is no document {document_id}.")
        return pages[0]


def _laid_out(segments: Sequence[Segment]) -> LaidOutText:
    text = "".join(segment.text for segment in segments)
    blocks = [Block(each["start"], each["end"], each["kind"], each["page_idx"]) for each in _blocks(segments)]
    return LaidOutText(segments[0].content_hash if segments else "", text, blocks)


def _blocks(segments: Sequence[Segment]) -> list[LayoutBlock]:
    """Return the blocks of segments; those that a segment's end has cut are whole again."""
    headers = {
        each.start for one in segments for block in one.blocks for each in block.context if each.role == "header"
    }
    found: list[LayoutBlock] = []
    for segment in segments:
        for block in segment.blocks or (SegmentBlock(segment.start, segment.end, "paragraph"),):
            last = found[-1] if found else None
            if last is not None and last["end"] == block.start and last["kind"] == block.kind:
                last["end"] = block.end
                continue
            made = LayoutBlock(kind=block.kind, start=block.start, end=block.end, page_idx=segment.page_idx)
            if block.kind == "heading":
                made["level"] = block.depth or _depth(segment, block)
            if block.kind == "table_row" and block.start in headers:
                made["header"] = True
            if block.anchor:
                made["anchor"] = block.anchor
            found.append(made)
    return found


def _depth(segment: Segment, block: SegmentBlock) -> int:
    """Return how deep a heading is that was stored without its depth, as far as the segment's path tells."""
    path = segment.heading.split(" > ")
    text = segment.text[block.start - segment.start : block.end - segment.start]
    return path.index(text) + 1 if text in path else len(path) + 1 if segment.heading else 1
