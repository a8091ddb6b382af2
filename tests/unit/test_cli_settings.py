"""The manual's tables of settings, exit codes and commands are the code's; doctor tells where settings come from."""

import os
import re
from pathlib import Path

import pytest
import typer

from cli.command import Exit
from cli.main import app
from cli.provenance import environment_name, provenance, setting_names
from graph.errors import ConfigurationError
from tools.settings import ALIASES, MilvusSettings, ModelSettings, Settings, load_settings

ROOT = Path(__file__).resolve().parents[2]
CONFIGURATION = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
COMMAND_LINE = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
NAMES = {environment_name(setting) for setting in setting_names()}


def default_of(setting: str) -> str:
    outer, _, inner = setting.partition(".")
    if setting == "data_dir":
        return "the user's own"  # another folder for each user and system
    value = Settings.model_fields[outer].default
    value = type(value).model_fields[inner].default if inner else value
    if value is None:
        return "none"
    text = value.get_secret_value() if hasattr(value, "get_secret_value") else str(value)
    return f"`{text}`" if text else "empty"


def test_there_are_no_more_settings_than_somebody_would_set() -> None:
    """What nobody would set is a constant beside its use; the manual says of each setting when one changes it."""
    assert len(NAMES) <= 94


@pytest.mark.parametrize("setting", setting_names())
def test_the_manual_gives_each_setting_with_its_default(setting: str) -> None:
    row = rf"^\| `{environment_name(setting)}` \| {re.escape(default_of(setting))} \| (?:\\\||[^|])+ \| [^|]+ \|$"
    assert re.search(row, CONFIGURATION, re.MULTILINE), "its default, what it does, and when one changes it"


def test_the_manual_names_no_setting_that_is_not_there() -> None:
    table = CONFIGURATION.split("## Models")[0]
    assert set(re.findall(r"^\| `(CITEWELL_\w+)`", table, re.MULTILINE)) == NAMES


@pytest.mark.parametrize("name", ModelSettings.model_fields)
def test_the_manual_gives_each_field_of_a_model(name: str) -> None:
    assert f"\n| `{name}` |" in CONFIGURATION


@pytest.mark.parametrize("alias", ALIASES)
def test_the_manual_gives_each_alias(alias: str) -> None:
    assert f"\n| `{alias}` |" in CONFIGURATION


def test_the_example_file_names_settings_that_are_there_and_leaves_none_out() -> None:
    text = (ROOT / ".env.example").read_text(encoding="utf-8")
    named = set(re.findall(r"^# ((?:CITEWELL|OPENAI|SERPER)_\w+)=", text, re.MULTILINE))
    assert named == NAMES | set(ALIASES)


def test_the_example_file_read_as_it_would_be_sets_what_is_valid(tmp_path: Path) -> None:
    text = (ROOT / ".env.example").read_text(encoding="utf-8")
    copy = tmp_path / ".env"
    copy.write_text(re.sub(r"^# (CITEWELL_\w+=)", r"\1", text, flags=re.MULTILINE), encoding="utf-8")
    settings = load_settings(_env_file=copy)
    assert [model.name for model in settings.models] == ["local"]
    assert settings.default_model == "local"


