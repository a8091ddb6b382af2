"""Files of two dozen real programs, each read as it should be: title, headings, tables, segments, exact offsets.

``corpus.json`` says of each file what its own program shows of it, and was read through by eye. Where a file is not yet
read as its program shows it, ``amiss`` says in what.
"""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.contract.hanging_blocks import hanging
from tools.parsers import Parsed, parse
from tools.retrieval.segmenting import SegmentSize, segment

FIXTURES = Path(__file__).parents[1] / "fixtures"
EXPECTED: dict[str, dict[str, Any]] = json.loads((FIXTURES / "corpus.json").read_text(encoding="utf-8"))
REFUSED = {"locked.docx", "locked.odt", "locked.xlsx", "old.doc", "old.xls", "scanned.pdf", "bundle.zip"}
ABOUT = {"make_office.py", "make_packed.py", "make_published.py", "packed.expected"}
MOST_BYTES = 40_000


def read(name: str) -> Parsed:
    return parse((FIXTURES / name).read_bytes(), name=name)


def words_of(texts: list[str]) -> list[int]:
    return [len(text.split()) for text in texts]


@pytest.mark.parametrize("name", EXPECTED)
def test_a_file_holds_what_is_expected_of_it(name: str) -> None:
    parsed, expected = read(name), EXPECTED[name]
    blocks = hanging(parsed)
    assert parsed.title == expected["title"]
    assert list(parsed.left_out) == expected["left_out"]
    assert sorted({block.page_idx for block in parsed.blocks if block.page_idx is not None}) == expected["pages"]
    assert Counter(block.kind for block in parsed.blocks) == expected["kinds"]
    assert [block.heading for block in parsed.blocks if block.kind == "heading"] == expected["headings"]
    assert [[words, above] for kind, words, above in blocks if kind == "table_row"] == expected["rows"]


@pytest.mark.parametrize("name", EXPECTED)
def test_as_many_segments_are_made_as_a_text_of_its_size_needs(name: str) -> None:
    expected = EXPECTED[name]["segments"]
    made = len(segment(read(name), SegmentSize(20, "words"), words_of))
    assert 0.75 * expected <= made <= 1.25 * expected + 1


@given(st.sampled_from(sorted(EXPECTED)), st.integers(1, 120), st.sampled_from(["words", "tokens"]))
def test_segments_join_to_the_text_at_any_size(name: str, limit: int, unit: Any) -> None:
    parsed = read(name)
    spans = segment(parsed, SegmentSize(limit, unit), words_of)
    assert "".join(parsed.text[span.start : span.end] for span in spans) == parsed.text
    assert [span.segment_index for span in spans] == list(range(len(spans)))
    assert {span.page_idx for span in spans} == {block.page_idx for block in parsed.blocks}
    for span in spans:
        inside = [block for block in parsed.blocks if block.start < span.end and span.start < block.end]
        assert [(block.start, block.end) for block in span.blocks] == [
            (max(block.start, span.start), min(block.end, span.end)) for block in inside
        ]


def test_no_file_is_without_an_expectation() -> None:
    files = [path for folder in ("documents", "published") for path in (FIXTURES / folder).iterdir() if path.is_file()]
    told = {f"{path.parent.name}/{path.name}" for path in files if path.name not in REFUSED | ABOUT}
    assert told == set(EXPECTED)
    assert len(told) >= 60
    assert all(path.stat().st_size < MOST_BYTES for path in files)
