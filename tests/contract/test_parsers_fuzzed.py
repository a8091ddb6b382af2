"""Every registered parser, and what views show, on files of real programs: changed, cut, spliced, and mistaken.

Each is read soundly or refused with a reason and advice. Meanwhile nothing is written, run or connected to, and no file
takes more than ``MOST_SECONDS`` of the processor. The budget is fixed: ``EXAMPLES`` a kind of file, ``FEW`` a parser.
"""

import io
import os
import signal
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph.errors import UnreadableDocument
from tests.contract.parser_kit import check_parsed
from tools.library.drawn_pictures import pictures_of, placed_pictures
from tools.parsers import formats, media_type_of, parse
from tools.parsers.pdf_places import find_boxes
from tools.parsers.zipped import members
from tools.web.named_addresses import addresses_of, sitemap_entries

FIXTURES = Path(__file__).parents[1] / "fixtures"
ABOUT = {"make_office.py", "make_packed.py", "make_published.py", "packed.expected"}
FILES = sorted(
    path
    for folder in ("documents", "published")
    for path in (FIXTURES / folder).iterdir()
    if path.is_file() and path.name not in ABOUT
)
SUFFIXES = sorted({path.suffix for path in FILES})
FEW = 10
MOST_SECONDS = 20  # a guard against hangs, far above what any of these files takes
MARKS = st.sampled_from(
    [
        b"\n", b"\r\n", b"\r\n\r\n", b"\0", b"{", b"}", b"[", b"]", b'"', b"\\", b"\\par ", b"\\u-1?", b"\\'ff",
        b"{\\*", b"\\cell\\row ", b"{\\footnote ", b"\\bin5 ", b"--b",
        b'Content-Type: multipart/mixed; boundary="="\n\n',
        b"Content-Transfer-Encoding: base64\n", b"=?utf-8?q?=ff?=", b"\nFrom a 10:00 2026\n", b"- ", b": ", b"&a ",
        b"*a", b"? ", b"|\n", b'"""', b"/*", b"def f(", b"#", b"\xff", b"\xc3\xa9", b"\xed\xa0\x80", b"null", b"1e999",
        b" > ", b"<p>", b"</", b"/>", b"<table>", b"&amp;", b"&x;", b"<!--", b"<![CDATA[", b"<!DOCTYPE a [", b"..",
        b"BEGIN:VEVENT\n", b";X=", b"00:01.000 --> 00:02.000\n", b"====\n", b"|===\n", b"#+begin_src\n", b"* ",
        b"$", b" obj", b"endstream", b"<<", b">>", b"xref", b"PK\x03\x04", b"0", b"-1", b"99999999999",
    ]
) | st.binary(max_size=8)  # fmt: skip
NAMING = st.sampled_from(
    [
        b'<a href="', b'">', b"<base href=//x/>", b"<link rel=canonical href='/b'>", b"<urlset>", b"<url>", b"</url>",
        b"<sitemapindex><sitemap>", b"<loc>", b"</loc>", b"https://docs.example/", b"http://[::1]/", b"https://\xff/",
        b"\x1f\x8b\x08", b"![a](data:image/png;base64,", b"iVBORw0KGgo=", b")",
        b"<img src='data:image/gif;base64,R0lG'>",
    ]
)  # fmt: skip
EDITS = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1) | st.just(0.0), MARKS), max_size=6)
HEADS = st.sampled_from(
    [b"", b"{\\rtf1 ", b"Subject: s\n", b"From a 10:00 2026\n", b"%PDF-1.7\n", b"PK\x03\x04", b"<?xml "]
)
_WRITES = {"os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.link", "os.symlink", "os.truncate", "os.chmod"}
_RUNS = {"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "socket.connect", "socket.getaddrinfo"}
_watched: list[str] = []
_watching = False


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    """Note what a parser does to the world; a hook of the interpreter, which can't be taken off again."""
    if not _watching:
        return
    writes = event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
    if writes or event in _WRITES | _RUNS:
        _watched.append(f"{event} {arguments[0]!r}")


@pytest.fixture(scope="module", autouse=True)
def loaded() -> None:
    """Load what each parser loads when it is first used, before anything is watched."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tools.parsers.programs.libreoffice", lambda: None)
        for path in FILES:
            check(path.read_bytes(), path.name)
    sys.addaudithook(_audit)


@contextmanager
def watched() -> Iterator[None]:
    """Fail if what is done inside writes, runs or connects to anything, or takes too long."""
    global _watching

    def too_long(number: int, frame: FrameType | None) -> None:
        raise AssertionError(f"a file took more than {MOST_SECONDS} s of the processor")

    before = signal.signal(signal.SIGVTALRM, too_long)
    signal.setitimer(signal.ITIMER_VIRTUAL, MOST_SECONDS)
    _watching = True
    try:
        yield
    finally:
        _watching = False
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
    done, _watched[:] = list(_watched), []
    assert not done


def check(data: bytes, name: str, media_type: str | None = None) -> None:
    with watched():
        try:
            parsed = parse(data, name=name, media_type=media_type)
        except UnreadableDocument as error:
            assert error.message  # noqa: PT017
            assert error.advice  # noqa: PT017
            return
    check_parsed(parsed)


def mutated(data: bytes, edits: list[tuple[float, float, bytes]]) -> bytes:
    """Replace spans, each given by its start and its length as shares of the file, by other bytes."""
    for at, length, put in edits:
        start = int(at * len(data))
        data = data[:start] + put + data[start + int(length * length * length * len(data)) :]
    return data


def repacked(data: bytes, part: int, edits: list[tuple[float, float, bytes]]) -> bytes:
    """Change a part of an archive, counted around, and pack it again; another file stays as it is."""
    packed = io.BytesIO()
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as book, zipfile.ZipFile(packed, "w") as changed:
            names = book.namelist()
            for at, name in enumerate(names):
                inside = book.read(name)
                changed.writestr(name, mutated(inside, edits) if at == part % len(names) else inside)
    except zipfile.BadZipFile:
        return data
    return packed.getvalue()


@pytest.fixture(autouse=True)
def without_libreoffice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Starting it takes seconds, and what it makes of a file is not ours."""
    monkeypatch.setattr("tools.parsers.programs.libreoffice", lambda: None)


@pytest.mark.parametrize("suffix", SUFFIXES)
@given(st.data(), EDITS)
def test_a_file_that_was_changed(suffix: str, data: st.DataObject, edits: list[tuple[float, float, bytes]]) -> None:
    file = data.draw(st.sampled_from([path for path in FILES if path.suffix == suffix]))
    check(mutated(file.read_bytes(), edits), file.name)


@pytest.mark.parametrize(
    "suffix", [each for each in SUFFIXES if each in (".docx", ".odt", ".xlsx", ".ods", ".pptx", ".odp", ".epub")]
)
@given(st.data(), st.integers(0, 60), EDITS)
def test_a_file_whose_parts_were_changed(
    suffix: str, data: st.DataObject, part: int, edits: list[tuple[float, float, bytes]]
) -> None:
    file = data.draw(st.sampled_from([path for path in FILES if path.suffix == suffix]))
    check(repacked(file.read_bytes(), part, edits), file.name)


@settings(max_examples=100)
@given(st.sampled_from(FILES), st.sampled_from(FILES), st.floats(0, 1), st.floats(0, 1))
def test_two_files_spliced(one: Path, other: Path, end: float, start: float) -> None:
    first, second = one.read_bytes(), other.read_bytes()
    check(first[: int(end * len(first))] + second[int(start * len(second)) :], one.name)


@pytest.mark.parametrize("media_type", sorted(formats().parsers))
@settings(max_examples=FEW)
@given(
    st.binary(max_size=200)
    | st.tuples(HEADS, st.lists(MARKS, max_size=40)).map(lambda parts: parts[0] + b"".join(parts[1]))
    | st.sampled_from(FILES).map(Path.read_bytes)
)
def test_anything_taken_for_a_file_of_its_kind(media_type: str, data: bytes) -> None:
    check(data, "upload", media_type)


@settings(max_examples=50)
@given(EDITS)
def test_an_archive_that_was_changed(edits: list[tuple[float, float, bytes]]) -> None:
    with watched():
        try:
            for member in members(
                mutated((FIXTURES / "documents" / "bundle.zip").read_bytes(), edits), max_bytes=100_000
            ):
                assert (member.error is None) or member.error.message
                assert not member.path.startswith("/")
                assert ".." not in member.path.split("/")
        except UnreadableDocument as error:
            assert error.message  # noqa: PT017


MOST_PICTURES, MOST_BOXES, MOST_LINKS, MOST_ENTRIES = 3, 5, 4, 4
ADDRESS = "https://docs.example/a"


@pytest.fixture
def lowered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lower the limits of what views show, so that ordinary files reach them."""
    monkeypatch.setattr("tools.parsers.pictures.MOST_PICTURES", MOST_PICTURES)
    monkeypatch.setattr("tools.parsers.pdf_places.MOST_BOXES", MOST_BOXES)
    monkeypatch.setattr("tools.parsers.pdf_places.MOST_CHARACTERS", 500)
    monkeypatch.setattr("tools.parsers.pdf_places.MOST_SEARCHES", 20)
    monkeypatch.setattr("tools.web.named_addresses.MOST_LINKS", MOST_LINKS)
    monkeypatch.setattr("tools.web.named_addresses.MOST_ENTRIES", MOST_ENTRIES)


def check_views(data: bytes, media_type: str) -> None:
    """Check all that is seen of a file beyond its text: it is sound and within the limits, or the file is refused."""
    text = "# Lamps\n\nLamps burn at night.\n"
    blocks = [(0, 7, "heading", None), (9, 29, "paragraph", 0)]
    with watched():
        try:
            reply, blobs = placed_pictures(data, media_type, text, blocks)
        except UnreadableDocument as error:
            assert error.message  # noqa: PT017
        else:
            pictures = pictures_of(reply, blobs)
            assert len(pictures) <= MOST_PICTURES
            assert sum(map(len, blobs)) <= len(data)
            assert all(0 <= each["after"] <= len(text) for each in pictures)
            assert all(each["at"] + each["size"] <= sum(map(len, blobs)) for each in pictures)
        place = find_boxes(data, 0, "The lamps burn at night, each of them", "before")
        assert place is None or len(place.boxes) <= MOST_BOXES
        own, links = addresses_of(data, ADDRESS)
        assert own.startswith("https://docs.example/")
        assert len(links) <= MOST_LINKS
        try:
            assert len(sitemap_entries(data, 100_000)) <= MOST_ENTRIES
        except UnreadableDocument as error:
            assert error.message  # noqa: PT017


@pytest.mark.usefixtures("lowered")
@pytest.mark.parametrize("suffix", SUFFIXES)
@settings(max_examples=FEW)
@given(st.data(), st.integers(0, 60), EDITS)
def test_what_views_show_of_a_file_that_was_changed(
    suffix: str, data: st.DataObject, part: int, edits: list[tuple[float, float, bytes]]
) -> None:
    file = data.draw(st.sampled_from([path for path in FILES if path.suffix == suffix]))
    whole = file.read_bytes()
    packed = whole.startswith(b"PK") and data.draw(st.booleans())
    kind = media_type_of(whole, name=file.name)
    check_views(repacked(whole, part, edits) if packed else mutated(whole, edits), kind)


@pytest.mark.usefixtures("lowered")
@settings(max_examples=50)
@given(st.sampled_from(sorted(formats().parsers)), st.lists(MARKS | NAMING, max_size=40).map(b"".join))
def test_what_views_show_of_anything(media_type: str, data: bytes) -> None:
    check_views(data, media_type)
