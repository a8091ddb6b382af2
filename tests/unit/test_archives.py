"""Archives are unpacked within limits, and their XML without entities."""

import io
import tracemalloc
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.errors import UnreadableDocument
from tools.parsers.archives import Allowance, Limits, media_type_inside, open_archive, xml_of

SMALL = Limits(unpacked=10_000, entries=5, ratio=50, ratio_from=1_000)


def packed(parts: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return file.getvalue()


def test_entries_are_read_by_name_and_folders_are_none() -> None:
    archive = open_archive(packed({"a/": b"", "a/b.txt": b"lamp", "c": b""}))
    assert list(archive) == ["a/b.txt", "c"]
    assert archive.read("a/b.txt") == b"lamp"
    assert archive.size("a/b.txt") == 4
    assert "a/" not in archive
    assert len(archive) == 2


@pytest.mark.parametrize(
    ("parts", "why"),
    [
        ({"a": b"x" * 20_000}, "more than 0 MB"),
        ({str(number): b"" for number in range(6)}, "more than 5 entries"),
        ({str(number): b"" for number in range(100)}, "more than 5 entries"),
        ({"a": b"x" * 9_000}, "more than 50 times"),
    ],
)
def test_a_bomb_is_refused_before_it_is_unpacked(parts: dict[str, bytes], why: str) -> None:
    with pytest.raises(UnreadableDocument, match=why):
        open_archive(packed(parts), Allowance(SMALL))


def test_archives_within_share_the_allowance() -> None:
    inner = packed({"b": bytes(range(256)) * 16})
    parts = {str(number): inner for number in range(4)}
    outer = open_archive(packed(parts, zipfile.ZIP_STORED), Allowance(Limits(unpacked=10_000)))
    for name in ("0", "1"):
        assert open_archive(outer.read(name), outer.allowance).read("b")
    with pytest.raises(UnreadableDocument, match="not unpacked"):
        open_archive(outer.read("2"), outer.allowance).read("b")


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_methods_without_a_bound_on_memory_are_refused(method: int) -> None:
    archive = open_archive(packed({"a": b"lamp"}, method))
    with pytest.raises(UnreadableDocument, match="not supported"):
        archive.read("a")


def test_a_size_that_lies_gives_no_more_than_it_says() -> None:
    data = packed({"a": b"x" * 1_000_000})
    lying = data.replace((1_000_000).to_bytes(4, "little"), (10).to_bytes(4, "little"))
    with pytest.raises(UnreadableDocument, match="broken"):
        open_archive(lying).read("a")


@pytest.mark.parametrize("said", [0, 100])
def test_a_size_that_lies_takes_no_more_memory_than_it_says(said: int) -> None:
    data = packed({"mimetype": bytes(60_000_000)})
    lying = data.replace((60_000_000).to_bytes(4, "little"), said.to_bytes(4, "little"))
    tracemalloc.start()
    try:
        assert media_type_inside(lying) is None
        with pytest.raises(UnreadableDocument, match="broken"):
            open_archive(lying).read("mimetype")
        assert tracemalloc.get_traced_memory()[1] < 6_000_000
    finally:
        tracemalloc.stop()


def test_an_encrypted_entry_needs_a_password() -> None:
    data = bytearray(packed({"a": b"lamp"}))
    data[6] |= 1
    data[data.rindex(b"PK\x01\x02") + 8] |= 1
    archive = open_archive(bytes(data))
    with pytest.raises(UnreadableDocument, match="password"):
        archive.read("a")


LAUGHS = b'<!DOCTYPE a [<!ENTITY b "ha"><!ENTITY c "&b;&b;&b;&b;">]><a d="&c;">&c;</a>'


@pytest.mark.parametrize(
    "data",
    [
        LAUGHS,
        LAUGHS.decode().encode("utf-16"),
        b'<!DOCTYPE a SYSTEM "file:///etc/hostname"><a/>',
        b'<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/hostname">]><a>&b;</a>',
        b"<!DOCTYPE a><a/>",
    ],
)
def test_xml_with_a_document_type_is_refused(data: bytes) -> None:
    with pytest.raises(UnreadableDocument, match="document type"):
        xml_of(data)


@pytest.mark.parametrize("data", [b"", b"<a>", b"<a>" * 5_000, b"\x00", b'<?xml version="1.0" encoding="x-none"?><a/>'])
def test_broken_xml_is_refused(data: bytes) -> None:
    with pytest.raises(UnreadableDocument, match="broken"):
        xml_of(data)


GOOD = packed({"a.xml": b"<a>lamp</a>", "b/c": bytes(range(200))})


@given(st.integers(0, len(GOOD) - 1), st.binary(max_size=3), st.integers(0, 8))
def test_any_damage_is_read_or_refused(at: int, put: bytes, gone: int) -> None:
    try:
        archive = open_archive(GOOD[:at] + put + GOOD[at + gone :])
        for name in archive:
            archive.read(name)
    except UnreadableDocument as error:
        assert error.message  # noqa: PT017
