"""How a document is laid out, for readers: what each block of its text is, and where its pictures stand.

Offsets are those of the canonical text, so that a quote is marked in the layout exactly where it is in the text.
"""

import asyncio
import json
import zlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import NotRequired

from typing_extensions import TypedDict

from graph.errors import NotFound
from graph.evidence import BlockKind, Identity, Segment, SegmentBlock
from graph.ports import SegmentReader
from tools.library.drawn_formulas import LayoutFold, LayoutFormula
from tools.library.drawn_pictures import LayoutPicture, placed_of
from tools.library.drawn_slides import LayoutSlide
from tools.library.laid_out_texts import LaidOutTexts
from tools.library.original_views import NOTHING_DRAWN, Drawn, LaidOutText, OriginalViews
from tools.library.shared_work import SharedWork
from tools.originals.originals import Originals, StoredText

SEGMENTS_AT_ONCE = 32  # whose blocks are read on the event loop, and held: a segment may have a hundred
PACKED_BYTES = 8_192  # that are unpacked at once, to some twenty times as many


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
    """How a document is laid out: its blocks, its pictures, the sources of its formulas, its slides, all in order.

    ``folds`` are runs of links alone.
    """

    document_id: str
    media_type: str
    blocks: list[LayoutBlock]
    pictures: list[LayoutPicture]
    formulas: list[LayoutFormula]
    slides: list[LayoutSlide]
    folds: list[LayoutFold]


@dataclass(frozen=True, slots=True)
class ShownPicture:
    """A picture of a raster format."""

    data: bytes
    media_type: str


class Layouts:
    """A reader of how documents are laid out."""

    def __init__(
        self, reader: SegmentReader, originals: Originals, views: OriginalViews, laid_out: LaidOutTexts
    ) -> None:
        self._reader = reader
        self._originals = originals
        self._views = views
        self._laid_out = laid_out
        self._making: SharedWork[bytes] = SharedWork()
        self._turns = asyncio.Lock()  # one piece at a time, between which questions have theirs

    async def close(self) -> None:
        """Stop laying out."""
        await self._making.close()

    async def pieces(self, identity: Identity, document_id: str, *, with_pictures: bool = True) -> AsyncIterator[bytes]:
        """Yield a Layout as JSON, in pieces: a document may have a million blocks.

        Its pictures and formulas are those of its original, where that is kept. Before the first piece it raises
        NotFound if the identity may not read the document, Overloaded if its original can't be read now,
        DependencyFailed if the store of originals fails.
        """
        text = await self._originals.text(identity, document_id)
        drawn = await self._drawn(identity, document_id) if with_pictures else NOTHING_DRAWN
        blocks = await self._laid_out.find(text.workspace, document_id, text.content_hash)
        if blocks is None:
            key = text.workspace, document_id, text.content_hash
            blocks = await self._making.result(key, lambda: self._lay_out(identity, document_id, text))
        shown = [placed_of(each) for each in drawn.pictures]
        head = {"document_id": document_id, "media_type": text.media_type, **drawn._asdict(), "pictures": shown}
        yield json.dumps(head).encode()[:-1] + b', "blocks": '
        unpacker = zlib.decompressobj()
        for at in range(0, len(blocks), PACKED_BYTES):
            yield unpacker.decompress(blocks[at : at + PACKED_BYTES])
        yield b"}"

    async def _lay_out(self, identity: Identity, document_id: str, text: StoredText) -> bytes:
        """Return the blocks of a text as packed JSON, and keep them. Raises NotFound if it has changed."""
        packer = zlib.compressobj(level=1)

        def pack(blocks: Sequence[LayoutBlock], before: bytes) -> bytes:
            return packer.compress(before + json.dumps(blocks)[1:-1].encode()) if blocks else b""

        packed, before = bytearray(), b"["
        async for segments, blocks in self._read(identity, document_id):
            if segments[0].content_hash != text.content_hash:
                raise NotFound("The document has changed.")
            packed += await asyncio.to_thread(pack, blocks, before)
            before = b", " if blocks else before
        packed += packer.compress(b"]" if before == b", " else b"[]") + packer.flush()
        await self._laid_out.keep(text.workspace, document_id, text.content_hash, bytes(packed))
        return bytes(packed)

    async def picture(self, identity: Identity, document_id: str, number: int) -> ShownPicture:
        """Return a picture of a document by its number. Raises as ``find`` does."""
        drawn = await self._drawn(identity, document_id)
        picture = next((each for each in drawn.pictures if each["number"] == number and each["size"]), None)
        data = None if picture is None else await self._views.picture(identity, document_id, picture)
        if picture is None or not data:
            raise NotFound(f"The document has no picture {number} that can be shown.")
        return ShownPicture(data, picture["media_type"])

    async def _drawn(self, identity: Identity, document_id: str) -> Drawn:
        async def read_text() -> LaidOutText:
            text, blocks, content_hash = bytearray(), bytearray(), ""
            async for segments, found in self._read(identity, document_id):
                content_hash = segments[0].content_hash
                text += "".join(segment.text for segment in segments).encode()
                for each in found:
                    block = [each["start"], each["end"], each["kind"], each["page_idx"]]
                    blocks += json.dumps(block).encode() + b"\n"
            return LaidOutText(content_hash, bytes(text), bytes(blocks))

        return await self._views.drawn(identity, document_id, read_text)

    async def _read(
        self, identity: Identity, document_id: str
    ) -> AsyncIterator[tuple[list[Segment], list[LayoutBlock]]]:
        """Yield the segments of a document, some at a time, with the blocks that end in them."""

        async def some(first: int) -> list[Segment]:
            ids = [f"{document_id}:{index}" for index in range(first, first + SEGMENTS_AT_ONCE)]
            return await self._reader.read_segments(ids, identity)

        reached, segments = 0, await some(0)
        cut: list[LayoutBlock] = []  # the last block, which may go on
        while segments:
            reached += len(segments)
            async with self._turns:
                following = await some(reached)
                if following and following[0].content_hash != segments[0].content_hash:
                    raise NotFound("The document has changed.")
                blocks = await asyncio.to_thread(_blocks, segments, following)
            blocks = cut + blocks[_goes_on(cut, blocks[0]) :]
            cut = [blocks.pop()] if following else []
            yield segments, blocks
            segments = following


