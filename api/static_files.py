"""The web page's files: read and compressed once, and addressed by a hash of their content."""

import gzip
import hashlib
import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

PAGE_FOLDER = Path(__file__).parent / "page"  # its modules, as they are written
BUNDLE_FOLDER = Path(__file__).parent / "page_bundle"  # the same in few files, which `make page` builds
BESIDE = "vendor/pdf"  # of the modules: PDF.js with its data, which no bundle holds
INDEX = "index.html"
MAIN = "main.js"
EMBED = "embed.js"  # the window in other people's pages, which has an address of its own
EMBED_MARKUP = "embed_markup.js"  # what shows Markdown in it
SERVICE_WORKER = "service_worker.js"
VERSION = "{version}"
WORKER_FILES = "{files}"
PRELOADS = "<!-- preloads -->"
MEDIA_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml; charset=utf-8",
    ".png": "image/png",
    ".webmanifest": "application/manifest+json",
    ".bcmap": "application/octet-stream",
    ".pfb": "application/octet-stream",
    ".ttf": "font/ttf",
}
# Not kept for when there is no network: what shows files as they are, which need the network themselves, and what is
# for other people's pages.
NOT_KEPT = (BESIDE + "/", EMBED, EMBED_MARKUP)
# A module's static imports. Neither `import()` nor a type import in a comment begins a line.
_STATIC_IMPORT = re.compile(
    r"""^\s*(?:import\s*|(?:import\b|export\b|\})[^;"'(\n]*\bfrom\s*)["'](\.{1,2}/[^"'\n]+\.js)["']""", re.MULTILINE
)


@dataclass(frozen=True)
class PageFile:
    """A file, and the entity tag of it and of its gzip form."""

    content: bytes
    media_type: str
    tag: str

    @classmethod
    def of(cls, content: bytes, suffix: str) -> "PageFile":
        """Create a file from its content."""
        # Weak, since it is the same for both encodings.
        tag = f'W/"{hashlib.sha256(content).hexdigest()[:32]}"'
        return cls(content, MEDIA_TYPES[suffix], tag)

    @cached_property
    def compressed(self) -> bytes | None:
        """The gzip form, made when it is first asked for; None if it is not smaller."""
        compressed = gzip.compress(self.content, 9, mtime=0)
        return compressed if len(compressed) < len(self.content) else None


@dataclass(frozen=True, slots=True)
class PageFiles:
    """All files of the page. ``version`` is a hash of all their content."""

    version: str
    index: PageFile
    files: Mapping[str, PageFile]


@cache
def read_page(folder: Path = BUNDLE_FOLDER) -> PageFiles:
    """Read the page's files, once per process."""
    found = {
        path.relative_to(of).as_posix(): path.read_bytes()
        for of, below in ((PAGE_FOLDER, PAGE_FOLDER / BESIDE), (folder, folder))
        for path in sorted(below.rglob("*"))
        if path.suffix in MEDIA_TYPES and path.is_file()
    }
    version = _digest(found)
    links = (f'<link rel="modulepreload" href="page/{VERSION}/{path}">' for path in imported_modules(found, MAIN))
    index = found.pop(INDEX).decode().replace(PRELOADS, "\n".join(links)).replace(VERSION, version)
    if EMBED in found:
        found[EMBED] = found[EMBED].decode().replace(VERSION, version).encode()
    if SERVICE_WORKER in found:
        kept = " ".join(name for name in found if name != SERVICE_WORKER and not name.startswith(NOT_KEPT))
        script = found[SERVICE_WORKER].decode().replace(VERSION, version).replace(WORKER_FILES, kept)
        found[SERVICE_WORKER] = script.encode()
    files = {path: PageFile.of(content, Path(path).suffix) for path, content in found.items()}
    return PageFiles(version, PageFile.of(index.encode(), Path(INDEX).suffix), files)


def imported_modules(files: Mapping[str, bytes], module: str) -> list[str]:
    """List the modules that ``module`` imports, directly or not, breadth first."""
    seen: dict[str, None] = {}
    waiting = [module]
    while waiting:
        path = waiting.pop(0)
        if path in files and path not in seen:
            seen[path] = None
            folder = posixpath.dirname(path)
            imports = _STATIC_IMPORT.finditer(files[path].decode())
            waiting += [posixpath.normpath(posixpath.join(folder, each[1])) for each in imports]
    return [path for path in seen if path != module]


def _digest(files: Mapping[str, bytes]) -> str:
    digest = hashlib.sha256()
    for path, content in files.items():
        digest.update(f"{path}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()[:16]
