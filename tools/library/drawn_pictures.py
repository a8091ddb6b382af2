"""The pictures of a file that a viewer draws, as a process that reads files sends them to the one that serves them."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tools.parsers.raster import Raster, raster_of


@dataclass(frozen=True, slots=True)
class DrawnPicture:
    """A picture of a file, in the order of its pictures. One without a raster is of a format that is not drawn.

    It stands behind the words ``before``, or on the slide ``page_idx``, counting from 0.
    """

    before: str
    alt: str
    page_idx: int | None
    data: bytes
    raster: Raster | None


def drawn_pictures(data: bytes, media_type: str) -> tuple[dict[str, Any], list[bytes]]:
    """Return a frame of a file's pictures, each of its bytes once, however often it is shown.

    Pictures are packed already, so a file holds them in about the bytes that they take. Where they take more than the
    whole file, only its first ones are drawn. Raises UnreadableDocument if the file is broken.
    """
    from tools.parsers.pictures import pictures_in  # with all readers of office files

    pictures: list[dict[str, Any]] = []
    numbers: dict[bytes, int] = {}
    blobs: list[bytes] = []
    room = len(data)
    for picture in pictures_in(data, media_type):
        digest = hashlib.sha256(picture.data).digest()
        if digest not in numbers and len(picture.data) <= room and raster_of(picture.data) is not None:
            numbers[digest] = len(blobs)
            blobs.append(picture.data)
            room -= len(picture.data)
        place = {"before": picture.before, "alt": picture.alt, "page_idx": picture.page_idx}
        pictures.append({**place, "blob": numbers.get(digest)})
    return {"pictures": pictures}, blobs


def pictures_of(reply: dict[str, Any], blobs: Sequence[bytes]) -> list[DrawnPicture]:
    """Return the pictures of a frame; what each is, is read anew, for a file may have taken over its reader."""
    shown = [(data, raster_of(data)) for data in blobs]
    return [
        DrawnPicture(
            each["before"],
            each["alt"],
            each["page_idx"],
            *((b"", None) if each["blob"] is None else shown[each["blob"]]),
        )
        for each in reply["pictures"]
    ]
