"""The programs of the machine that parsers run: LibreOffice, which makes newer formats of old ones, and tesseract.

Each works in a folder of its own, which goes with what it leaves. A process that may start no program has another one
do it.
"""

import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from tools.confinement.environment import plain_environment
from tools.confinement.kernel import end_with_parent

_START_AGAIN = 81  # an exit code of LibreOffice
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


Program = Literal["libreoffice", "tesseract"]
Run = Callable[..., bytes]  # of a program's name, the bytes of a file, seconds, and strings
_elsewhere: list[Run] = []  # one, where another process starts the programs


class ProgramFailed(Exception):
    """A program could not do what it was asked, or not in its time."""

    def __init__(self, is_late: bool) -> None:
        super().__init__()
        self.is_late = is_late


def libreoffice() -> str | None:
    """Return the path of LibreOffice's program, None where it is not installed."""
    found = shutil.which("soffice") or shutil.which("libreoffice")
    if found is None:
        return None
    itself = Path(found).resolve().with_name("soffice.bin")  # ``soffice`` would leave it running where it is ended
    return str(itself) if itself.exists() else found


def tesseract() -> str | None:
    """Return the path of tesseract, None where it is not installed."""
    return shutil.which("tesseract")


def run_programs_by(run: Run) -> None:
    """Have another process start the programs of this one, by ``run_program``."""
    _elsewhere[:] = [run]


def run_program(name: Program, data: bytes, seconds: float, *arguments: str) -> bytes:
    """Return what a program makes of a file, from the suffix of its format to another, or in languages at some dpi.

    LibreOffice makes an office file of another format, tesseract a PDF of a page's words. Raises ProgramFailed.
    """
    if _elsewhere:
        return _elsewhere[0](name, data, seconds, *arguments)
    program = {"libreoffice": _convert, "tesseract": _recognise}[name]
    try:
        with TemporaryDirectory(prefix="citewell-") as folder:
            return program(Path(folder), data, seconds, *arguments)
    except (OSError, subprocess.SubprocessError) as error:
        raise ProgramFailed(is_late=isinstance(error, subprocess.TimeoutExpired)) from error


def program_folders() -> Iterator[Path]:
    """Yield what the programs of this machine are and read, beside what all programs read."""
    yield from (Path(folder, "libreoffice") for folder in ("/etc", "/var/lib", "/var/spool"))  # where links of it lead
    yield from map(Path, filter(None, [os.environ.get("TESSDATA_PREFIX")]))
    for found in filter(None, (libreoffice(), tesseract())):
        program = Path(found).resolve()
        yield program
        if program.parent.name == "program":  # of LibreOffice, wherever it is
            yield program.parents[1]
        for folder in (program.parents[1], Path(found).parents[1]):
            yield from (folder / "lib", folder / "share" / "tessdata")


_ends_with_parent = partial(end_with_parent, signal.SIGKILL)


def _convert(folder: Path, data: bytes, seconds: float, suffix: str, better: str) -> bytes:
    profile = folder / "profile"
    (profile / "user").mkdir(parents=True)
    settings = _SETTINGS.format("".join(_SETTING.format(*each) for each in _CONFINED))
    (profile / "user" / "registrymodifications.xcu").write_text(settings, encoding="utf-8")
    (folder / f"file{suffix}").write_bytes(data)
    command = [
        libreoffice() or "soffice", f"-env:UserInstallation={profile.as_uri()}", "--headless", "--norestore",
        "--nologo", "--nolockcheck", "--convert-to", better[1:], "--outdir", str(folder), str(folder / f"file{suffix}"),
    ]  # fmt: skip
    environment = plain_environment() | {"HOME": str(folder), "TMPDIR": str(folder)}
    for _ in range(2):  # with a new profile it asks to be started again
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=seconds,
            env=environment,
            check=False,
            preexec_fn=_ends_with_parent,  # nobody else ends it where the memory of the reader has run out
        )
        if done.returncode != _START_AGAIN:
            break
    return (folder / f"file{better}").read_bytes()


def _recognise(folder: Path, picture: bytes, seconds: float, languages: str, dpi: str) -> bytes:
    return subprocess.run(
        # Of the words alone: for the picture in it tesseract would write into /tmp, wherever temporary files go.
        [tesseract() or "tesseract", "stdin", "stdout", "-l", languages, "--dpi", dpi, "-c", "textonly_pdf=1", "pdf"],
        input=picture,
        capture_output=True,
        timeout=seconds,
        cwd=folder,
        preexec_fn=_ends_with_parent,
        env={
            **plain_environment(),
            "TMPDIR": str(folder),
            "OMP_THREAD_LIMIT": "1",
        },  # threads cost more than they bring
        check=True,
    ).stdout
