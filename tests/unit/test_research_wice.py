"""WiCE's pages and folds, of a small file of invented claims."""

import json
from pathlib import Path

import pytest

from graph.errors import InvalidRequest
from research.sets.wice import WiCEClaim, load_wice, page_of

BRIDGE = [
    "# Bridges",
    "The Cedar Bridge was finished in 1911.",
    "It carries two lanes.",
    "The bakery opens at six.",
    "Write to us @ the town hall.",
]


def row(label: str, claim: str, sets: list[list[int]], article: str = "Town") -> dict[str, object]:
    return {
        "label": label,
        "supporting_sentences": sets,
        "claim": claim,
        "evidence": BRIDGE,
        "meta": {"claim_title": article},
    }


def written(tmp_path: Path, *rows: dict[str, object]) -> Path:
    file = tmp_path / "claims.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))
    return file


ROWS = (
    row("supported", "The Cedar Bridge was finished in 1911.", [[1], [0, 1]]),
    row("partially_supported", "The Cedar Bridge was finished in 1911 by Hugo Brandt of Graz.", [[1, 2]], "Bridge"),
    row("not_supported", "Otters sleep at anchor off Lisbon.", [[]], "Otter"),
)


def test_a_page_keeps_its_lines_through_segments() -> None:
    lines = tuple(f"Line {number} says {'word ' * 60}." for number in range(9))
    page = page_of(WiCEClaim("Town", "x", "supported", lines, ()))
    assert len(page.segments) > 1
    seen: list[int] = []
    for index, segment in enumerate(page.segments):
        for number in page.lines(index, 0, len(segment.text)):
            start = segment.text.index(lines[number])
            assert page.lines(index, start, start + len(lines[number])) == {number}
            seen.append(number)
    assert sorted(seen) == list(range(9))


def test_a_claim_has_its_article_label_and_lines(tmp_path: Path) -> None:
    claims = load_wice(written(tmp_path, *ROWS))
    assert [claim.article for claim in claims] == ["Town", "Bridge", "Otter"]
    assert [claim.label for claim in claims] == ["supported", "partially_supported", "not_supported"]


@pytest.mark.parametrize("content", ["", "[]", '{"label": "true"}', '{"label": "supported"}', "3", "{"])
def test_a_file_of_another_shape_is_refused(tmp_path: Path, content: str) -> None:
    file = tmp_path / "other.jsonl"
    file.write_text(content)
    with pytest.raises(InvalidRequest, match="not a WiCE file"):
        load_wice(file)


def test_a_file_that_is_missing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match="cannot be read"):
        load_wice(tmp_path / "gone.jsonl")
