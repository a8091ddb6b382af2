"""Every grader against the kit: by score, by model, by a reranker of each kind, and the extractive reader."""

from collections.abc import AsyncIterator

import pytest

from graph.ports import RelevanceGrader
from tests.contract.grader_kit import GraderContract, PageKeepingContract
from tests.reranking import Kind, reranker_server
from tests.scripted_openai import ScriptedOpenAI, scripted_openai
from tests.unit.llm_family import scripted_family
from tools.extractive.extractive_family import ExtractiveGrader
from tools.llm.answer_writing import LlmRoom
from tools.rerankers.reranker_endpoint import RerankedGrader, Reranker
from tools.rules.score_grading import ScoreGrader

__all__ = ["scripted_openai"]

ROOM = LlmRoom(8192, 2048)


class TestGradingByScore(PageKeepingContract):
    @pytest.fixture
    def grader(self) -> RelevanceGrader:
        return ScoreGrader(ROOM)


class TestGradingByModel(PageKeepingContract):
    @pytest.fixture
    def grader(self, scripted_openai: ScriptedOpenAI) -> RelevanceGrader:
        return scripted_family(scripted_openai).at("thorough").grader


@pytest.mark.parametrize("kind", ["tei", "cohere", "jina"])
class TestGradingByReranker(PageKeepingContract):
    @pytest.fixture
    async def grader(self, kind: Kind) -> AsyncIterator[RelevanceGrader]:
        async with reranker_server(kind) as (_, settings):
            yield RerankedGrader(ScoreGrader(ROOM), Reranker(settings), min_score=0.1)


class TestReaderBehindReranker(GraderContract):
    @pytest.fixture
    async def grader(self) -> AsyncIterator[RelevanceGrader]:
        async with reranker_server() as (_, settings):
            yield RerankedGrader(ExtractiveGrader(), Reranker(settings), min_score=0.1, rescored=False)


class TestReader(GraderContract):
    @pytest.fixture
    def grader(self) -> RelevanceGrader:
        return ExtractiveGrader()
