"""The claim checker against the kit of its port."""

import pytest
from hypothesis import HealthCheck, given, settings

from graph.ports import ClaimChecker, WrittenSection
from tests.contract.checker_kit import LAMP, SHOP, TEXTS, ClaimCheckerContract, checked_well
from tools.claims.code_checker import CodeChecker


class TestCodeChecker(ClaimCheckerContract):
    @pytest.fixture
    def checker(self) -> ClaimChecker:
        return CodeChecker()

    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(text=TEXTS)
    async def test_any_text_is_checked_well(self, checker: ClaimChecker, text: str) -> None:
        section = WrittenSection(text, (LAMP, SHOP))
        checked_well(await checker.check(section), section)
