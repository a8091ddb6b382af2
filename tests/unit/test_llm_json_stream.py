"""JSON read while it arrives gives what json.loads gives, wherever it was cut."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import from_json

from tools.llm.json_stream import Closed, JsonReader, Literal, Part, StringDelta, StringEnd

WHOLE = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | WHOLE,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WHOLE, inner, max_size=4),
    max_leaves=12,
)


def cuts(text: str, data: st.DataObject) -> list[str]:
    points = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=12), label="cuts"))
    return [text[a:b] for a, b in zip([0, *points], [*points, len(text)], strict=True)]


def read(pieces: list[str]) -> tuple[list[Part], JsonReader]:
    reader = JsonReader()
    parts = [part for piece in pieces for part in reader.feed(piece)]
    return parts + reader.end(), reader


def rebuilt(parts: list[Part]) -> Any:
    """Build the value again from its parts; objects are told from arrays by their keys."""
    values: dict[tuple[str | int, ...], Any] = {}
    for part in parts:
        if isinstance(part, StringEnd):
            values[part.path] = part.text
        elif isinstance(part, Literal):
            values[part.path] = json.loads(part.text)
        elif isinstance(part, Closed):
            inner = {path[-1]: values.pop(path) for path in list(values) if path[:-1] == part.path and path}
            values[part.path] = list(inner.values()) if all(isinstance(k, int) for k in inner) else inner
    return values[()]


def without_empty_kinds(value: Any) -> Any:
    """An empty object and an empty array give the same parts."""
    if isinstance(value, dict):
        return {key: without_empty_kinds(inner) for key, inner in value.items()} or []
    if isinstance(value, list):
        return [without_empty_kinds(inner) for inner in value]
    return value


@given(VALUES, st.booleans(), st.sampled_from([None, 1]), st.data())
def test_any_value_cut_anywhere_is_read_as_json_loads_reads_it(value, escaped, indent, data):
    text = json.dumps(value, ensure_ascii=escaped, indent=indent)
    parts, reader = read(cuts(text, data))
    assert reader.complete
    assert not reader.broken
    assert rebuilt(parts) == without_empty_kinds(json.loads(text))


@given(VALUES, st.data())
def test_deltas_of_a_string_join_to_it_and_never_hold_half_a_character(value, data):
    parts, _ = read(cuts(json.dumps(value), data))
    joined: dict[Any, str] = {}
    for part in parts:
        if isinstance(part, StringDelta):
            part.delta.encode()  # fails on half a surrogate pair
            joined[part.path] = joined.get(part.path, "") + part.delta
        elif isinstance(part, StringEnd):
            assert joined.get(part.path, "") == part.text


@given(st.text(max_size=60), st.data())
def test_any_text_is_read_or_found_broken_whatever_the_cuts(text, data):
    whole, reader = read([text])
    pieces, again = read(cuts(text, data))
    assert (reader.complete, reader.broken) == (again.complete, again.broken)
    assert [p for p in whole if not isinstance(p, StringDelta)] == [p for p in pieces if not isinstance(p, StringDelta)]


def test_a_string_comes_out_before_it_is_closed():
    reader = JsonReader()
    parts = reader.feed('{"sections":[{"text":"Half a sec')
    assert parts == [StringDelta(("sections", 0, "text"), "Half a sec")]


SLIPS = [
    (r'["\ud83d!"]', "\N{REPLACEMENT CHARACTER}!"),
    (r'["\ude00"]', "\N{REPLACEMENT CHARACTER}"),
    (r'["\ud83d\u0041"]', "\N{REPLACEMENT CHARACTER}A"),
    (r'["a \d"]', r"a \d"),
    (r'["\upsilon x"]', r"\upsilon x"),
    ('["two\nlines"]', "two\nlines"),
    ('["he said "hi" to us"]', 'he said "hi" to us'),
    ('["last",]', "last"),
]


@pytest.mark.parametrize(("written", "meant"), [*SLIPS, (r'["\ud83d\ude00"]', "😀")])
def test_slips_are_read_as_they_were_meant(written, meant):
    for pieces in ([written], list(written)):
        parts, reader = read(pieces)
        assert reader.complete
        assert [part.text for part in parts if isinstance(part, StringEnd)] == [meant]


@pytest.mark.parametrize(("written", "meant"), SLIPS)
def test_the_library_reads_no_slip_as_it_was_meant(written, meant):
    """Why this reader is ours: if this fails, try ``from_json`` again."""
    try:
        found = from_json(written, allow_partial="trailing-strings")
    except ValueError:
        return
    assert found != [meant]


def test_the_library_ends_a_text_at_a_quotation_mark_within_it_and_reports_no_fault():
    assert from_json('["he said "hi" to us"]', allow_partial="trailing-strings") == ["he said "]


@pytest.mark.parametrize("text", ["", "   ", "{", '{"a"}', '{"a":}', "[1 2]", '"open', "[" * 40])
def test_what_is_no_json_is_broken(text):
    _, reader = read([text])
    assert reader.broken
    assert not reader.complete
