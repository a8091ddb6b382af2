"""What a picture is by its first bytes: raster formats that a browser draws without running anything, and no SVG."""

from dataclasses import dataclass

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
    except IndexError:
        return None
    if found is None or not 0 < found.width * found.height <= MOST_PIXELS:
        return None
    return found


def _read(data: bytes) -> Raster | None:
    if data.startswith(b"\x89PNG\r\n\x1a\n") and data[12:16] == b"IHDR":
        return Raster("image/png", _big(data, 16, 4), _big(data, 20, 4))
    if data.startswith((b"GIF87a", b"GIF89a")):
        return Raster("image/gif", _little(data, 6, 2), _little(data, 8, 2))
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
            return Raster("image/jpeg", _big(data, at + 7, 2), _big(data, at + 5, 2))
        else:
            at += 2 + max(2, _big(data, at + 2, 2))
    return None


def _webp(data: bytes) -> Raster | None:
    kind = data[12:16]
    if kind == b"VP8X":
        return Raster("image/webp", 1 + _little(data, 24, 3), 1 + _little(data, 27, 3))
    if kind == b"VP8 ":
        return Raster("image/webp", _little(data, 26, 2) & 0x3FFF, _little(data, 28, 2) & 0x3FFF)
    if kind == b"VP8L":
        bits = _little(data, 21, 4)
        return Raster("image/webp", 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF))
    return None


def _big(data: bytes, at: int, size: int) -> int:
    return int.from_bytes(_cut(data, at, size), "big")


def _little(data: bytes, at: int, size: int) -> int:
    return int.from_bytes(_cut(data, at, size), "little")


def _cut(data: bytes, at: int, size: int) -> bytes:
    if at + size > len(data):
        raise IndexError("The picture ends within its head.")
    return data[at : at + size]
