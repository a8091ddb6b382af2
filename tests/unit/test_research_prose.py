"""The rates of verdicts on a model's own sentences, counted by hand on a set of four."""

import asyncio
import json
from pathlib import Path

import pytest

from graph.errors import InvalidRequest
from research.prose_measurement import load_prose, run_prose
from tools.claims.code_checker import CodeChecker

SOURCE = "The mill of Torburg was rebuilt in 1990. It grinds 40 tons of rye a year."
ROWS = [
    ("The mill of Torburg was rebuilt in 1990.", True, "near_verbatim"),
    ("Rebuilding of the mill in Torburg took place in 1990.", True, "paraphrase"),
    ("The mill of Torburg was rebuilt in 1890.", False, "number_off"),
    ("It grinds 40 tons of oats a year.", False, "entity"),
]


def written(folder: Path) -> Path:
    rows = [
        {"evidence": [SOURCE], "claim": claim, "lang": "en", "kind": kind, "supported": supported, "title": "Mills"}
        for claim, supported, kind in ROWS
    ]
    path = folder / "claims.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8")
    return path


def test_true_and_false_claims_are_counted_apart(tmp_path: Path) -> None:
    report = asyncio.run(run_prose(CodeChecker(), written(tmp_path)))
    assert report["all"] == {
        "true": 2,
        "true_supported": 0.5,
        "true_failed": 0.0,
        "false": 2,
        "false_supported": 0.0,
        "false_caught": 0.5,
    }
    assert report["languages"].keys() == {"en"}
    assert report["kinds"]["number_off"]["false_caught"] == 1.0
    assert report["kinds"]["number_off"]["true_failed"] is None


def test_the_title_is_evidence_too(tmp_path: Path) -> None:
    (first, *_) = load_prose(written(tmp_path))
    assert [(segment.title, segment.text) for segment in first.segments] == [("Mills", SOURCE)]


@pytest.mark.parametrize("text", ["", "{}", "no json"])
def test_a_file_without_claims_is_told(tmp_path: Path, text: str) -> None:
    path = tmp_path / "claims.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidRequest):
        load_prose(path)
