"""RGB's figures on a small file through the real graph and a real database."""

import json
from pathlib import Path
from typing import Any

import pytest

from evals.sets.rgb import load_rgb
from graph.entrypoint import open_citewell
from graph.errors import InvalidRequest
from research.rgb_measurement import run_rgb
from tools.settings import Settings

TRUE = ["The Cedar Bridge was finished in 1911.", "Workers completed the Cedar Bridge in 1911, after two floods."]
WRONG = ["The Cedar Bridge was finished in 1874.", "Workers completed the Cedar Bridge in 1874, after two floods."]
ROW = {
    "query": "When was the Cedar Bridge finished?",
    "positive": TRUE,
    "positive_wrong": WRONG,
    "negative": ["The bakery in Mill Lane opens at six."],
}


def written(folder: Path, *rows: dict[str, Any]) -> Path:
    path = folder / "en_fact.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


async def test_every_pair_is_asked_and_counted(tmp_path: Path, settings: Settings) -> None:
    told: list[tuple[int, int]] = []
    single = {**ROW, "positive": TRUE[:1], "positive_wrong": WRONG[:1]}
    path = written(tmp_path, ROW, single)
    async with open_citewell(settings) as citewell:
        report = await run_rgb(citewell, path, progress=lambda done, of: told.append((done, of)))
        left = [workspace.name for workspace in await citewell.library.workspaces.list()]
    assert (report["questions"], report["undisputed"]) == (2, 2)
    assert report["other_words"] is not None
    assert report["other_words"]["questions"] == 1
    assert 0.0 <= report["said"] <= report["noticed"] <= 1.0
    assert report["false_alarms"] == 0.0
    assert report["abstained"] == 0
    assert max(report["cites_true"], report["cites_false"]) == 1.0
    assert told[-1] == (5, 5)
    assert left == ["default"]


async def test_a_file_where_nothing_disagrees_is_refused(tmp_path: Path, settings: Settings) -> None:
    path = written(tmp_path, {**ROW, "positive_wrong": TRUE})
    async with open_citewell(settings) as citewell:
        with pytest.raises(InvalidRequest, match="no false passage"):
            await run_rgb(citewell, path)


def test_a_false_version_that_says_the_same_is_left_out(tmp_path: Path) -> None:
    (question,) = load_rgb(written(tmp_path, {**ROW, "positive_wrong": [TRUE[0].upper() + " ", WRONG[1]]}))
    assert question.wrong == ((1, WRONG[1]),)


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({**ROW, "query": 3}, "line 1: the field 'query' must be text"),
        ({**ROW, "negative": None}, "line 1: the field 'negative' must be a list of texts"),
        ({**ROW, "positive_wrong": WRONG[:1]}, "line 1: the field 'positive_wrong' must match"),
    ],
)
def test_a_bad_row_is_refused_by_line_and_field(tmp_path: Path, row: dict[str, Any], told: str) -> None:
    with pytest.raises(InvalidRequest, match=told):
        load_rgb(written(tmp_path, row))


@pytest.mark.parametrize(
    ("content", "told"), [("", "holds no question"), ("{", "line 1: not JSON"), ("[]", "line 1: not a JSON object")]
)
def test_a_file_of_another_shape_is_refused(tmp_path: Path, content: str, told: str) -> None:
    path = tmp_path / "other.jsonl"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InvalidRequest, match=told):
        load_rgb(path)


def test_a_file_that_is_missing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match="cannot be read"):
        load_rgb(tmp_path / "gone.jsonl")
