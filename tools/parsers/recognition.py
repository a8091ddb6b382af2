"""Text recognition (OCR) in scanned pages by the tesseract of the machine, where it is there and wanted.

A page goes to tesseract as a picture, and comes back as a PDF with the recognised words at their places: it is then
read like any other page. Recognised words may be wrong, so the document says that they are.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from time import monotonic
from typing import NamedTuple

from tools.parsers.programs import ProgramFailed, run_program, tesseract

_TOO_LONG = "Recognition took too long: raise CITEWELL_JOBS__FILE_SECONDS, or split the file."
DPI = 200
MOST_PIXELS = 25_000_000  # of a page; a larger one is rendered with fewer dots


@dataclass(frozen=True, slots=True)
class Recognition:
    """How text is recognised: the languages in tesseract's names, such as ``eng+vie``, and the seconds for a file."""

    languages: str = "eng"
    seconds: float = 120.0


class _Wanted(NamedTuple):
    how: Recognition
    ends: float  # of the whole file, whatever other files it holds


_WANTED: ContextVar[_Wanted | None] = ContextVar("wanted", default=None)


@contextmanager
def recognising(wanted: Recognition | None) -> Iterator[None]:
    """Let the parsers within recognise text in pages that have none; None leaves it as it is around."""
    token = _WANTED.set(_WANTED.get() if wanted is None else _Wanted(wanted, monotonic() + wanted.seconds))
    try:
        yield
    finally:
        _WANTED.reset(token)


class Recognizer:
    """A recognizer for a file or one within it: it stops when the seconds are used up, or when tesseract has failed.

    ``hint`` says what would help where nothing was recognised, ``stopped`` whether it stopped before the end.
    """

    def __init__(self) -> None:
        self._wanted = _WANTED.get()
        self._program = tesseract() if self._wanted else None
        self.stopped = False
        self.hint = "Run text recognition (OCR) on it, and add the result."
        if self._wanted and not self._program:
            self.hint = (
                "Install tesseract, which Citewell then uses, or run text recognition (OCR) on the file yourself."
            )

    def recognised(self, picture: bytes, dpi: int) -> bytes | None:
        """Return a PDF of one page with the words of a picture in the PGM format, or None if it cannot be had."""
        if self._wanted is None or self._program is None:
            return None
        left = self._wanted.ends - monotonic()
        if left <= 0:
            self._stop(_TOO_LONG)
            return None
        try:
            return run_program("tesseract", picture, left, self._wanted.how.languages, str(dpi))
        except ProgramFailed as error:  # for a language that is not installed, most often
            languages = self._wanted.how.languages
            failed = f"tesseract failed: check that its language data {languages!r} is installed."
            self._stop(_TOO_LONG if error.is_late else failed)
            return None

    @property
    def is_on(self) -> bool:
        """Whether a page is worth rendering."""
        return self._program is not None

    def _stop(self, hint: str) -> None:
        self._program, self.stopped, self.hint = None, True, hint
