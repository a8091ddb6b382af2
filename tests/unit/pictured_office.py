"""Office files of the fixtures with a picture put into them, as their programs would write it."""

import re
import struct
import zipfile
import zlib
from io import BytesIO
from pathlib import Path

_A = "http://schemas.openxmlformats.org/drawingml/2006/main"
_R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_WP = "http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"
_BLIP = f'<a:blip xmlns:a="{_A}" xmlns:r="{_R}" r:embed="rIdPicture"/>'


def png(width: int, height: int) -> bytes:
    """Return a picture of one dark colour."""
    rows = b"".join(b"\0" + b"\x20\x60\xa0" * width for _ in range(height))
    chunks = {
        b"IHDR": struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0),
        b"IDAT": zlib.compress(rows),
        b"IEND": b"",
    }
    written = (
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks.items()
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(written)


PNG = png(8, 4)


def with_picture(
    path: Path, picture: bytes = PNG, *, alt: str = "Where lamps stand", target: str = "", mode: str = ""
) -> bytes:
    """Put a picture behind the fourth paragraph of a Word document, or onto the second slide of a presentation."""
    named = f'<p:cNvPr id="99" name="p" descr="{alt}"/>'
    if path.suffix == ".docx":
        part, folder = "word/document.xml", "word"
        shape = (
            f'<w:p><w:r><w:drawing><wp:inline xmlns:wp="{_WP}"><wp:docPr id="99" name="p" descr="{alt}"/>'
            f'<a:graphic xmlns:a="{_A}"><a:graphicData>{_BLIP}</a:graphicData></a:graphic>'
            "</wp:inline></w:drawing></w:r></w:p>"
        )
    else:
        part, folder = "ppt/slides/slide2.xml", "ppt/slides"
        shape = f"<p:pic><p:nvPicPr>{named}</p:nvPicPr><p:blipFill>{_BLIP}</p:blipFill></p:pic>"
    target = target or ("media/lamps.png" if path.suffix == ".docx" else "../media/lamps.png")
    related = f"{folder}/_rels/{part.rpartition('/')[2]}.rels"
    relationship = f'<Relationship Id="rIdPicture" Type="{_R}/image" Target="{target}"{mode}/>'
    written = BytesIO()
    with zipfile.ZipFile(path) as file, zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as made:
        for name in file.namelist():
            data = file.read(name)
            if name == part:
                xml = data.decode()
                ends = [found.end() for found in re.finditer("</w:p>", xml)]
                at = ends[3] if ends else xml.index("</p:spTree>")
                data = f"{xml[:at]}{shape}{xml[at:]}".encode()
            elif name == related:
                data = data.replace(b"</Relationships>", f"{relationship}</Relationships>".encode())
            made.writestr(name, data)
        made.writestr(f"{folder.partition('/')[0]}/media/lamps.png", picture)
    return written.getvalue()
