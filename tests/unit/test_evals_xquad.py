"""XQuAD's figures, counted by hand on a small file through the real graph and a real database."""

import json
from pathlib import Path

import pytest

from evals.datasets.xquad import load_xquad
from evals.xquad import run_xquad
from graph.entrypoint import open_citewell
from graph.errors import InvalidRequest
from tools.settings import Settings

BRIDGE = "The town lies on a river. The Cedar Bridge was finished in 1911. It carries two lanes."
BAKERY = "The bakery in Mill Lane opens at six. It sells rye bread on Fridays. The oven is old."


def asked(question: str, answer: str, context: str) -> dict[str, object]:
    return {"question": question, "answers": [{"text": answer, "answer_start": context.index(answer)}]}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    paragraphs = [
        {
            "context": BRIDGE,
            "qas": [
                asked("When was the Cedar Bridge finished?", "1911", BRIDGE),
                asked("When was the Cedar Bridge finished?", "a river", BRIDGE),
            ],
        },
        {
            "context": BAKERY,
            "qas": [
                asked("When does the bakery in Mill Lane open?", "six", BAKERY),
                asked("Who won the men's singles at Wimbledon?", "old", BAKERY),
            ],
        },
    ]
    file = tmp_path / "en.json"
    file.write_text(json.dumps({"data": [{"title": "Town", "paragraphs": paragraphs}]}))
    return file


async def test_every_figure_is_counted(path: Path, settings: Settings) -> None:
    told: list[tuple[int, int]] = []
    async with open_citewell(settings) as citewell:
        report = await run_xquad(citewell, path, progress=lambda done, of: told.append((done, of)))
        left = [workspace.name for workspace in await citewell.library.workspaces.list()]
    assert report["questions"] == 4
    assert (report["recall_at_1"], report["recall_at_5"]) == (0.75, 0.75)
    assert report["quote_hit_top1"] == 0.5
    assert 0.5 <= report["quote_hit_all"] <= 0.75
    assert (report["abstained"], report["invalid_citations"]) == (1, 0)
    assert 1 <= report["quotes_mean"] <= 3
    assert 0 < report["p50_ms"] <= report["p95_ms"]
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert left == ["default"]


async def test_the_workspace_goes_where_the_measurement_fails(path: Path, settings: Settings) -> None:
    def stumble(done: int, of: int) -> None:
        raise InvalidRequest("stopped")

    async with open_citewell(settings) as citewell:
        with pytest.raises(InvalidRequest, match="stopped"):
            await run_xquad(citewell, path, progress=stumble)
        assert [workspace.name for workspace in await citewell.library.workspaces.list()] == ["default"]


@pytest.mark.parametrize("content", ["", "[]", '{"data": [{}]}', '{"data": 3}'])
def test_a_file_of_another_shape_is_refused(tmp_path: Path, content: str) -> None:
    file = tmp_path / "other.json"
    file.write_text(content)
    with pytest.raises(InvalidRequest, match="no XQuAD file"):
        load_xquad(file)


def test_a_file_that_is_missing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match="cannot be read"):
        load_xquad(tmp_path / "gone.json")
