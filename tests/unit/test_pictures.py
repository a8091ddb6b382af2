"""Pictures of files: found in their order, with the words before them, and only what a browser draws harmlessly."""

import struct
import zipfile
import zlib
from base64 import b64encode
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.unit.pictured_office import PNG, with_picture
from tools.parsers.pictures import MOST_PICTURES, pictures_in
from tools.parsers.raster import MOST_PIXELS, Raster, raster_of

DOCUMENTS = Path(__file__).parents[1] / "fixtures/documents"
WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
SLIDES = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
INLINE = f"data:image/png;base64,{b64encode(PNG).decode()}"
JPEG = bytes.fromhex("ffd8ffe000104a46494600010100000100010000ffc0000b080020004001011100ffd9")
GIF = b"GIF89a" + struct.pack("<HH", 7, 9) + b"\0\0\0"
WEBP = b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0" + (9).to_bytes(3, "little") + (4).to_bytes(3, "little")
LOSSLESS = b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f" + (9 | 4 << 14).to_bytes(4, "little")
SVG = b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'


@pytest.mark.parametrize(
    ("data", "raster"),
    [
        (PNG, Raster("image/png", 8, 4)),
        (JPEG, Raster("image/jpeg", 64, 32)),
        (GIF, Raster("image/gif", 7, 9)),
        (WEBP, Raster("image/webp", 10, 5)),
        (LOSSLESS, Raster("image/webp", 10, 5)),
        (JPEG[:2] + b"\xff\xe1\0\2" * 20 + JPEG[2:], Raster("image/jpeg", 64, 32)),
        (JPEG[:2] + b"\xff\xe1\0\2" * 300 + JPEG[2:], None),
        (SVG, None),
        (b"<html><script>alert(1)</script></html>", None),
        (b"", None),
        (PNG[:20], None),
        (PNG[:16] + struct.pack(">II", MOST_PIXELS, 2) + PNG[24:], None),
        (PNG[:16] + struct.pack(">II", 0, 2) + PNG[24:], None),
    ],
)
def test_a_picture_is_what_its_bytes_say(data: bytes, raster: Raster | None) -> None:
    assert raster_of(data) == raster


@given(st.sampled_from([PNG[:8], b"\xff\xd8\xff", b"GIF89a", b"RIFF\0\0\0\0WEBPVP8 ", b""]), st.binary(max_size=64))
@example(b"\xff\xd8\xff", b"\xff" * 64)
@example(b"\xff\xd8\xff", b"\xe0\0\0" * 20)
def test_any_bytes_are_a_picture_or_none(start: bytes, rest: bytes) -> None:
    found = raster_of(start + rest)
    assert found is None or 0 < found.width * found.height <= MOST_PIXELS


def test_pictures_of_office_files_are_found_where_they_stand() -> None:
    [word] = pictures_in(with_picture(DOCUMENTS / "handbook.docx"), WORD)
    assert (word.before.endswith("Each night the keeper checks:"), word.alt, word.data) == (
        True,
        "Where lamps stand",
        PNG,
    )
    [slide] = pictures_in(with_picture(DOCUMENTS / "talk.pptx"), SLIDES)
    assert (slide.page_idx, slide.alt, slide.data) == (1, "Where lamps stand", PNG)
    assert list(pictures_in((DOCUMENTS / "handbook.docx").read_bytes(), WORD)) == []
    assert list(pictures_in(b"%PDF-1.4", "application/pdf")) == []


def test_pictures_of_markdown_and_html_are_those_that_they_hold() -> None:
    markdown = f"# Lamps\n\nRed ![A lamp]({INLINE}) here.\n\n![Far](https://e.example/p.png)\n\n`![x]({INLINE})`\n"
    [inline] = pictures_in(markdown.encode(), "text/markdown")
    assert (inline.before.split(), inline.alt, inline.data) == (["Lamps", "Red", "A", "lamp"], "A lamp", PNG)
    html = (
        f"<body><p>Red<script>var x = 'no';</script><img alt='A lamp' src='{INLINE}'>"
        "<img src='data:image/svg+xml;base64,PHN2Zy8+' alt=S><img src='https://e.example/p.png'></p></body>"
    )
    [inline] = pictures_in(html.encode(), "text/html")
    assert (inline.before, inline.alt, inline.data) == ("RedA lamp", "A lamp", PNG)
    many = "".join(f"![{number}]({INLINE})\n\n" for number in range(MOST_PICTURES + 9))
    assert len(list(pictures_in(many.encode(), "text/markdown"))) == MOST_PICTURES


def test_what_a_relationship_names_outside_of_the_file_is_not_opened() -> None:
    data = with_picture(DOCUMENTS / "handbook.docx", target="file:///etc/passwd", mode=' TargetMode="External"')
    assert list(pictures_in(data, WORD)) == []
    archive = zipfile.ZipFile(BytesIO(with_picture(DOCUMENTS / "handbook.docx")))
    assert zlib.crc32(archive.read("word/media/lamps.png")) == zlib.crc32(PNG)
