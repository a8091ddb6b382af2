"""Chunks of a completion are the same however its bytes are cut, and whichever way its lines end."""

import json
from collections.abc import AsyncIterator
from itertools import pairwise
from typing import Any

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.llm import completion_stream
from tools.llm.completion_stream import CompletionStream

CHUNKS = [{"n": 1}, {"text": "é \u2028 [DONE]"}, {"n": 3}]
ENDS = ("\n", "\r\n", "\r")


class Pieces(httpx2.AsyncByteStream):
    def __init__(self, pieces: list[bytes]) -> None:
        self._pieces = pieces

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            yield piece


async def read(pieces: list[bytes], media_type: str = "text/event-stream") -> tuple[list[Any], bool]:
    response = httpx2.Response(200, headers={"Content-Type": media_type}, stream=Pieces(pieces))
    stream = CompletionStream()
    return [chunk async for chunks in stream.read(response) for chunk in chunks], stream.done


def written(end: str, *, done: bool = True) -> bytes:
    """Return the chunks as events: with a comment, other fields, and one chunk on two lines."""
    lines = [": hello", ""]
    for chunk in CHUNKS[:-1]:
        lines += ["event: message", f"data: {json.dumps(chunk, ensure_ascii=False)}", "id: 7", ""]
    lines += ['data:{"n":', "data: 3}", ""]
    return end.join([*lines, *(["data: [DONE]", ""] if done else []), ""]).encode()


@given(end=st.sampled_from(ENDS), cuts=st.lists(st.integers(0, 200), max_size=6), done=st.booleans())
async def test_any_cuts_and_line_ends_give_the_same_chunks(end: str, cuts: list[int], done: bool) -> None:
    body = written(end, done=done)
    places = sorted({0, *(cut for cut in cuts if cut < len(body)), len(body)})
    pieces = [body[start:stop] for start, stop in pairwise(places)]
    assert await read(pieces) == (CHUNKS, done)


async def test_a_sign_of_the_end_needs_no_line_end_and_nothing_behind_it_is_read() -> None:
    assert await read([b'data: {"n": 1}\n\ndata: [DO', b"NE]"]) == ([{"n": 1}], True)
    assert await read([b"data: [DONE]\n\n", b"data: {oops\n\n"]) == ([], True)


async def test_a_chunk_that_breaks_off_is_no_chunk() -> None:
    assert await read([b'data: {"n": 1}\n\ndata: {"n": 2']) == ([{"n": 1}], False)


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ('{"choices": [{"message": {"content": "Yes."}}]}', [{"choices": [{"message": {"content": "Yes."}}]}]),
        ('data: {"n": 1}\n\n', [{"n": 1}]),  # an event stream under another name
        ("Not found.", []),
        ('{"error": "no such model"}', []),
    ],
)
async def test_what_comes_as_one_document_is_one_chunk_if_it_is_a_completion(body: str, found: list[Any]) -> None:
    chunks, _ = await read([body.encode()], "application/json; charset=utf-8")
    assert [{"choices": [{"message": each["message"]} for each in one["choices"]]} if "choices" in one else one
            for one in chunks] == found  # fmt: skip


async def test_what_has_no_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(completion_stream, "MOST_BYTES", 100)
    with pytest.raises(ValueError, match="too long"):
        await read([b"data: " + b"x" * 60] * 2)
    assert await read([b"{" + b"x" * 60] * 2, "application/json") == ([], False)
