"""The pictures of a file that a viewer draws, and behind which words of its text each stands.

They are found in a process that reads files. The process that serves reads anew what each picture is: a file may have
taken over its reader.
"""

import hashlib
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

from typing_extensions import TypedDict

from graph.errors import UnreadableDocument
from tools.parsers.raster import raster_of

# Media types of files whose pictures are drawn.
PICTURED = re.compile(
    r"wordprocessingml|ms-word|presentationml|ms-powerpoint|opendocument\.(?!spreadsheet)|html|markdown|mdx"
)
_KEYS = (60, 30, 12, 6)  # letters before a picture by which it is placed, as many as are found
_MARKER = re.compile(
    r"\s*(?:[-*+]|\(?\w{1,6}(?:\.\w{1,6})*[.)])\s"
)  # of an item or heading, which no file holds as text
_NO_LETTERS = re.compile(r"[\W_]+")
_NOT_DRAWN: dict[str, Any] = {"width": 0, "height": 0, "media_type": "", "at": 0, "size": 0}


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


class DrawnPicture(LayoutPicture):
    """A picture with what it is, and where its bytes are among those of all pictures of its file."""

    media_type: str
    at: int
    size: int


class Block(NamedTuple):
    """A block of text, from ``start`` to ``end``."""

    start: int
    end: int
    kind: str
    page_idx: int | None


def placed_pictures(
    data: bytes, media_type: str, text: str, blocks: Iterable[Sequence[Any]]
) -> tuple[dict[str, Any], list[bytes]]:
    """Return a frame of a file's pictures, each of its bytes once, however often it is shown.

    Pictures are packed already, so a file holds them in about the bytes that they take. Where they take more than the
    whole file, only its first ones are drawn. Raises UnreadableDocument if the file is broken.
    """
    from tools.parsers.pictures import pictures_in  # with all readers of office files

    place = _Placing(text, [Block(*each) for each in blocks])
    pictures: list[dict[str, Any]] = []
    numbers: dict[bytes, int] = {}
    blobs: list[bytes] = []
    room = len(data)
    for number, picture in enumerate(pictures_in(data, media_type)):
        digest = hashlib.sha256(picture.data).digest()
        if digest not in numbers and len(picture.data) <= room and raster_of(picture.data) is not None:
            numbers[digest] = len(blobs)
            blobs.append(picture.data)
            room -= len(picture.data)
        if digest not in numbers and not picture.alt:
            continue  # there is nothing to show and nothing to say
        after, page_idx = place(picture.before, picture.page_idx)
        placed = {"number": number, "after": after, "page_idx": page_idx, "alt": picture.alt}
        pictures.append({"placed": placed, "blob": numbers.get(digest)})
    return {"pictures": pictures}, blobs


def pictures_of(reply: dict[str, Any], blobs: Sequence[bytes]) -> list[DrawnPicture]:
    """Return the pictures of a frame. Raises UnreadableDocument for a frame that no reader of ours sends."""
    kinds: list[dict[str, Any]] = []
    at = 0
    try:
        for blob in blobs:
            raster = raster_of(blob)
            kinds.append({**asdict(raster), "at": at, "size": len(blob)} if raster is not None else _NOT_DRAWN)
            at += len(blob)
        found = (
            (each["placed"], _NOT_DRAWN if each["blob"] is None else kinds[each["blob"]]) for each in reply["pictures"]
        )
        return [
            DrawnPicture(
                number=int(placed["number"]),
                after=int(placed["after"]),
                page_idx=None if placed["page_idx"] is None else int(placed["page_idx"]),
                alt=str(placed["alt"]),
                width=kind["width"],
                height=kind["height"],
                media_type=kind["media_type"],
                at=kind["at"],
                size=kind["size"],
            )
            for placed, kind in found
        ]
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise UnreadableDocument("The file can't be read.") from error


def placed_of(picture: DrawnPicture) -> LayoutPicture:
    """Return a picture without where its bytes are."""
    return LayoutPicture(
        number=picture["number"],
        after=picture["after"],
        page_idx=picture["page_idx"],
        alt=picture["alt"],
        width=picture["width"],
        height=picture["height"],
    )


class _Placing:
    """Where in a text pictures stand: behind the next block that ends the words before them."""

    def __init__(self, text: str, blocks: Sequence[Block]) -> None:
        parts = [letters_of(text[block.start : block.end], block.kind) for block in blocks]
        self._blocks = blocks
        self._letters = "".join(parts)
        self._ends: list[int] = []
        for part in parts:
            self._ends.append((self._ends[-1] if self._ends else 0) + len(part))
        self._reached = 0

    def __call__(self, before: str, page_idx: int | None) -> tuple[int, int | None]:
        if page_idx is not None:
            return max((block.end for block in self._shown_of(page_idx)), default=0), page_idx
        self._reached = _end_of(_NO_LETTERS.sub("", before), self._letters, self._reached)
        at = bisect_left(self._ends, self._reached) if self._reached else -1
        return (self._blocks[at].end, self._blocks[at].page_idx) if 0 <= at < len(self._blocks) else (0, None)

    def _shown_of(self, page_idx: int) -> Iterator[Block]:
        """Yield the blocks of the slides up to one, of that one without the speaker's notes."""
        for block in self._blocks:
            at = block.page_idx
            if at is not None and (at > page_idx or (at == page_idx and block.kind == "label")):
                return
            yield block


def letters_of(words: str, kind: str) -> str:
    """Return the letters of a block, by which it is found in its file."""
    return _NO_LETTERS.sub("", _MARKER.sub("", words, count=1) if kind in ("list_item", "heading") else words)


def _end_of(before: str, letters: str, reached: int) -> int:
    """Return where in the letters of a text those before a picture end; ``reached`` where they are not in it."""
    for key in dict.fromkeys(before[-length:] for length in _KEYS if before):
        at = letters.find(key, max(0, reached - len(key)))
        if at >= 0:
            return at + len(key)
    return reached
