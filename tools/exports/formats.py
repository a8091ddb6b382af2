"""The formats of exports, their media types, and the names of their files."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from tools.exports.exported import Transcript
from tools.exports.markdown_file import markdown_file
from tools.exports.wording import Words

ExportFormat = Literal["md", "docx", "html"]
WORD_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
LONGEST_NAME = 80  # characters, which is less than 255 bytes in any script
_UNFIT = frozenset('/\\:*?"<>|')


@dataclass(frozen=True, slots=True)
class FileFormat:
    """How a format is written, and its media type."""

    write: Callable[[Transcript, Words], bytes]
    media_type: str


def _word_file(transcript: Transcript, words: Words) -> bytes:
    from tools.exports.word_file import word_file  # with python-docx, a hundred modules

    return word_file(transcript, words)


def _html_report(transcript: Transcript, words: Words) -> bytes:
    from tools.exports.html_report import html_report

    return html_report(transcript, words)


FILE_FORMATS: dict[ExportFormat, FileFormat] = {
    "md": FileFormat(markdown_file, "text/markdown; charset=utf-8"),
    "docx": FileFormat(_word_file, WORD_TYPE),
    "html": FileFormat(_html_report, "text/html; charset=utf-8"),
}


def file_name(transcript: Transcript, suffix: ExportFormat) -> str:
    """Return a name for the file, of the session's title, that every system takes."""
    kept = "".join(" " if sign in _UNFIT or not sign.isprintable() else sign for sign in transcript.title)
    stem = " ".join(kept.split())[:LONGEST_NAME].strip(" .")
    return f"{stem or transcript.session_id}.{suffix}"
