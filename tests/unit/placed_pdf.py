"""PDF files with every line placed by hand: position, font and size of each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_FONTS = {"text": "Helvetica", "bold": "Helvetica-Bold", "code": "Courier", "mapped": "Helvetica"}


@dataclass(frozen=True, slots=True)
class Placed:
    """Words of a page, in points from its lower left corner; PDF operators of ``drawing`` go before them."""

    x: float
    y: float
    text: str
    font: str = "text"
    size: float = 10
    drawing: str = ""


def column(x: float, y: float, lines: Sequence[str], *, font: str = "text", step: float = 12) -> list[Placed]:
    """Place lines below each other."""
    return [Placed(x, y - number * step, line, font) for number, line in enumerate(lines) if line]


def placed_pdf(
    pages: Sequence[Sequence[Placed]],
    *,
    title: str = "",
    outline: Sequence[tuple[str, int]] = (),
    rotated: int = 0,
    mapped: Mapping[str, str] | None = None,
    annotations: Sequence[str] = (),
    catalog: str = "",
) -> bytes:
    """Write a PDF of A4 pages; ``outline`` holds titles and the indexes of their pages.

    ``mapped`` says which characters the letters of the font "mapped" stand for. ``annotations`` are the dictionaries of
    those of the first page, which are the fields of a form too, and ``catalog`` is more for the catalog.
    """
    first_page = 6 + len(outline)
    to_unicode = first_page + 2 * len(pages)
    kids = " ".join(f"{first_page + 2 * number} 0 R" for number in range(len(pages)))
    fonts = " ".join(
        f"/{name} << /Type /Font /Subtype /Type1 /BaseFont /{base} /Encoding /WinAnsiEncoding"
        + (f" /ToUnicode {to_unicode} 0 R >>" if name == "mapped" else " >>")
        for name, base in _FONTS.items()
    )
    notes = " ".join(f"{to_unicode + 1 + number} 0 R" for number in range(len(annotations)))
    root = f"/AcroForm << /Fields [{notes}] >> {catalog}" + (" /Outlines 5 0 R" if outline else "")
    objects = [
        f"<< /Type /Catalog /Pages 2 0 R {root} >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        f"<< {fonts} >>",
        f"<< /Title ({_escaped(title)}) >>",
        f"<< /Type /Outlines /First 6 0 R /Last {first_page - 1} 0 R >>" if outline else "null",
    ]
    for number, (entry, page_idx) in enumerate(outline):
        after = f"/Next {7 + number} 0 R" if number + 1 < len(outline) else ""
        at = f"[{first_page + 2 * page_idx} 0 R /Fit]"
        objects.append(f"<< /Title ({_escaped(entry)}) /Parent 5 0 R {after} /Dest {at} >>")
    for number, page in enumerate(pages):
        objects += [
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Rotate {rotated} /Resources << /Font 3 0 R >>"
            f" /Contents {first_page + 2 * number + 1} 0 R {'' if number else f'/Annots [{notes}]'} >>",
            _stream(_shown(page)),
        ]
    objects.append(_stream(_cmap(mapped or {})))
    objects += [f"<< /Type /Annot {each} >>" for each in annotations]
    file = b"%PDF-1.4\n"
    offsets = []
    for number, body in enumerate(objects, 1):
        offsets.append(len(file))
        file += f"{number} 0 obj\n{body}\nendobj\n".encode("cp1252")
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    count = len(objects) + 1
    end = f"trailer << /Size {count} /Root 1 0 R /Info 4 0 R >>\nstartxref\n{len(file)}\n%%EOF".encode()
    return file + b"xref\n0 %d\n0000000000 65535 f \n" % count + table + end


def _shown(page: Sequence[Placed]) -> str:
    return "\n".join(
        f"{words.drawing} BT /{words.font} {words.size} Tf {words.x} {words.y} Td ({_escaped(words.text)}) Tj ET"
        for words in page
    )


def _cmap(mapped: Mapping[str, str]) -> str:
    pairs = " ".join(
        f"<{ord(letter):02x}> <{character.encode('utf-16-be').hex()}>" for letter, character in mapped.items()
    )
    return (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def /CMapType 2 def"
        " 1 begincodespacerange <00> <ff> endcodespacerange"
        f" {len(mapped)} beginbfchar {pairs} endbfchar endcmap end end"
    )


def _stream(shown: str) -> str:
    return f"<< /Length {len(shown.encode('cp1252'))} >>\nstream\n{shown}\nendstream"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
