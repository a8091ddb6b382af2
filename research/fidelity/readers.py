"""Independent readers of a file: programs that know nothing of ours. Each reading is a list of pages.

Those that are not installed are passed over. Readings are kept beside the files, so that a second run asks only our own
parsers. Raised text is written ``^``, lowered text ``_``, where a reader says that it is.
"""

import csv
import hashlib
import html
import io
import json
import re
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import ClassVar
from xml.etree import ElementTree

LIMIT = 120  # seconds of one reading
PAGE = "\f"
_AT_ONCE = 40  # files of one start of LibreOffice
_SHOWN, _RAW = (
    f"csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,{shown},false,false,-1" for shown in ("true", "false")
)
_WITH_NOTES = 'pdf:impress_pdf_Export:{"ExportNotesPages":{"type":"boolean","value":"true"}}'
_TEXT_OF_PAGE = (
    "<script>addEventListener('load', () => {"
    "const shown = document.body.innerText; document.documentElement.textContent = shown })</script>"
)
_BROKEN = (ElementTree.ParseError, zipfile.BadZipFile)
Read = Callable[[Path], str]


def readings(path: Path, kept: Path) -> dict[str, list[str]]:
    """Return what each reader of a file's format says, by the reader's name."""
    known, place = _known(path, kept)
    readers = READERS.get(path.suffix.lower(), {})
    for name, (program, read) in readers.items():
        if name not in known and (not program or shutil.which(program)):
            try:
                known[name] = read(path)
            except (OSError, subprocess.SubprocessError, LookupError, ValueError, *_BROKEN):
                known[name] = ""  # this reader can't read it
    kept.mkdir(parents=True, exist_ok=True)
    place.write_text(json.dumps(known))
    return {name: text.removesuffix(PAGE).split(PAGE) for name in readers if (text := known.get(name) or "").strip()}


def _known(path: Path, kept: Path) -> tuple[dict[str, str], Path]:
    """Return the readings of a file that are kept, and where."""
    place = kept / f"{hashlib.sha256(path.read_bytes()).hexdigest()}{path.suffix.lower()}.json"
    return (json.loads(place.read_text()) if place.exists() else {}), place


def _says(*command: str | Path, limit: float = LIMIT) -> str:
    done = subprocess.run([str(part) for part in command], capture_output=True, timeout=limit, check=True)
    return done.stdout.decode(errors="replace")


def _poppler(mode: str) -> Read:
    return lambda path: _says("pdftotext", mode, "-enc", "UTF-8", path, "-")


def _pandoc(format_: str) -> Read:
    return lambda path: _says("pandoc", "-f", format_, "-t", "plain", "--wrap=none", path)


@dataclass
class _Office:
    """A reader by LibreOffice, which starts slowly: files that wait are converted with the one asked for."""

    target: str
    read: Callable[[Path], str]
    texts: dict[Path, str] = field(default_factory=dict)
    waiting: ClassVar[list[Path]] = []

    def __call__(self, path: Path) -> str:
        if path not in self.texts:
            like = [other for other in self.waiting if other.suffix == path.suffix and other not in self.texts]
            self._convert([path, *(other for other in like if other != path)][:_AT_ONCE])
        if path not in self.texts:
            self._convert([path])
        return self.texts[path]

    def _convert(self, paths: list[Path]) -> None:
        with tempfile.TemporaryDirectory() as folder:
            given, out = Path(folder) / "in", Path(folder) / "out"
            given.mkdir()
            for at, path in enumerate(paths):
                shutil.copy(path, given / f"f{at:03}{path.suffix}")
            command = ["soffice", f"-env:UserInstallation=file://{folder}/profile", "--headless", "--convert-to"]
            with suppress(subprocess.SubprocessError):  # some may have been written before
                _says(*command, self.target, "--outdir", out, *sorted(given.iterdir()), limit=LIMIT + 20 * len(paths))
            for at, path in enumerate(paths):
                files = [(file.stem[5:], self.read(file)) for file in sorted(out.glob(f"f{at:03}*"), key=_written)]
                if files:
                    self.texts[path] = "\n".join(f"{sheet}\n{text}" for sheet, text in files if text.strip())


def _written(file: Path) -> int:
    """Return when a file was written: sheets are, in their order."""
    return file.stat().st_mtime_ns


