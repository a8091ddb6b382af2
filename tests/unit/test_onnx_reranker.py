"""A cross-encoder of a folder as the reranker, with one label or two."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from cli.checks import check_reranker
from graph.errors import ConfigurationError, RerankerUnavailable
from tests.onnx_models import encoder, reranker, write_folder
from tools.backends.backend_registry import configured_families, opened_reranker
from tools.rerankers.onnx_reranker import OnnxReranker
from tools.rerankers.reranker_endpoint import RerankedGrader
from tools.settings import RerankerSettings, Settings

QUERY = "when does the office open"
TEXTS = ["The office opens at noon.", "Rye bread.", "So so."]


def settings(folder: Path) -> RerankerSettings:
    return RerankerSettings(kind="onnx", model=str(folder))


@pytest.mark.parametrize("labels", [1, 2])
async def test_texts_are_scored_beside_the_question(tmp_path: Path, labels: int) -> None:
    folder = write_folder(tmp_path / "tiny", reranker(labels))
    async with opened_reranker(settings(folder)) as opened:
        assert opened is not None
        opens, bread, so = await opened.score(QUERY, TEXTS)
        assert 0 <= bread < so < 1
        assert 0 <= bread < opens < 1
        assert await opened.score(QUERY, []) == []
        assert await opened.score(QUERY, TEXTS * 3) == [opens, bread, so] * 3


@pytest.mark.parametrize("weights", [reranker(3), encoder(), b"none"])
async def test_what_is_no_reranker_is_told_at_the_start(tmp_path: Path, weights: bytes) -> None:
    folder = write_folder(tmp_path / "tiny", weights)
    with pytest.raises(ConfigurationError, match=r"reranker\.model"):
        async with opened_reranker(settings(folder)):
            pass


async def test_it_grades_for_the_families_and_doctor_tries_it(tmp_path: Path) -> None:
    configured = Settings(_env_file=None, reranker=settings(write_folder(tmp_path / "tiny", reranker())))
    async with opened_reranker(configured.reranker) as opened:
        grader = configured_families(configured, reranker=opened)("extractive").grader
        assert isinstance(grader, RerankedGrader)
        assert grader.reranker is opened
    found = await check_reranker(configured)
    assert found.ok, found.detail


async def test_a_question_is_answered_without_scores_in_time(tmp_path: Path) -> None:
    opened = OnnxReranker(str(write_folder(tmp_path / "tiny", reranker())))
    try:
        with pytest.raises(RerankerUnavailable, match="seconds"):
            await opened.score(QUERY, TEXTS, seconds=0.0)  # its process is not started yet
    finally:
        await opened.close()


def test_the_kind_needs_a_folder_and_no_address(tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match=r"reranker\.model is required"):
        RerankerSettings(kind="onnx")
    with pytest.raises(ValidationError, match=r"reranker\.base_url"):
        RerankerSettings(kind="onnx", model=str(tmp_path), base_url="http://127.0.0.1:9")
