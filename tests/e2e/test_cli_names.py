"""Names that a person has mistyped are refused before anything is done, and the nearest one is told."""

import pytest

from cli.command import Exit
from tests.e2e.conftest import Home, Writer


@pytest.fixture(scope="module", autouse=True)
def library(home: Home) -> None:
    (home.folder / "named").mkdir()
    (home.folder / "named" / "tides.md").write_text("High tide at the mole is at noon.\n", encoding="utf-8")
    assert home.citewell("ingest", "named", "-w", "harbour", "--space", "handbook").code == Exit.OK


@pytest.mark.parametrize(
    ("arguments", "nearest"),
    [
        (["ask", "When is high tide?", "-w", "harbor"], "harbour"),
        (["search", "tide", "-w", "harbuor"], "harbour"),
        (["documents", "list", "-w", "Harbour"], "harbour"),
        (["spending", "-w", "habour"], "harbour"),
        (["workspaces", "delete", "harbur", "--yes"], "harbour"),
        (["workspaces", "tables", "harbur", "own"], "harbour"),
        (["ask", "When is high tide?", "-w", "harbour", "--space", "handbok"], "handbook"),
        (["search", "tide", "-w", "harbour", "--space", "hand-book"], "handbook"),
        (["documents", "list", "-w", "harbour", "--space", "Handbook"], "handbook"),
        (["verify", "-w", "harbour", "--space", "handbokk"], "handbook"),
    ],
)
def test_a_mistyped_workspace_or_space_is_told_the_nearest(home: Home, arguments: list[str], nearest: str) -> None:
    done = home.citewell(*arguments, "--json", piped="High tide is at noon.")
    error = done.json["error"]
    assert (done.code, error["code"]) == (Exit.NOT_FOUND, "not_found")
    assert f"{nearest!r}?" in error["suggestion"]


def test_a_name_that_is_like_none_is_not_taken_for_another(home: Home) -> None:
    for option in ("-w", "--space"):
        done = home.citewell("search", "tide", option, "xyzzy", "--json")
        assert done.code == Exit.NOT_FOUND
        assert "?" not in done.json["error"]["suggestion"]


def test_nobody_is_told_the_space_of_what_they_may_not_read(home: Home, write: Writer) -> None:
    write("owned/rates.md", "The mole costs 40 euros.")
    assert home.citewell("ingest", "owned", "-w", "harbour", "--owner", "ann", "--space", "ledgers").code == Exit.OK
    told = [
        home.citewell("search", "mole", "-w", "harbour", "--space", "ledger", "-u", u, "--json") for u in ("ann", "bo")
    ]
    assert [done.code for done in told] == [Exit.NOT_FOUND, Exit.NOT_FOUND]
    assert ["ledgers" in done.json["error"]["suggestion"] for done in told] == [True, False]


@pytest.mark.parametrize(("typed", "nearest"), [("inget", "ingest"), ("documnets", "documents")])
def test_a_mistyped_command_is_told_the_nearest(home: Home, typed: str, nearest: str) -> None:
    done = home.citewell(typed)
    assert done.code == Exit.USAGE
    assert nearest in done.err
    within = home.citewell("workspaces", "lst", "--json")
    assert (within.code, within.json["error"]["code"]) == (Exit.USAGE, "usage")
    assert "'list'" in within.json["error"]["message"]


def test_the_demo_refuses_an_unknown_model_before_anything_is_started(home: Home) -> None:
    nowhere = {"CITEWELL_DATABASE_URL": "postgresql://[::1]:9/x"}
    done = home.citewell("demo", "--model", "extractiv", "--json", **nowhere)
    assert (done.code, done.json["error"]["code"]) == (Exit.USAGE, "unknown_model")


def test_a_model_that_another_would_stand_in_for_is_refused_by_the_demo(home: Home) -> None:
    models = '[{"name": "local", "base_url": "http://127.0.0.1:1", "model": "any"}]'
    done = home.citewell("demo", "--model", "lokal", "--json", CITEWELL_MODELS=models)
    assert (done.code, done.json["error"]["code"]) == (Exit.USAGE, "unknown_model")
    assert "'local'?" in done.json["error"]["suggestion"]


def test_one_of_a_thing_is_no_plural(home: Home, write: Writer) -> None:
    write("single/tides.md", "High tide is at noon.")
    home.citewell("ingest", "single", "-w", "single")
    told = home.citewell("workspaces", "delete", "single", "--yes").out
    assert "1 document and 0 sessions" in told
    assert "1 claim:" in home.citewell("verify", "--source", "single/tides.md", piped="High tide is at noon.").err
