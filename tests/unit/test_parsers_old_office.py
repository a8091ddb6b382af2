"""Files of Office 97 to 2003: read by LibreOffice where it is there, and nothing that they link to is fetched."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from graph.errors import UnreadableDocument
from tools.parsers import parse
from tools.parsers.programs import libreoffice

FILES = Path(__file__).parents[1] / "fixtures" / "documents"
installed = pytest.mark.skipif(libreoffice() is None, reason="LibreOffice is not installed")


@installed
@pytest.mark.parametrize(
    ("name", "media_type", "words"),
    [("old.doc", "application/msword", "lamp"), ("old.xls", "application/vnd.ms-excel", "Tower | 1,200.50")],
)
def test_an_old_file_is_read(name: str, media_type: str, words: str) -> None:
    parsed = parse((FILES / name).read_bytes(), name=name)
    assert parsed.media_type == media_type
    assert parsed.metadata["converted_by"] == "LibreOffice"
    assert words in parsed.text


@pytest.mark.parametrize(
    ("name", "data", "text"),
    [("a.doc", b"{\\rtf1 A lamp.}", "A lamp."), ("a.xls", b"<table><tr><td>Lamp<td>10</table>", "Lamp | 10")],
)
def test_what_only_has_the_suffix_is_read_as_what_it_is(name: str, data: bytes, text: str) -> None:
    assert parse(data, name=name).text == text


def test_libreoffice_runs_no_macro_reaches_no_network_and_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, Any] = {}

    def run(command: list[str], **options: Any) -> subprocess.CompletedProcess[bytes]:
        profile = next(each for each in command if each.startswith("-env:UserInstallation=")).partition("file://")[2]
        seen["settings"] = (Path(profile) / "user" / "registrymodifications.xcu").read_text(encoding="utf-8")
        seen["folder"], seen["env"] = Path(profile).parent, options["env"]
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr("tools.parsers.programs.libreoffice", lambda: sys.executable)
    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setenv("CITEWELL_SECRET", "hush")
    with pytest.raises(UnreadableDocument, match="could not read"):
        parse((FILES / "old.doc").read_bytes(), name="old.doc")
    for name in ("DisableMacrosExecution", "BlockUntrustedRefererLinks", "ooInetProxyType"):
        assert name in seen["settings"]
    assert not seen["folder"].exists()
    assert "CITEWELL_SECRET" not in seen["env"]
