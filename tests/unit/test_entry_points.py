"""What an installed distribution that is broken or takes a name does: nothing starts, and the error says what to do."""

from pathlib import Path

import pytest
from fastapi import FastAPI

from api.app import create_app, mount_routes
from api.dialects.openai_api import models_of, resolve_model
from cli.checks import check_plugins
from cli.command import Exit
from graph.errors import CitewellError, ConfigurationError, UnknownModel
from tests.distributions import documented_module, install, install_documented, site
from tools.backends.backend_registry import configured_families
from tools.parsers import formats, parse
from tools.settings import ModelSettings, Settings

__all__ = ["site"]

PLAIN = Settings(_env_file=None)
ROUTER = "from fastapi import APIRouter\nfrom api.dialects.registry import Dialect\nrouter = APIRouter()\n"
PARSER = "from tools.parsers import Parser\n"
BACKEND = "from tools.backends.backend_registry import Backend\n"
JUDGE = "from tools.judges.judge_registry import JudgeKind\n"


def refused(group: str) -> ConfigurationError:
    """Load a group as a process that starts does, and return the error that stops it."""
    with pytest.raises(ConfigurationError) as stopped:
        {
            "citewell.dialects": lambda: mount_routes(FastAPI()),
            "citewell.parsers": formats,
            "citewell.backends": lambda: configured_families(PLAIN),
            "citewell.judges": lambda: configured_families(PLAIN),
        }[group]()
    return stopped.value


def test_the_dialect_of_the_manual_has_at_most_30_lines() -> None:
    assert len(documented_module("dialects.md").splitlines()) <= 30


@pytest.mark.parametrize(
    ("group", "module", "code", "problem", "fix"),
    [
        (
            "citewell.dialects", "no_such_import", "import nowhere_to_be_found\n",
            "ModuleNotFoundError: No module named 'nowhere_to_be_found'.", "install what it lacks",
        ),
        ("citewell.parsers", "syntax_error", "def read(:\n", "SyntaxError:", "Repair acme-plugin"),
        ("citewell.parsers", "no_such_name", "", "has no attribute 'ADDED'", "Repair acme-plugin"),
        (
            "citewell.backends", "wrong_kind", "def ADDED() -> None: ...\n",
            "is a function, not a Backend.", "tools.backends.backend_registry.Backend.",
        ),
        (
            "citewell.dialects", "no_router", ROUTER + "ADDED = Dialect('acme', object, None)\n",
            "TypeError: a Dialect", "Repair acme-plugin",
        ),
        (
            "citewell.parsers", "no_dot", PARSER + "ADDED = Parser(('text/x-rst',), ('rst',), print)\n",
            "such as '.rst'", "Repair acme-plugin",
        ),
        (
            "citewell.parsers", "no_media_type", PARSER + "ADDED = Parser((), ('.rst',), print)\n",
            "Parser needs media types", "Repair acme-plugin",
        ),
        (
            "citewell.judges", "judge_without_name", JUDGE + "ADDED = JudgeKind(' ', print)\n",
            "TypeError: a JudgeKind", "Repair acme-plugin",
        ),
        (
            "citewell.judges", "taken_judge", JUDGE + "ADDED = JudgeKind('chat', print)\n",
            "claims the kind of judge 'chat', which Citewell itself has.", "Choose another kind of judge.",
        ),
        (
            "citewell.backends", "every_name", BACKEND + "ADDED = Backend('/', print)\n",
            "a Backend needs", "Repair acme-plugin",
        ),
        (
            "citewell.dialects", "taken_dialect", ROUTER + "ADDED = Dialect('docmost', object, router)\n",
            "claims the dialect 'docmost', which Citewell itself has.", "Choose another dialect.",
        ),
        (
            "citewell.dialects", "taken_route",
            ROUTER + "router.get('/api/runs/{any_id}')(print)\nADDED = Dialect('acme', object, router)\n",
            "claims the route 'GET /api/runs/{}', which Citewell itself has.", "Choose another route.",
        ),
        (
            "citewell.parsers", "taken_suffix", PARSER + "ADDED = Parser(('text/x-acme',), ('.pdf',), print)\n",
            "claims the suffix '.pdf', which Citewell itself has.", "Choose another suffix.",
        ),
        (
            "citewell.parsers", "taken_type", PARSER + "ADDED = Parser(('text/html',), (), print)\n",
            "claims the media type 'text/html', which Citewell itself has.", "Choose another media type.",
        ),
        (
            "citewell.backends", "taken_model", BACKEND + "ADDED = Backend('extractive', print)\n",
            "claims the model 'extractive', which Citewell itself has.", "Choose another model.",
        ),
    ],
    ids=lambda value: value if str(value).isidentifier() else "",
)  # fmt: skip
def test_a_broken_or_clashing_plugin_is_named_with_the_fix(
    site: Path, group: str, module: str, code: str, problem: str, fix: str
) -> None:
    install(site, "acme-plugin", {module: code}, f"[{group}]\nacme = {module}:ADDED\n")
    error = refused(group)
    assert error.message.startswith(f"The entry point acme = {module}:ADDED in {group}, of acme-plugin 1.0, ")
    assert problem in error.message
    assert fix in error.advice
    assert error.advice.endswith(" Or uninstall acme-plugin.")


