"""The claim checkers against the kit of their port: code alone, and a model that settles what code leaves open."""

import pytest
from hypothesis import HealthCheck, given, settings

from graph.ports import ClaimChecker, WrittenSection
from graph.usage import Meter
from tests.contract.checker_kit import LAMP, SHOP, TEXTS, ClaimCheckerContract, checked_well
from tests.scripted_openai import ScriptedOpenAI, scripted_openai
from tools.claims.code_checker import CodeChecker
from tools.extractive.extractive_family import ExtractiveWriter
from tools.llm.llm_family import llm_family
from tools.settings import ModelSettings

__all__ = ["scripted_openai"]


class TestCodeChecker(ClaimCheckerContract):
    @pytest.fixture
    def checker(self) -> ClaimChecker:
        return CodeChecker()

    @settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(texts=TEXTS)
    async def test_any_text_is_checked_well(self, checker: ClaimChecker, texts: list[str]) -> None:
        sections = [WrittenSection(text, (LAMP, SHOP)) for text in texts]
        checked_well(await checker.check(sections, meter=Meter()), sections)


class TestLlmSettler(ClaimCheckerContract):
    @pytest.fixture
    def checker(self, scripted_openai: ScriptedOpenAI) -> ClaimChecker:
        model = ModelSettings(name="scripted", base_url=scripted_openai.base_url, model="plain", timeout_seconds=15)
        settler = llm_family(model, thinking=False, checker=CodeChecker(), fallback=ExtractiveWriter()).settler
        assert settler is not None
        return settler
