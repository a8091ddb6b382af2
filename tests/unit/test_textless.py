"""Files without text in folders, and archives that are no archives of documents."""

import io
import zipfile
from pathlib import Path

import pytest

from graph.errors import UnreadableDocument
from tools.library.found_files import find_files
from tools.parsers import parse
from tools.parsers.textless import passed_over
from tools.parsers.zipped import members


def packed(*names: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name in names:
            archive.writestr(name, "x")
    return file.getvalue()


def test_files_without_text_are_passed_over_in_a_folder_but_not_where_they_are_named(tmp_path: Path) -> None:
    for name in (
        "a.md",
        "b.PNG",
        "c.jpg",
        "d.woff2",
        "~$e.docx",
        "_category_.json",
        "Thumbs.db",
        "f.ts",
        ".hidden.png",
    ):
        (tmp_path / name).write_text("x")
    textless: list[str] = []
    assert [file.path.name for file in find_files([tmp_path], textless)] == ["a.md", "f.ts"]
    (told,) = passed_over(textless)
    assert told.startswith("6 files")
    assert told.endswith(": 1 .jpg, 1 .png, 1 .woff2, 3 of programs.")
    assert [file.path.name for file in find_files([tmp_path / "b.PNG"], textless)] == ["b.PNG"]
    assert passed_over([]) == []


@pytest.mark.parametrize(
    ("name", "inside", "why"),
    [
        ("plan.pages", ("Index/Document.iwa", "preview.jpg"), "Apple Pages"),
        ("plan.key", ("Index/Slide.iwa",), "Keynote"),
        ("lamp.jar", ("META-INF/MANIFEST.MF", "a.txt"), "program"),
        ("lamp.apk", ("AndroidManifest.xml",), "program"),
        ("lamp.sketch", ("document.json",), "the format"),
    ],
)
def test_a_package_of_a_program_is_refused_by_name(name: str, inside: tuple[str, ...], why: str) -> None:
    with pytest.raises(UnreadableDocument, match=why) as refused:
        parse(packed(*inside), name=name)
    assert refused.value.advice


@pytest.mark.parametrize("data", [b"\x89PNG\r\n\x1a\n\xff\xd8\x81\x8d" * 9, b"\x89PNG\0" * 9])
def test_a_broken_picture_is_refused_as_one_and_never_as_a_text_to_be_saved(data: bytes) -> None:
    with pytest.raises(UnreadableDocument, match="by its name") as refused:
        parse(data, name="harbour.png")
    assert "UTF-8" not in str(refused.value.advice)


def test_files_that_programs_keep_are_passed_over_in_an_archive() -> None:
    found = members(packed("a.txt", "docs/~$a.docx", "docs/Thumbs.db"), max_bytes=100)
    assert [member.path for member in found] == ["a.txt"]
