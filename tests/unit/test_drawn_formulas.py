"""The formulas of a file for its viewers: a file without a sign of any is not read as a whole once more."""

import io
import zipfile
from pathlib import Path

import pytest

import tools.parsers
from tools.library.drawn_formulas import drawn_in
from tools.parsers import parse

DOCUMENTS = Path(__file__).parents[1] / "fixtures/documents"
WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
OMATH = (
    b'<w:p><m:oMath xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"><m:f><m:num><m:r><m:t>1</m:t>'
    b"</m:r></m:num><m:den><m:r><m:t>2</m:t></m:r></m:den></m:f></m:oMath></w:p>"
)


def with_formula(document: bytes) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(document)) as old, zipfile.ZipFile(written, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            new.writestr(name, data.replace(b"<w:body>", b"<w:body>" + OMATH) if name == "word/document.xml" else data)
    return written.getvalue()


def test_a_formula_of_an_office_file_is_found() -> None:
    data = with_formula((DOCUMENTS / "handbook.docx").read_bytes())
    text = parse(data, name="handbook.docx").text
    [formula] = drawn_in(data, WORD, text)["formulas"]
    assert text[formula["start"] : formula["end"]] == "1/2"


@pytest.mark.parametrize(
    ("data", "media_type"),
    [
        ((DOCUMENTS / "handbook.docx").read_bytes(), WORD),
        (b"Two lamps burn.", "text/x-rst"),
        (b"PK\x03\x04 and no more", WORD),
    ],
    ids=["office", "text", "broken"],
)
def test_a_file_without_a_sign_of_one_is_not_read_again(
    data: bytes, media_type: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_again(*_: object, **__: object) -> None:
        raise AssertionError

    monkeypatch.setattr(tools.parsers, "parse", read_again)
    assert drawn_in(data, media_type, "Two lamps burn.") == {}
