"""Independent readers of a file: programs that know nothing of ours. Each reading is a list of pages.

Those that are not installed are passed over. Readings are kept beside the files, so that a second run asks only our own
parsers. Raised text is written ``^``, lowered text ``_``, where a reader says that it is.
"""

import csv
import hashlib
import html
import io
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from xml.etree import ElementTree

LIMIT = 120  # seconds of one reading
PAGE = "\f"
_SHOWN, _RAW = (
    f"csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,{shown},false,false,false,-1" for shown in ("true", "false")
)
_TEXT_OF_PAGE = (
    "<script>addEventListener('load', () => {"
    "const shown = document.body.innerText; document.documentElement.textContent = shown })</script>"
)
Read = Callable[[Path], str]


def readings(path: Path, kept: Path) -> dict[str, list[str]]:
    """Return what each reader of a file's format says, by the reader's name."""
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    place = kept / f"{digest}{path.suffix.lower()}.json"
    known: dict[str, str] = json.loads(place.read_text()) if place.exists() else {}
    for name, (program, read) in READERS.get(path.suffix.lower(), {}).items():
        if name not in known and (not program or shutil.which(program)):
            try:
                known[name] = read(path)
            except (OSError, subprocess.SubprocessError, ValueError, ElementTree.ParseError):
                continue  # this reader can't read it
    kept.mkdir(parents=True, exist_ok=True)
    place.write_text(json.dumps(known))
    return {name: text.removesuffix(PAGE).split(PAGE) for name, text in known.items() if text and text.strip()}


def _says(*command: str | Path) -> str:
    done = subprocess.run([str(part) for part in command], capture_output=True, timeout=LIMIT, check=True)
    return done.stdout.decode(errors="replace")


def _poppler(mode: str) -> Read:
    return lambda path: _says("pdftotext", mode, "-enc", "UTF-8", path, "-")


def _pandoc(format_: str) -> Read:
    return lambda path: _says("pandoc", "-f", format_, "-t", "plain", "--wrap=none", path)


def _office(target: str, read: Callable[[Path], str]) -> Read:
    """Return a reader by LibreOffice: it converts into a folder, whose files are then read."""

    def by_office(path: Path) -> str:
        with tempfile.TemporaryDirectory() as out:
            profile = f"-env:UserInstallation=file://{tempfile.gettempdir()}/fidelity-office-{os.getpid()}"
            _says("soffice", profile, "--headless", "--convert-to", target, "--outdir", out, path)
            files = sorted(Path(out).iterdir())
            if not files:
                raise ValueError("nothing was written")
            read_ = [(file.stem.removeprefix(path.stem).lstrip("-"), read(file)) for file in files]
            return "\n".join(f"{sheet}\n{text}" for sheet, text in read_ if text.strip())

    return by_office


def _plain(path: Path) -> str:
    data = path.read_bytes()
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", errors="replace")


def _cells(path: Path) -> str:
    return "\n".join(" | ".join(row) for row in csv.reader(io.StringIO(_plain(path))))


def _slides(path: Path) -> str:
    """Return the paragraphs of a flat OpenDocument presentation, without those of its masters."""
    text = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
    body = ElementTree.parse(path).getroot().find(".//{urn:oasis:names:tc:opendocument:xmlns:office:1.0}body")
    paragraphs = [] if body is None else [found for found in body.iter() if found.tag in (f"{text}p", f"{text}h")]
    return "\n".join("".join(found.itertext()) for found in paragraphs)


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


_TEXT, _FLAT = _office("txt:Text (encoded):UTF8", _plain), _office("fodp", _slides)
_SHEET = {"office": ("soffice", _office(_SHOWN, _cells)), "office-raw": ("soffice", _office(_RAW, _cells))}
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
    ".pptx": {"office": ("soffice", _FLAT)},
    ".odp": {"office": ("soffice", _FLAT)},
    ".xlsx": _SHEET,
    ".ods": _SHEET,
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