def test_two_plugins_of_one_name_are_told_of_each_other(site: Path) -> None:
    code = BACKEND + "ADDED = Backend('acme', print)\n"
    install(site, "acme-one", {"acme_one": code}, "[citewell.backends]\nacme = acme_one:ADDED\n")
    install(site, "acme-two", {"acme_two": code}, "[citewell.backends]\nacme = acme_two:ADDED\n")
    error = refused("citewell.backends")
    assert "of acme-two 1.0, claims the model 'acme', which acme of acme-one 1.0 has." in error.message


def test_an_app_does_not_start_beside_a_broken_dialect(site: Path) -> None:
    install(site, "acme-plugin", {}, "[citewell.dialects]\nacme = nowhere_at_all:ADDED\n")
    with pytest.raises(ConfigurationError, match="No module named 'nowhere_at_all'"):
        create_app(PLAIN)


def test_an_app_does_not_start_where_a_setting_names_no_dialect_that_is_there(site: Path) -> None:
    install_documented(site, "dialects.md")
    create_app(PLAIN.model_copy(update={"session_days": {"docmost": "never", "lines": 3}}))
    with pytest.raises(ConfigurationError, match=r"\Wdocmots\W.* native, docmost,.*lines"):
        create_app(PLAIN.model_copy(update={"session_days": {"lines": 3, "docmots": 7}}))


def test_an_installed_dialect_is_described_behind_ours(site: Path) -> None:
    before = list(create_app(PLAIN).openapi()["paths"])
    install_documented(site, "dialects.md")
    assert list(create_app(PLAIN).openapi()["paths"]) == [*before, "/lines"]


def test_a_model_of_the_settings_and_an_installed_backend_do_not_share_a_name(site: Path) -> None:
    code = BACKEND + "ADDED = Backend('acme', print)\n"
    install(site, "acme-plugin", {"acme_shared": code}, "[citewell.backends]\nacme = acme_shared:ADDED\n")
    settings = PLAIN.model_copy(update={"models": [ModelSettings(name="acme", base_url="http://localhost", model="m")]})
    with pytest.raises(ConfigurationError, match="claims the model 'acme', which CITEWELL_MODELS has"):
        configured_families(settings)


def test_the_default_model_is_one_that_is_there(site: Path) -> None:
    settings = PLAIN.model_copy(update={"default_model": "passage/best"})
    with pytest.raises(ConfigurationError, match=r"default_model: .*'passage/best'"):
        configured_families(settings)


def test_a_backend_is_asked_by_its_name_or_the_longest_beginning(site: Path) -> None:
    family = "lambda model, *, thinking=False: ({!r}, model, thinking)"
    for number, model in enumerate(["acme/", "acme/large/", "acme/large/9"]):
        code = f"{BACKEND}ADDED = Backend({model!r}, {family.format(model)})\n"
        module = f"acme_family_{number}"
        install(site, f"acme-{number}", {module: code}, f"[citewell.backends]\nacme = {module}:ADDED\n")
    families = configured_families(PLAIN.model_copy(update={"default_model": "acme/small"}))
    assert families("") == ("acme/", "acme/small", False)
    assert families("acme/large/1", thinking=True) == ("acme/large/", "acme/large/1", True)
    assert families("acme/large/9") == ("acme/large/9", "acme/large/9", False)
    with pytest.raises(UnknownModel, match="there are: extractive, acme/…, acme/large/…, acme/large/9"):
        families("acme")


def test_openai_clients_see_and_name_installed_backends(site: Path) -> None:
    code = f"{BACKEND}ADDED, MANY = Backend('acme', print), Backend('many/', print)\n"
    points = "[citewell.backends]\nacme = acme_models:ADDED\nmany = acme_models:MANY\n"
    install(site, "acme-plugin", {"acme_models": code}, points)
    assert [model.id for model in models_of(PLAIN)] == ["extractive", "acme"]
    assert resolve_model(PLAIN, "acme") == "acme"
    assert resolve_model(PLAIN, "many/of-them") == "many/of-them"
    with pytest.raises(CitewellError, match="model 'any'"):
        resolve_model(PLAIN, "any")


def test_an_installed_parser_reads_by_suffix_and_by_media_type(site: Path) -> None:
    lines = b"[00:01.00]The lamp turns.\n[00:03.00]It hums.\n"
    assert parse(lines, name="song.lrc").text == lines.decode(), "nothing reads it yet but as plain text"
    install_documented(site, "ingestion.md")
    formats.cache_clear()
    parsed = parse(lines, name="song.LRC")
    assert (parsed.text, parsed.media_type) == ("The lamp turns.\n\nIt hums.", "text/x-lrc")
    assert parse(lines, name="", media_type="text/x-lrc; charset=utf-8") == parsed


def test_doctor_lists_what_is_installed_and_what_is_broken(site: Path) -> None:
    assert check_plugins(PLAIN) == []
    install_documented(site, "dialects.md")
    install(site, "acme-plugin", {}, "[citewell.parsers]\nacme = nowhere_at_all:ADDED\n")
    formats.cache_clear()
    dialects, parsers = check_plugins(PLAIN)
    assert (dialects.name, dialects.ok, dialects.detail) == ("citewell.dialects", True, "lines of citewell-lines 1.0")
    assert dialects.facts == {"plugins": [{"name": "lines", "distribution": "citewell-lines", "version": "1.0"}]}
    assert (parsers.name, parsers.ok, parsers.exit_code) == ("citewell.parsers", False, Exit.CONFIGURATION)
    assert "of acme-plugin 1.0, can't be loaded" in parsers.detail
    assert parsers.facts["plugins"] == [{"name": "acme", "distribution": "acme-plugin", "version": "1.0"}]
