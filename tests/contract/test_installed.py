"""The parser and the backend that the manual shows, installed, pass the kits of ours."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from graph.errors import UnreadableDocument
from graph.ports import Family
from tests.contract.family_kit import FamilyContract
from tests.contract.parser_kit import check_parsed
from tests.contract.test_parsers import TEXTS
from tests.distributions import install_documented, site
from tools.backends.backend_registry import configured_families
from tools.parsers import parse
from tools.settings import Settings

__all__ = ["site"]

TIME = "[00:01.00]"


@pytest.fixture
def lyrics(site: Path) -> Path:
    install_documented(site, "ingestion.md")
    return site


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=st.lists(TEXTS, max_size=5))
@example(lines=["A\x00\nb", "\ud83e"])
@example(lines=[""])
def test_any_lyrics(lyrics: Path, lines: list[str]) -> None:
    file = "\n".join(TIME + line for line in lines)
    try:
        parsed = parse(file.encode("utf-8", "surrogatepass"), name="x.lrc")
    except UnreadableDocument as error:
        assert error.message  # noqa: PT017
    else:
        assert parsed.media_type == "text/x-lrc"
        check_parsed(parsed)


class TestInstalledBackend(FamilyContract):
    repairs = False

    @pytest.fixture
    def family(self, site: Path) -> Family:
        install_documented(site, "models.md")
        family = configured_families(Settings(_env_file=None))("passage/best")
        assert family.model == "passage/best"
        return family
