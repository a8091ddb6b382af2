"""Files of real programs with bytes changed, cut, doubled and moved: each is read soundly, or refused with a reason."""

import io
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graph.errors import UnreadableDocument
from tests.contract.parser_kit import check_parsed
from tools.parsers import parse
from tools.parsers.zipped import members

FILES = Path(__file__).parents[1] / "fixtures" / "documents"
NAMES = [
    "answer.eml", "table.eml", "lamps.mbox", "hours.ipynb", "settings.json", "lamps.jsonl", "values.yaml", "rules.rtf",
    "lamps.rtf", "lamps.py", "lamps.ts", "lamps.c", "lamps.sql", "lamps.toml", "french.txt", "unmarked.txt",
]  # fmt: skip
MARKS = st.sampled_from(
    [
        b"\n", b"\r\n", b"\r\n\r\n", b"\0", b"{", b"}", b"[", b"]", b'"', b"\\", b"\\par ", b"\\u-1?", b"\\'ff",
        b"{\\*", b"\\cell\\row ", b"{\\footnote ", b"\\bin5 ", b"--b",
        b'Content-Type: multipart/mixed; boundary="="\n\n',
        b"Content-Transfer-Encoding: base64\n", b"=?utf-8?q?=ff?=", b"\nFrom a 10:00 2026\n", b"- ", b": ", b"&a ",
        b"*a", b"? ", b"|\n", b'"""', b"/*", b"def f(", b"#", b"\xff", b"\xc3\xa9", b"\xed\xa0\x80", b"null", b"1e999",
        b" > ",
    ]
) | st.binary(max_size=8)  # fmt: skip


def mutated(data: bytes, edits: list[tuple[float, float, bytes]]) -> bytes:
    """Replace spans, each given by its start and its length as shares of the file, by other bytes."""
    for at, length, put in edits:
        start = int(at * len(data))
        data = data[:start] + put + data[start + int(length * length * length * len(data)) :]
    return data


EDITS = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1) | st.just(0.0), MARKS), max_size=6)
PATIENT = settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])


def check(data: bytes, name: str) -> None:
    try:
        check_parsed(parse(data, name=name))
    except UnreadableDocument as error:
        assert error.message  # noqa: PT017
        assert error.advice  # noqa: PT017


@pytest.mark.parametrize("name", NAMES)
@PATIENT
@given(edits=EDITS)
def test_a_file_with_changed_bytes(name: str, edits: list[tuple[float, float, bytes]]) -> None:
    check(mutated((FILES / name).read_bytes(), edits), name)


@pytest.mark.parametrize("name", ["lamps.epub", "parts_vi.epub"])
@PATIENT
@given(edits=EDITS)
def test_a_book_with_changed_bytes(name: str, edits: list[tuple[float, float, bytes]]) -> None:
    check(mutated((FILES / name).read_bytes(), edits), name)


@PATIENT
@given(st.sampled_from(["container", "opf", "ncx", "nav", "ch001", "ch002"]), EDITS)
def test_a_book_whose_files_are_changed_inside(part: str, edits: list[tuple[float, float, bytes]]) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(FILES / "lamps.epub") as book, zipfile.ZipFile(packed, "w") as changed:
        for name in book.namelist():
            data = book.read(name)
            changed.writestr(name, mutated(data, edits) if part in name else data)
    check(packed.getvalue(), "x.epub")


@PATIENT
@given(EDITS)
def test_an_archive_with_changed_bytes(edits: list[tuple[float, float, bytes]]) -> None:
    try:
        for member in members(mutated((FILES / "bundle.zip").read_bytes(), edits), max_bytes=100_000):
            assert (member.error is None) or member.error.message
            assert not member.path.startswith("/")
            assert ".." not in member.path.split("/")
    except UnreadableDocument as error:
        assert error.message  # noqa: PT017


@PATIENT
@given(st.lists(MARKS, max_size=40), st.sampled_from(NAMES))
def test_a_file_of_marks_alone(parts: list[bytes], name: str) -> None:
    head = {"rtf": b"{\\rtf1 ", "eml": b"Subject: s\n", "mbox": b"From a 10:00 2026\n"}.get(
        name.rpartition(".")[2], b""
    )
    check(head + b"".join(parts), name)
