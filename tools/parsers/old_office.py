"""Parser of Office 97 to 2003: the LibreOffice of the machine makes the newer format of a file, which is then read.

It works in a folder of its own, which goes with its profile, runs no macro and fetches nothing that the file links to;
it ends with the process that reads the file, and has no more time and memory than that.
"""

import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from graph.errors import UnreadableDocument
from tools.parsers import parse
from tools.parsers.canonical_text import Parsed
from tools.parsers.office_package import old_format, refuse_encrypted
from tools.parsers.parser_registry import OLE, ZIP

_SECONDS = 100.0
_START_AGAIN = 81  # its exit code
_SETTINGS = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">{}</oor:items>"""
_SETTING = '<item oor:path="/org.openoffice.{}"><prop oor:name="{}" oor:op="fuse"><value>{}</value></prop></item>'
_CONFINED = (
    ("Office.Common/Security/Scripting", "DisableMacrosExecution", "true"),
    ("Office.Common/Security/Scripting", "DisableActiveContent", "true"),
    ("Office.Common/Security/Scripting", "BlockUntrustedRefererLinks", "true"),
    ("Office.Writer/Content/Update", "Link", "0"),
    ("Office.Calc/Content/Update", "Link", "1"),  # never; the numbers of the two programs differ
    ("Inet/Settings", "ooInetProxyType", "2"),  # a proxy that nothing listens at
    ("Inet/Settings", "ooInetHTTPProxyName", "127.0.0.1"),
    ("Inet/Settings", "ooInetHTTPProxyPort", "9"),
    ("Inet/Settings", "ooInetHTTPSProxyName", "127.0.0.1"),
    ("Inet/Settings", "ooInetHTTPSProxyPort", "9"),
)


def read(data: bytes) -> Parsed:
    """Parse a file of Office 97 to 2003, or what has its suffix: newer files, RTF and pages have it too.

    Raises UnreadableDocument, with what would help, where there is no LibreOffice or it can't read the file.
    """
    if not data.startswith(OLE):
        return _under_its_suffix(data)
    refuse_encrypted(data)
    suffix, better = old_format(data)
    program = libreoffice()
    if program is None:
        raise UnreadableDocument(
            f"The file is in the old format {suffix} of Office 97 to 2003.",
            suggestion=f"Save it as {better}, or install LibreOffice, by which Citewell then reads it.",
        )
    parsed = parse(_converted(program, data, suffix, better), name=f"file{better}")
    return replace(parsed, metadata=parsed.metadata | {"converted_by": "LibreOffice"})


def libreoffice() -> str | None:
    """Return the path of LibreOffice's program, None where it is not installed."""
    found = shutil.which("soffice") or shutil.which("libreoffice")
    if found is None:
        return None
    itself = Path(found).resolve().with_name("soffice.bin")  # ``soffice`` would leave it running where it is ended
    return str(itself) if itself.exists() else found


def _under_its_suffix(data: bytes) -> Parsed:
    for mark, name in ((ZIP, ""), (b"{\\rtf", "file.rtf"), (b"<", "file.html")):
        if data.lstrip().startswith(mark):
            return parse(data, name=name)
    raise UnreadableDocument(
        "The file has the suffix of an old Office format, but is none.",
        suggestion="Open it in Word, Excel, PowerPoint or LibreOffice and save it as .docx, .xlsx or .pptx.",
    )


def _converted(program: str, data: bytes, suffix: str, better: str) -> bytes:
    with TemporaryDirectory(prefix="citewell-") as name:
        folder = Path(name)
        profile = folder / "profile"
        (profile / "user").mkdir(parents=True)
        settings = _SETTINGS.format("".join(_SETTING.format(*each) for each in _CONFINED))
        (profile / "user" / "registrymodifications.xcu").write_text(settings, encoding="utf-8")
        (folder / f"file{suffix}").write_bytes(data)
        command = [
            program, f"-env:UserInstallation={profile.as_uri()}", "--headless", "--norestore", "--nologo",
            "--nolockcheck", "--convert-to", better[1:], "--outdir", name, str(folder / f"file{suffix}"),
        ]  # fmt: skip
        environment = {each: os.environ[each] for each in ("PATH", "LANG", "LC_ALL") if each in os.environ}
        environment |= {"HOME": name, "TMPDIR": name}
        try:
            for _ in range(2):  # with a new profile it asks to be started again
                done = subprocess.run(
                    command,
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    timeout=_SECONDS,
                    env=environment,
                    check=False,
                )
                if done.returncode != _START_AGAIN:
                    break
            return (folder / f"file{better}").read_bytes()
        except (OSError, subprocess.SubprocessError) as error:
            raise UnreadableDocument(
                f"LibreOffice could not read the file, which is in the old format {suffix} of Office 97 to 2003.",
                suggestion=f"Open it in its program, and save it as {better}.",
            ) from error
