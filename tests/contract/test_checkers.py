"""The claim checker against the kit of its port."""

import pytest
from hypothesis import HealthCheck, given, settings

from graph.ports import ClaimChecker, WrittenSection
from graph.usage import Meter
from tests.contract.checker_kit import LAMP, SHOP, TEXTS, ClaimCheckerContract, checked_well
from tools.claims.code_checker import CodeChecker


class TestCodeChecker(ClaimCheckerContract):
    @pytest.fixture
    def checker(self) -> ClaimChecker:
        return CodeChecker()

    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(texts=TEXTS)
    async def test_any_text_is_checked_well(self, checker: ClaimChecker, texts: list[str]) -> None:
        sections = [WrittenSection(text, (LAMP, SHOP)) for text in texts]
        checked_well(await checker.check(sections, meter=Meter()), sections)
