"""How a document is laid out, for readers: what each block of its text is, and where its pictures stand.

Offsets are those of the canonical text, so that a quote is marked in the layout exactly where it is in the text.
"""

import asyncio
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NotRequired

from typing_extensions import TypedDict

from graph.errors import NotFound
from graph.evidence import BlockKind, Identity, Page, Segment, SegmentBlock
from graph.ports import SegmentReader
from tools.library.drawn_pictures import DrawnPicture
from tools.library.original_views import OriginalViews
from tools.originals.originals import Originals
from tools.parsers.raster import Raster

_KEYS = (60, 30, 12, 6)  # letters before a picture by which it is placed, as many as are found
_MARKER = re.compile(
    r"\s*(?:[-*+]|\(?\w{1,6}(?:\.\w{1,6})*[.)])\s"
)  # of an item or heading, which no file holds as text
_NO_LETTERS = re.compile(r"[\W_]+")


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


class LayoutPicture(TypedDict):
    """A picture that stands behind the text up to ``after``. One of 0 by 0 pixels is of a format that is not drawn.

    ``number`` is its place among the pictures of the file; ``width`` and ``height`` are in pixels.
    """

    number: int
    after: int
    page_idx: int | None
    alt: str
    width: int
    height: int


class Layout(TypedDict):
    """How a document is laid out: its blocks and its pictures, both in order."""

    document_id: str
    media_type: str
    blocks: list[LayoutBlock]
    pictures: list[LayoutPicture]


@dataclass(frozen=True, slots=True)
class ShownPicture:
    """A picture of a raster format, and what it is."""

    data: bytes
    raster: Raster


class Layouts:
    """A reader of how documents are laid out."""

    def __init__(self, reader: SegmentReader, originals: Originals, views: OriginalViews) -> None:
        self._reader = reader
        self._originals = originals
        self._views = views

    async def find(self, identity: Identity, document_id: str, *, with_pictures: bool = True) -> Layout:
        """Return the layout of a document; its pictures are read from its original, where that is kept.

        Raises NotFound if the identity may not read the document, DependencyFailed if the store of originals fails.
        """
        pages = await self._reader.read_pages([document_id], identity)
        if not pages:
            raise NotFound(f"There is no document {document_id}.")
        [page] = pages
        media_type = await self._originals.media_type(identity, document_id)
        pictures = await self._views.pictures(identity, document_id) if with_pictures else []
        return await asyncio.to_thread(_layout, page, media_type, pictures)

    async def picture(self, identity: Identity, document_id: str, number: int) -> ShownPicture:
        """Return a picture of a document by its number. Raises NotFound, DependencyFailed."""
        pictures = await self._views.pictures(identity, document_id)
        picture = pictures[number] if number < len(pictures) else None
        if picture is None or picture.raster is None:
            raise NotFound(f"The document has no picture {number} that can be shown.")
        return ShownPicture(picture.data, picture.raster)


def _layout(page: Page, media_type: str, pictures: Sequence[DrawnPicture]) -> Layout:
    blocks = _blocks(page.segments)
    return Layout(
        document_id=page.document_id,
        media_type=media_type,
        blocks=blocks,
        pictures=list(_placed(pictures, blocks, page.segments)),
    )


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


def _placed(
    pictures: Sequence[DrawnPicture], blocks: Sequence[LayoutBlock], segments: Sequence[Segment]
) -> Iterator[LayoutPicture]:
    """Yield pictures with the end of the block that each stands behind: the next one that ends its words before it."""
    if not pictures:
        return
    text = "".join(segment.text for segment in segments)
    parts = [_letters(text[block["start"] : block["end"]], block["kind"]) for block in blocks]
    letters = "".join(parts)
    ends: list[int] = []
    for part in parts:
        ends.append((ends[-1] if ends else 0) + len(part))
    reached = 0
    for number, picture in enumerate(pictures):
        raster = picture.raster
        if raster is None and not picture.alt:
            continue  # there is nothing to show and nothing to say
        after, page_idx = 0, picture.page_idx
        if page_idx is not None:
            after = max((b["end"] for b in _shown_of(blocks, page_idx)), default=0)
        else:
            reached = _end_of(_NO_LETTERS.sub("", picture.before), letters, reached)
            at = bisect_left(ends, reached) if reached else -1
            after, page_idx = (blocks[at]["end"], blocks[at]["page_idx"]) if 0 <= at < len(blocks) else (0, None)
        width, height = (raster.width, raster.height) if raster is not None else (0, 0)
        yield LayoutPicture(number=number, after=after, page_idx=page_idx, alt=picture.alt, width=width, height=height)


def _shown_of(blocks: Sequence[LayoutBlock], page_idx: int) -> Iterator[LayoutBlock]:
    """Yield the blocks of the slides up to one, of that one without the speaker's notes."""
    for block in blocks:
        at = block["page_idx"]
        if at is not None and (at > page_idx or (at == page_idx and block["kind"] == "label")):
            return
        yield block


def _letters(words: str, kind: BlockKind) -> str:
    return _NO_LETTERS.sub("", _MARKER.sub("", words, count=1) if kind in ("list_item", "heading") else words)


def _end_of(before: str, letters: str, reached: int) -> int:
    """Return where in the letters of a text those before a picture end; ``reached`` where they are not in it."""
    for key in dict.fromkeys(before[-length:] for length in _KEYS if before):
        at = letters.find(key, max(0, reached - len(key)))
        if at >= 0:
            return at + len(key)
    return reached