def wait(paths: Iterable[Path], kept: Path) -> None:
    """Note files that will be read, of which readings by LibreOffice are not kept yet."""
    _Office.waiting = [path for path in paths if _by_office(path) - _known(path, kept)[0].keys()]


def _by_office(path: Path) -> set[str]:
    return {name for name, (program, _) in READERS.get(path.suffix.lower(), {}).items() if program == "soffice"}


def _plain(path: Path) -> str:
    data = path.read_bytes()
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", errors="replace")


def _cells(path: Path) -> str:
    return "\n".join(" | ".join(row) for row in csv.reader(io.StringIO(_plain(path))))


_ODF_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_ODF_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_ODF_SIGNS = {
    f"{_ODF_TEXT}line-break": "\n",
    f"{_ODF_TEXT}tab": " ",
    f"{_ODF_TEXT}s": " ",
    f"{_ODF_TEXT}page-number": "",
}


def _slides(path: Path) -> str:
    """Return the paragraphs of a flat OpenDocument presentation, without those of its masters."""
    body = ElementTree.parse(path).getroot().find(f".//{_ODF_OFFICE}body")
    paragraphs = (
        [] if body is None else [each for each in body.iter() if each.tag in (f"{_ODF_TEXT}p", f"{_ODF_TEXT}h")]
    )
    return "\n".join("".join(_said(found)) for found in paragraphs)


def _said(paragraph: ElementTree.Element) -> Iterator[str]:
    for each in paragraph.iter():
        yield _ODF_SIGNS.get(each.tag, each.text or "")
        yield (each.tail or "") if each is not paragraph else ""


_XLSX = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_ODF_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_MOST_REPEATED = 1000  # rows or cells


def _stored_xlsx(path: Path) -> str:
    """Return the cells as they are stored: LibreOffice counts random ones, dates and pivot tables anew."""
    with zipfile.ZipFile(path) as book:
        parts = {name: ElementTree.fromstring(book.read(name)) for name in book.namelist() if name.endswith(".xml")}
    held = parts.get("xl/sharedStrings.xml", ElementTree.Element("sst"))
    strings = ["".join(part.text or "" for part in item.iter(f"{_XLSX}t")) for item in held]
    sheets = [root for name, root in parts.items() if name.startswith("xl/worksheets/")]
    rows = (row for sheet in sheets for row in sheet.iter(f"{_XLSX}row"))
    return "\n".join(" | ".join(_stored_cell(cell, strings) for cell in row) for row in rows)


def _stored_cell(cell: ElementTree.Element, strings: list[str]) -> str:
    said = "".join(part.text or "" for part in cell.iter() if part.tag in (f"{_XLSX}v", f"{_XLSX}t"))
    if cell.get("t") == "s" and said:
        return strings[int(said)]
    return f"{Decimal(f'{float(said):.15g}'):f}" if said and cell.get("t", "n") == "n" else said


def _stored_ods(path: Path) -> str:
    """Return the cells as they are stored, dates in ISO 8601, those that repeat as often as they are shown."""
    with zipfile.ZipFile(path) as book:
        root = ElementTree.fromstring(book.read("content.xml"))
    lines: list[str] = []
    for row in root.iter(f"{_ODF_TABLE}table-row"):
        cells: list[str] = []
        for cell in row:
            words = " ".join("".join(_said(each)) for each in cell.iter(f"{_ODF_TEXT}p"))
            said = cell.get(f"{_ODF_OFFICE}date-value") or words
            cells += [said] * _times(cell, "columns", said)
        lines += [" | ".join(cells)] * _times(row, "rows", "".join(cells))
    return "\n".join(lines)


def _times(element: ElementTree.Element, what: str, said: str) -> int:
    return min(int(element.get(f"{_ODF_TABLE}number-{what}-repeated", 1)), _MOST_REPEATED) if said else 1


def _browser(path: Path) -> str:
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        page.write_bytes(path.read_bytes() + _TEXT_OF_PAGE.encode())
        shown = _says("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", page.as_uri())
    return html.unescape(re.sub(r"</?html[^>]*>", "", shown))


