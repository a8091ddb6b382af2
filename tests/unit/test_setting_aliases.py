"""The names that other stacks set: what they fill, what overrules them, and that doctor tells which it was."""

import os
from pathlib import Path

import pytest

from cli.checks import check_other_names, check_retired
from cli.command import settings_for
from cli.provenance import provenance, setting_names
from tools.settings import RETIRED, Settings, load_settings

SEED = """
AI_DRIVER=openai-compatible
OPENAI_COMPATIBLE_BASE_URL=https://open.bigmodel.cn/api/paas/v4
OPENAI_COMPATIBLE_API_KEY=hush
OPENAI_COMPATIBLE_COMPLETION_MODEL=glm-4-flash
OPENAI_COMPATIBLE_EMBEDDING_MODEL=embedding-3
SERPER_API_KEY=hush, too
SERPER_DEBUG=false
"""


@pytest.fixture(params=["environment", ".env"])
def seed(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first users' settings, word for word, in the environment or in the file that holds them."""
    monkeypatch.chdir(tmp_path)
    if request.param == ".env":
        (tmp_path / ".env").write_text(SEED, encoding="utf-8")
        return
    for line in SEED.split("\n"):
        name, _, value = line.partition("=")
        if name:
            monkeypatch.setenv(name, value)


def origins(settings: Settings) -> dict[str, tuple[str, str]]:
    return {row.setting: (row.origin, row.name) for row in provenance(settings)}


@pytest.mark.usefixtures("seed")
class TestSeed:
    def test_it_fills_what_it_names(self) -> None:
        settings = load_settings()
        [model] = settings.models
        assert (model.name, model.model, settings.default_model) == ("glm-4-flash",) * 3
        assert model.base_url == settings.embedding.base_url == "https://open.bigmodel.cn/api/paas/v4"
        assert model.api_key == settings.embedding.api_key
        assert model.api_key.get_secret_value() == "hush"
        assert (settings.embedding.model, settings.embedding.dimension) == ("embedding-3", None)
        assert settings.web.api_key.get_secret_value() == "hush, too"

    def test_doctor_tells_the_name_of_each(self) -> None:
        found = origins(load_settings())
        assert found["models"] == found["default_model"] == ("alias", "OPENAI_COMPATIBLE_COMPLETION_MODEL")
        assert found["embedding.model"] == ("alias", "OPENAI_COMPATIBLE_EMBEDDING_MODEL")
        assert found["embedding.base_url"] == ("alias", "OPENAI_COMPATIBLE_BASE_URL")
        assert found["embedding.api_key"] == ("alias", "OPENAI_COMPATIBLE_API_KEY")
        assert found["embedding.dimension"] == ("default", "CITEWELL_EMBEDDING__DIMENSION")
        assert found["web.api_key"] == ("alias", "SERPER_API_KEY")

    def test_doctor_has_a_word_for_what_means_nothing_here(self) -> None:
        [check] = check_other_names()
        assert check.ok
        assert check.facts == {"unused": ["AI_DRIVER", "SERPER_DEBUG"]}

    @pytest.mark.parametrize(
        ("name", "value", "field", "expected"),
        [
            ("CITEWELL_EMBEDDING__DIMENSION", "512", "dimension", 512),
            ("CITEWELL_EMBEDDING", '{"dimension": 512}', "dimension", 512),
        ],
    )
    def test_a_setting_beside_it_changes_only_what_it_names(
        self, monkeypatch: pytest.MonkeyPatch, name: str, value: str, field: str, expected: object
    ) -> None:
        monkeypatch.setenv(name, value)
        settings = load_settings()
        assert getattr(settings.embedding, field) == expected
        assert (settings.embedding.model, settings.embedding.api_key.get_secret_value()) == ("embedding-3", "hush")
        found = origins(settings)
        assert found[f"embedding.{field}"] == ("environment", name)
        assert found["embedding.model"] == ("alias", "OPENAI_COMPATIBLE_EMBEDDING_MODEL")

    def test_another_model_is_asked_of_the_same_endpoint(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("CITEWELL_EMBEDDING__MODEL", "embedding-2")
        settings = load_settings()
        assert (settings.embedding.model, settings.embedding.base_url) == ("embedding-2", settings.models[0].base_url)
        assert origins(settings)["embedding.model"] == ("environment", "CITEWELL_EMBEDDING__MODEL")

    def test_the_key_goes_to_no_other_endpoint(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("CITEWELL_EMBEDDING__BASE_URL", "http://localhost:11434")
        settings = load_settings()
        assert (settings.embedding.model, settings.embedding.base_url) == ("embedding-3", "http://localhost:11434/v1")
        assert settings.embedding.api_key.get_secret_value() == ""

    def test_the_bundled_model_needs_none_of_it(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("CITEWELL_EMBEDDING__MODEL", "static")
        settings = load_settings()
        assert (settings.embedding.base_url, settings.embedding.api_key.get_secret_value()) == (None, "")
        assert origins(settings)["embedding.base_url"][0] == "default"

    def test_models_of_our_own_come_first(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("CITEWELL_MODELS", '[{"name": "own", "base_url": "http://own.test", "model": "m"}]')
        settings = load_settings()
        assert ([model.name for model in settings.models], settings.default_model) == (["own"], "extractive")
        assert origins(settings)["models"] == ("environment", "CITEWELL_MODELS")


def test_without_an_address_the_others_count_for_nothing_and_doctor_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    os.environ["OPENAI_COMPATIBLE_EMBEDDING_MODEL"] = "embedding-3"
    assert load_settings().embedding.model == "static"
    [check] = check_other_names()
    assert "OPENAI_COMPATIBLE_BASE_URL" in check.detail
    del os.environ["OPENAI_COMPATIBLE_EMBEDDING_MODEL"]
    assert check_other_names() == []


def test_a_mistyped_name_is_told_with_the_nearest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("CITEWELL_PORT", "CITEWELL_MODELS__0__NAME", "CITEWELL_SPENDING__USER__RUNS", "CITEWELL_AUTH"):
        monkeypatch.setenv(name, "1")
    for name in ("CITEWELL_SESSION_DAYS__NATIVE", "CITEWELL_MOVE_TO", "CITEWELL_BENCH_ROWS"):
        monkeypatch.setenv(name, "1")
    assert check_other_names() == []
    monkeypatch.setenv("CITEWELL_PROT", "8401")
    (tmp_path / ".env").write_text("CITEWELL_AUTH__MOED=keys\n")
    [check] = check_other_names()
    assert check.facts == {"unused": ["CITEWELL_AUTH__MOED", "CITEWELL_PROT"]}
    assert "CITEWELL_PORT is one" in check.detail
    assert "CITEWELL_AUTH__MODE is one" in check.detail


def test_what_was_a_setting_once_changes_nothing_and_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CITEWELL_WEB", '{"fetch_pages": false, "keep_days": 3}')
    monkeypatch.setenv("CITEWELL_RUNS__LEASE_SECONDS", "no number")
    (tmp_path / ".env").write_text("CITEWELL_PAGE_TOKENS=9\nCITEWELL_RUNS__MAX_ACTIVE=3\n")
    settings = settings_for()
    assert (settings.web.fetch_pages, settings.runs.max_active) == (False, 3)
    names = ["CITEWELL_PAGE_TOKENS", "CITEWELL_WEB__KEEP_DAYS", "CITEWELL_RUNS__LEASE_SECONDS"]
    [check] = check_retired(settings)
    assert (check.ok, check.facts) == (True, {"retired": names})
    assert check_other_names() == []
    [record] = [record for record in caplog.records if record.levelname == "WARNING"]
    assert all(name in record.getMessage() for name in names)


def test_no_setting_is_retired_and_nothing_is_told_where_none_is_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert set(RETIRED) & set(setting_names()) == set()
    assert check_retired(load_settings()) == []


def test_settings_made_in_code_read_no_name_of_another_stack(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERPER_API_KEY", "hush")
    assert Settings(_env_file=None).web.api_key.get_secret_value() == ""
