"""Books, notebooks, mails, rich text, settings and source code made by real programs, each read as it should be.

``packed.expected`` beside the files says what each of them holds, block by block. It was read through by eye.
"""

import json
import shutil
from pathlib import Path

import pytest

from graph.errors import UnreadableDocument
from tests.contract.hanging_blocks import hanging
from tools.parsers import Parsed, Recognition, parse, recognition

FILES = Path(__file__).parents[1] / "fixtures" / "documents"
EXPECTED = {
    part.partition("\n")[0].removeprefix("== "): part.partition("\n")[2].rstrip("\n")
    for part in (FILES / "packed.expected").read_text(encoding="utf-8").split("\n\n")
}


def read(name: str, wanted: Recognition | None = None) -> Parsed:
    return parse((FILES / name).read_bytes(), name=name, recognition=wanted)


def told(parsed: Parsed) -> str:
    """Return a parsed file as lines: its title, its metadata, what was left out, and each block."""
    lines = [f"title: {parsed.title or ''}"]
    lines += [f"metadata: {_json(parsed.metadata)}"] if parsed.metadata else []
    lines += [f"left out: {said}" for said in parsed.left_out]
    for (kind, words, above), block in zip(hanging(parsed), parsed.blocks, strict=True):
        on = f" on {_json(above)}" if above else ""
        at = f" at {block.anchor}" if block.anchor else ""
        lines.append(f"{kind} [{block.heading}] {_json(words)}{on}{at}")
    return "\n".join(lines)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


@pytest.mark.parametrize("name", EXPECTED)
def test_what_a_file_holds(name: str) -> None:
    assert told(read(name)) == EXPECTED[name]


@pytest.mark.parametrize("name", ["lamps.py", "lamps.go", "lamps.ts", "lamps.sql", "lamps.toml", "lamps.c"])
def test_the_text_of_source_code_is_its_canonical_text(name: str) -> None:
    assert read(name).text == (FILES / name).read_text(encoding="utf-8")


def test_the_archive_itself_is_no_document() -> None:
    with pytest.raises(UnreadableDocument, match="several documents"):
        read("bundle.zip")


def test_a_scan_is_refused_with_what_would_help() -> None:
    with pytest.raises(UnreadableDocument, match="no text on its 1 page") as refused:
        read("scanned.pdf")
    assert "OCR" in refused.value.advice


def test_a_scan_is_refused_where_tesseract_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(UnreadableDocument) as refused:
        read("scanned.pdf", Recognition())
    assert refused.value.advice.startswith("Install tesseract")


needs_tesseract = pytest.mark.skipif(
    shutil.which("tesseract") is None, reason="tesseract is not installed (apt-get install tesseract-ocr)"
)


@needs_tesseract
def test_a_scan_is_recognised() -> None:
    parsed = read("scanned.pdf", Recognition())
    assert [(kind, words) for kind, words, _ in hanging(parsed)] == [
        ("heading", "Lamp rules"),
        ("paragraph", "The lamps are switched off at ten in the evening. The keys lie at the desk."),
    ]
    assert parsed.page_count == 1
    assert parsed.metadata == {"ocr": "tesseract"}
    (warning,) = parsed.warnings
    assert "1 of 1 pages" in warning
    assert "(OCR)" in warning


def test_the_files_within_a_file_share_its_time_for_recognition(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, given = [0.0], []

    def run(_: str, __: bytes, seconds: float, *___: str) -> bytes:
        given.append(seconds)
        clock[0] += 8
        return b""

    monkeypatch.setattr(recognition, "monotonic", lambda: clock[0])
    monkeypatch.setattr(recognition, "tesseract", lambda: "tesseract")
    monkeypatch.setattr(recognition, "run_program", run)
    with recognition.recognising(Recognition(seconds=10)):
        for _ in range(3):
            recognition.Recognizer().recognised(b"", 200)
    assert given == [10, 2]


@needs_tesseract
def test_recognition_keeps_to_its_time() -> None:
    with pytest.raises(UnreadableDocument) as refused:
        read("scanned.pdf", Recognition(seconds=0.01))
    assert "CITEWELL_JOBS__FILE_SECONDS" in refused.value.advice


@needs_tesseract
def test_a_language_that_is_not_installed_is_named() -> None:
    with pytest.raises(UnreadableDocument) as refused:
        read("scanned.pdf", Recognition("zzz"))
    assert "'zzz'" in refused.value.advice
