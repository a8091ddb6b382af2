"""The benchmark reads every wire format as its clients do."""

import re

import pytest

from api.dialects.citation_marks import JOINER
from bench.sse_client import Arrival
from bench.wire_formats import WIRE_FORMATS, WireFormat
from tests.api.reading import parse_frames
from tests.wire.adapters import ADAPTERS
from tests.wire.test_golden import GOLDEN

MARK = re.compile(r"\[\[\d+\]\]\([^()\s]*\)|\[(?:\^|ref:)?\d+\]")


def test_the_benchmark_knows_all_formats() -> None:
    assert {wire.name for wire in WIRE_FORMATS} == set(ADAPTERS)


@pytest.mark.parametrize("wire", WIRE_FORMATS, ids=lambda wire: wire.name)
def test_the_last_text_is_the_answer(wire: WireFormat) -> None:
    stream = (GOLDEN / f"{wire.name}_answered.sse").read_bytes().replace(b'"seq":SEQ', b'"seq":0')
    frames = parse_frames(stream.decode())
    texts = wire.texts([Arrival(at, frame["data"].encode()) for at, frame in enumerate(frames)])
    shown = MARK.sub("", texts[-1][1]).replace(JOINER, "")
    answer = ADAPTERS[wire.name]().heard(stream).answer
    assert re.sub(r"\n\n", "", shown) == re.sub(r"\n\n", "", answer)
    assert [at for at, _ in texts] == sorted({at for at, _ in texts})