@pytest.mark.parametrize("size", ["300", "9 tokens", "300 letters"])
def test_a_size_of_segments_that_is_none_is_told_how_to_write_it(size: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CITEWELL_SEGMENT_SIZE", size)
    with pytest.raises(ConfigurationError, match=r"10 to 9999 .*: 300 tokens"):
        load_settings()


@pytest.mark.parametrize(
    ("name", "value", "days"),
    [
        ("CITEWELL_SESSION_DAYS", "7", 7),
        ("CITEWELL_SESSION_DAYS", "never", "never"),
        ("CITEWELL_SESSION_DAYS", '{"docmost": "never", "*": 30}', {"docmost": "never", "*": 30}),
        ("CITEWELL_SESSION_DAYS__DOCMOST", "365", {"docmost": 365}),
    ],
)
def test_the_days_of_sessions_are_those_of_all_or_of_single_wire_formats(
    name: str, value: str, days: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    assert load_settings(_env_file=None).session_days == days


@pytest.mark.parametrize(
    ("url", "parts"),
    [
        ("http://milvus:19530", ("http://milvus:19530", "", "")),
        ("https://ann:pass%40word@milvus:19530/tenant", ("https://milvus:19530", "ann:pass@word", "tenant")),
        ("https://token@milvus", ("https://milvus", "token", "")),
        ("/srv/milvus.db", ("/srv/milvus.db", "", "")),
    ],
)
def test_the_address_of_milvus_says_how_it_is_asked(url: str, parts: tuple[str, str, str]) -> None:
    milvus = MilvusSettings.model_validate({"url": url})
    assert (milvus.address, milvus.token, milvus.database) == parts


@pytest.mark.parametrize("exit_code", Exit)
def test_the_manual_explains_each_exit_code(exit_code: Exit) -> None:
    assert f"\n| {exit_code.value} | " in COMMAND_LINE


def test_the_manual_explains_each_command() -> None:
    command = typer.main.get_command(app)
    assert isinstance(command, typer.core.TyperGroup)
    for name in command.commands:
        assert re.search(rf"^## citewell {name}$", COMMAND_LINE, re.MULTILINE), name


def test_doctor_tells_where_each_value_comes_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_text("CITEWELL_PORT=9000\nCITEWELL_USER=ann\n", encoding="utf-8")
    os.environ["CITEWELL_USER"] = "bob"
    os.environ["citewell_embedding__api_key"] = "hush"  # noqa: SIM112 - case does not matter
    os.environ["OPENAI_COMPATIBLE_BASE_URL"] = "http://localhost:1/v1"
    os.environ["OPENAI_COMPATIBLE_COMPLETION_MODEL"] = "small"
    os.environ["SERPER_API_KEY"] = "hush, too"
    os.environ["CITEWELL_WEB__FETCH_PAGES"] = "true"
    found = {row.setting: row for row in provenance(load_settings())}
    assert (found["port"].value, found["port"].origin, found["port"].name) == ("9000", ".env", "CITEWELL_PORT")
    assert (found["user"].value, found["user"].origin) == ("bob", "environment")
    assert (found["embedding.api_key"].value, found["embedding.api_key"].origin) == ("********", "environment")
    assert (found["default_model"].value, found["default_model"].origin) == ("small", "alias")
    assert found["models"].name == "OPENAI_COMPATIBLE_COMPLETION_MODEL"
    assert (found["host"].origin, found["host"].name) == ("default", "CITEWELL_HOST")
    assert (found["web.api_key"].value, found["web.api_key"].name) == ("********", "SERPER_API_KEY")
    assert (found["web.fetch_pages"].value, found["jobs.workers"].value) == ("True", "2")
    assert "hush" not in str(found)


@pytest.mark.parametrize(
    ("said", "sizes"),
    [
        (None, {"*": "300 tokens", "id_citations": "paragraph"}),
        ("500 tokens", {"*": "500 tokens", "id_citations": "paragraph"}),
        ("paragraph", {"*": "paragraph", "id_citations": "paragraph"}),
        ('{"id_citations": "200 words"}', {"*": "300 tokens", "id_citations": "200 words"}),
        ('{"docmost": "500 tokens"}', {"*": "300 tokens", "id_citations": "paragraph", "docmost": "500 tokens"}),
    ],
)
def test_segments_have_a_size_by_dialect(
    monkeypatch: pytest.MonkeyPatch, said: str | None, sizes: dict[str, str]
) -> None:
    if said is not None:
        monkeypatch.setenv("CITEWELL_SEGMENT_SIZE", said)
    assert load_settings().segment_sizes == sizes