def _goes_on(found: Sequence[LayoutBlock], block: LayoutBlock) -> bool:
    """Whether a block is the rest of the last one, which the end of a segment has cut; then that is whole again."""
    if not found or found[-1]["end"] != block["start"] or found[-1]["kind"] != block["kind"]:
        return False
    found[-1]["end"] = block["end"]
    return True


def _blocks(segments: Sequence[Segment], following: Sequence[Segment] = ()) -> list[LayoutBlock]:
    """Return the blocks of segments; rows of the ``following`` ones may name a header among them."""
    rows = (block for one in (*segments, *following) for block in one.blocks)
    headers = {each.start for row in rows for each in row.context if each.role == "header"}
    found: list[LayoutBlock] = []
    for segment in segments:
        for block in segment.blocks or (SegmentBlock(segment.start, segment.end, "paragraph"),):
            is_unfilled = block.kind == "label" and segment.text[: block.end - segment.start].endswith("|")
            kind = "table_row" if is_unfilled else block.kind  # it names nothing, but stands in its table
            made = LayoutBlock(kind=kind, start=block.start, end=block.end, page_idx=segment.page_idx)
            if block.kind == "heading":
                made["level"] = block.depth or _depth(segment, block)
            if block.kind == "table_row" and block.start in headers:
                made["header"] = True
            if block.anchor:
                made["anchor"] = block.anchor
            if not _goes_on(found, made):
                found.append(made)
    return found


def _depth(segment: Segment, block: SegmentBlock) -> int:
    """Return how deep a heading is that was stored without its depth, as far as the segment's path tells."""
    path = segment.heading.split(" > ")
    text = segment.text[block.start - segment.start : block.end - segment.start]
    return path.index(text) + 1 if text in path else len(path) + 1 if segment.heading else 1