_PIECE = re.compile(
    r'<(?P<tag>page|line|font|char)\b(?:[^>]*? size="(?P<size>[\d.]+)")?'
    r'(?:[^>]*? quad="(?P<left>\S+) (?:\S+ ){3}(?:\S+ )(?P<low>\S+) (?P<right>\S+) [^"]*" x="[^"]*" y="(?P<y>\S+?)")?'
    r'(?:[^>]*? c="(?P<c>[^"]*)")?'
)


def _mupdf(path: Path) -> str:
    return glyphs_as_text(_says("mutool", "draw", "-F", "stext", path))


def _whole_pages(path: Path) -> str:
    """Return the text of a PDF of slides, also what runs over the lower edge of one."""
    path.write_bytes(re.sub(rb"/MediaBox\s*\[\s*0 0 ", b"/MediaBox[0 -9999 ", path.read_bytes()))
    return _mupdf(path).replace(PAGE, "\n")


def glyphs_as_text(stext: str) -> str:
    """Return the text of MuPDF's glyphs, with marks where smaller ones stand above or below the line they follow."""
    return "".join(_glyphs(stext))


def _glyphs(stext: str) -> Iterator[str]:
    size, base, end, line_size, moved, pages, is_new_line = 1.0, 0.0, -1e9, 1.0, "", 0, True
    for piece in _PIECE.finditer(stext):
        match piece["tag"]:
            case "page":
                pages += 1
                end = -1e9
                yield PAGE if pages > 1 else ""
            case "line":
                is_new_line = True
            case "font":
                size = float(piece["size"] or size)
            case _ if piece["y"]:
                left, right, y, glyph = (
                    float(piece["left"]),
                    float(piece["right"]),
                    float(piece["y"]),
                    html.unescape(piece["c"] or ""),
                )
                follows = -0.3 * line_size < left - end < 0.3 * line_size and abs(y - base) < 0.75 * line_size
                if is_new_line and not follows:
                    yield "\n"
                    base, line_size, moved = y, size, ""
                else:
                    now = _moved(y - base, size, line_size)
                    if now != moved and glyph.strip():
                        yield now or " "
                        moved = now
                    if not now and glyph.strip():
                        base, line_size = y, size
                is_new_line, end = False, right
                yield glyph.replace(PAGE, "")  # a glyph of a TeX font may have its number


def _moved(down: float, size: float, line_size: float) -> str:
    if size > 0.9 * line_size or abs(down) < 0.08 * line_size:
        return ""
    return "^" if down < 0 else "_"


_TEXT = _Office("txt:Text (encoded):UTF8", _plain)
_DECK: dict[str, tuple[str, Read]] = {  # pages show the numbers of lists, which the XML does not hold
    "office-flat": ("soffice", _Office("fodp", _slides)),
    "office-pages": ("soffice", _Office(_WITH_NOTES, _whole_pages)),
}
_SHEET: dict[str, tuple[str, Read]] = {
    "office": ("soffice", _Office(_SHOWN, _cells)),
    "office-raw": ("soffice", _Office(_RAW, _cells)),
}
READERS: dict[str, dict[str, tuple[str, Read]]] = {
    ".pdf": {
        "poppler-layout": ("pdftotext", _poppler("-layout")),
        "poppler-raw": ("pdftotext", _poppler("-raw")),
        "mupdf": ("mutool", _mupdf),
    },
    **{
        f".{kind}": {"pandoc": ("pandoc", _pandoc(kind)), "office": ("soffice", _TEXT)}
        for kind in ("docx", "odt", "rtf")
    },
    ".pptx": _DECK,
    ".odp": _DECK,
    ".xlsx": {**_SHEET, "stored": ("", _stored_xlsx)},
    ".ods": {**_SHEET, "stored": ("", _stored_ods)},
    ".csv": {"file": ("", _cells)},
    ".epub": {
        "pandoc": ("pandoc", _pandoc("epub")),
        "mupdf": ("mutool", lambda path: _says("mutool", "draw", "-F", "txt", path).replace(PAGE, "\n")),
    },
    ".html": {
        "pandoc": ("pandoc", _pandoc("html")),
        "w3m": ("w3m", lambda path: _says("w3m", "-dump", "-cols", "200", "-T", "text/html", path)),
        "browser": ("chromium", _browser),
    },
    ".md": {"pandoc": ("pandoc", _pandoc("gfm")), "pandoc-markdown": ("pandoc", _pandoc("markdown"))},
}
