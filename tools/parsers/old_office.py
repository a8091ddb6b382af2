"""Parser of Office 97 to 2003: the LibreOffice of the machine makes the newer format of a file, which is then read.

It works in a folder of its own, which goes with its profile, runs no macro and fetches nothing that the file links to;
it ends with the process that reads the file, and has no more time and memory than that.
"""

from dataclasses import replace

from graph.errors import UnreadableDocument
from tools.parsers import parse, programs
from tools.parsers.canonical_text import Parsed
from tools.parsers.office_package import old_format, refuse_encrypted
from tools.parsers.parser_registry import OLE, ZIP

_SECONDS = 100.0


def read(data: bytes) -> Parsed:
    """Parse a file of Office 97 to 2003, or what has its suffix: newer files, RTF and pages have it too.

    Raises UnreadableDocument, with what would help, where there is no LibreOffice or it can't read the file.
    """
    if not data.startswith(OLE):
        return _under_its_suffix(data)
    refuse_encrypted(data)
    suffix, better = old_format(data)
    if programs.libreoffice() is None:
        raise UnreadableDocument(
            f"The file is in the old format {suffix} of Office 97 to 2003.",
            suggestion=f"Save it as {better}, or install LibreOffice, by which Citewell then reads it.",
        )
    parsed = parse(_converted(data, suffix, better), name=f"file{better}")
    return replace(parsed, metadata=parsed.metadata | {"converted_by": "LibreOffice"})


def _under_its_suffix(data: bytes) -> Parsed:
    for mark, name in ((ZIP, ""), (b"{\\rtf", "file.rtf"), (b"<", "file.html")):
        if data.lstrip().startswith(mark):
            return parse(data, name=name)
    raise UnreadableDocument(
        "The file has the suffix of an old Office format, but is none.",
        suggestion="Open it in Word, Excel, PowerPoint or LibreOffice and save it as .docx, .xlsx or .pptx.",
    )


def _converted(data: bytes, suffix: str, better: str) -> bytes:
    try:
        return programs.run_program("libreoffice", data, _SECONDS, suffix, better)
    except programs.ProgramFailed as error:
        raise UnreadableDocument(
            f"LibreOffice could not read the file, which is in the old format {suffix} of Office 97 to 2003.",
            suggestion=f"Open it in its program, and save it as {better}.",
        ) from error
