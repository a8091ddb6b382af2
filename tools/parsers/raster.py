"""What a picture is by its first bytes: raster formats that a browser draws without running anything, and no SVG."""

from dataclasses import dataclass
from struct import error as TooShort
from struct import unpack_from

MOST_PIXELS = 50_000_000  # of one picture: a browser that draws it unpacks four bytes for each
_MOST_MARKERS = 200  # of a JPEG before its frame; cameras write some twenty
_NO_SIZE = frozenset([0xC4, 0xC8, 0xCC])  # markers of JPEG that lie among those of frames, and are none


@dataclass(frozen=True, slots=True)
class Raster:
    """A raster format, and how many pixels wide and high the picture is."""

    media_type: str
    width: int
    height: int


def raster_of(data: bytes) -> Raster | None:
    """Return what a picture is; None for any other format, for a broken one, and for more pixels than may be drawn."""
    try:
        found = _read(data)
    except (IndexError, TooShort):
        return None
    if found is None or not 0 < found.width * found.height <= MOST_PIXELS:
        return None
    return found


def _read(data: bytes) -> Raster | None:
    if data.startswith(b"\x89PNG\r\n\x1a\n") and data[12:16] == b"IHDR":
        return Raster("image/png", *unpack_from(">II", data, 16))
    if data.startswith((b"GIF87a", b"GIF89a")):
        return Raster("image/gif", *unpack_from("<HH", data, 6))
    if data.startswith(b"\xff\xd8\xff"):
        return _jpeg(data)
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return _webp(data)
    return None


def _jpeg(data: bytes) -> Raster | None:
    at = 2
    for _ in range(_MOST_MARKERS):
        if data[at] != 0xFF:
            return None
        marker = data[at + 1]
        if marker == 0xFF or 0xD0 <= marker <= 0xD8 or marker == 0x01:  # filling, and markers without a length
            at += 1 if marker == 0xFF else 2
        elif 0xC0 <= marker <= 0xCF and marker not in _NO_SIZE:
            height, width = unpack_from(">HH", data, at + 5)
            return Raster("image/jpeg", width, height)
        else:
            at += 2 + max(2, *unpack_from(">H", data, at + 2))
    return None


def _webp(data: bytes) -> Raster | None:
    match data[12:16]:
        case b"VP8X":  # both less one, of 24 bits
            width, height = (1 + (unpack_from("<I", data, at)[0] >> 8) for at in (23, 26))
        case b"VP8 ":
            width, height = (side & 0x3FFF for side in unpack_from("<HH", data, 26))
        case b"VP8L":  # both less one, of 14 bits
            (bits,) = unpack_from("<I", data, 21)
            width, height = 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
        case _:
            return None
    return Raster("image/webp", width, height)
