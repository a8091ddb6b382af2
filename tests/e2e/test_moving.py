"""A workspace that an operator moves to another database on the command line, while another one is served."""

import httpx
import psycopg
import pytest

from cli.command import Exit
from tests.e2e.conftest import FAST, Home, Writer
from tests.e2e.test_keys import serving
from tools.storage.embedded import start_embedded


@pytest.fixture(scope="module")
def elsewhere(home: Home) -> str:
    """The address of another database, which is migrated."""
    server = start_embedded(home.folder / ".citewell", FAST)
    with psycopg.connect(server.url(), autocommit=True) as conn:
        conn.execute("CREATE DATABASE elsewhere")
    url = server.url("elsewhere")
    server.release()
    assert home.citewell("migrate", CITEWELL_DATABASE_URL=url).code == Exit.OK
    return url


def test_a_move_is_planned_and_waits_for_a_yes(home: Home, write: Writer, elsewhere: str) -> None:
    assert home.citewell("workspaces", "create", "horns").code == Exit.OK
    write("horns/a.md", "# Horn\n\nThe fog horn sounds twice a minute.\n")
    assert home.citewell("ingest", "horns", "-w", "horns").code == Exit.OK
    move = ("workspaces", "move", "horns", "--to", elsewhere)
    planned = home.citewell(*move, "--dry-run", "--json").json
    assert planned["rows"]["documents"] == 1
    assert "link_secret" in planned["stays"]
    refused = home.citewell(*move)
    assert (refused.code, "no terminal" in refused.err) == (Exit.USAGE, True), refused


def test_a_workspace_is_moved_asked_and_deleted_where_it_was(home: Home, write: Writer, elsewhere: str) -> None:
    assert home.citewell("workspaces", "create", "lamps").code == Exit.OK
    write("lamps/a.md", "# Lamp\n\nThe keeper of the lighthouse oils the gears of the lamp on Tuesdays.\n")
    assert home.citewell("ingest", "lamps", "-w", "lamps").code == Exit.OK
    key = home.citewell("keys", "create", "-u", "ann", "-w", "lamps").out.strip()
    headers = {"authorization": f"Bearer {key}"}
    question = "Who oils the gears of the lamp?"
    before = home.citewell("search", question, "-w", "lamps", "--json").json
    move = ("workspaces", "move", "lamps", "--to", elsewhere)
    with (
        serving(home, "--host", "0.0.0.0", CITEWELL_AUTH__MODE="keys") as port,
        httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=60) as client,
    ):
        assert client.get("/api/documents", headers=headers).status_code == 200
        done = home.citewell(*move, "--yes")
        assert done.code == Exit.OK, done.err
        assert "Pass 1: copied" in done.err
        refused = client.post("/api/sessions", json={}, headers=headers)
        assert (refused.status_code, refused.json()["code"]) == (421, "workspace_moved")
    assert home.citewell("search", question, "-w", "lamps").code == Exit.NOT_FOUND
    there = {"CITEWELL_DATABASE_URL": elsewhere}
    assert "moved to" in home.citewell("workspaces", "list").out
    assert home.citewell(*move, "--yes", "--json").json["error"]["code"] == "workspace_moved"
    assert home.citewell("workspaces", "delete", "lamps", "--yes").code == Exit.OK
    assert home.citewell("search", question, "-w", "lamps", "--json", **there).json == before
