"""Files that hold no text, by their names: pictures, sound, locks of Office. A folder of documents may hold them."""

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import PurePath

from tools.parsers.parser_registry import formats

_SUFFIXES = frozenset(
    {".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".ico", ".icns", ".svg", ".tif", ".tiff", ".heic", ".avif",
     ".mp3", ".wav", ".ogg", ".oga", ".m4a", ".flac", ".aac", ".mp4", ".m4v", ".mov", ".avi", ".mkv", ".webm", ".ogv",
     ".psd", ".woff", ".woff2", ".ttf", ".otf", ".eot", ".pyc", ".class", ".o", ".so", ".dll", ".exe"}
)  # fmt: skip
# Of Office and LibreOffice while a document is open, of systems for their folders, and of Docusaurus for its sidebar.
_OF_PROGRAMS = re.compile(
    r"~\$.*|\.~lock\..*#|Thumbs\.db|ehthumbs\.db|desktop\.ini|_category_\.(?:json|ya?ml)", re.IGNORECASE
)


def of_a_program(name: str) -> bool:
    """Whether a file is one that programs keep for themselves beside documents."""
    return _OF_PROGRAMS.fullmatch(PurePath(name).name) is not None


def is_textless(name: str) -> bool:
    """Whether a file is a picture, sound, video, font, program, or one that programs keep for themselves.

    None is of a format that a plugin reads.
    """
    suffix = PurePath(name).suffix.lower()
    return (suffix in _SUFFIXES and suffix not in formats().suffixes) or of_a_program(name)


def passed_over(names: Sequence[str]) -> list[str]:
    """Return in one sentence how many files without text were passed over, of which kinds; nothing of none."""
    if not names:
        return []
    kinds = Counter("of programs" if of_a_program(name) else PurePath(name).suffix.lower() for name in names)
    said = ", ".join(f"{count:,} {kind}" for kind, count in sorted(kinds.items()))
    are = "1 file that holds no text was" if len(names) == 1 else f"{len(names):,} files that hold no text were"
    return [f"{are} passed over: {said}."]
