"""Small PDF files, written by hand."""

from collections.abc import Sequence


def pdf(pages: Sequence[Sequence[str]], *, title: str = "", trailer: str = "") -> bytes:
    """Write a PDF whose pages hold the given lines, 14 points apart; an empty line leaves a gap."""
    kids = " ".join(f"{5 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        f"<< /Title ({title}) >>".encode(),
    ]
    for number, lines in enumerate(pages):
        shown = " ".join(f"({line}) Tj T*" if line else "T*" for line in lines)
        stream = f"BT /F1 12 Tf 72 720 Td 14 TL {shown} ET".encode("cp1252")
        objects += [
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >>"
            f" /Contents {6 + 2 * number} 0 R >>".encode(),
            b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        ]
    file = b"%PDF-1.4\n"
    offsets = []
    for number, body in enumerate(objects, 1):
        offsets.append(len(file))
        file += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    return (
        file
        + b"xref\n0 %d\n0000000000 65535 f \n%strailer << /Size %d /Root 1 0 R /Info 4 0 R %s >>\n"
        % (
            len(objects) + 1,
            table,
            len(objects) + 1,
            trailer.encode(),
        )
        + b"startxref\n%d\n%%%%EOF" % len(file)
    )
