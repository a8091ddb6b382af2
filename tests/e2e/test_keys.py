"""Keys as an operator hands them out: made and revoked on the command line while the service runs."""

import json
import os
import select
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest
import typer

from cli.command import Exit
from cli.serve import serve
from tests.e2e.conftest import BIN, Home

PATIENCE = 60.0


@contextmanager
def serving(home: Home, *arguments: str, **environment: str) -> Iterator[str]:
    """Serve on a free port in a process of its own; gives the port."""
    server = subprocess.Popen(
        [str(BIN / "citewell"), "serve", "--port", "0", "--json", *arguments],
        cwd=home.folder,
        env={**home.environment, **environment, "CITEWELL_LOG_LEVEL": "warning"},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stdout is not None
        told = ""
        while not told.rstrip().endswith("}"):
            assert select.select([server.stdout], [], [], PATIENCE)[0], "the server says nothing"
            told += os.read(server.stdout.fileno(), 4096).decode()
        yield str(json.loads(told)["port"])
    finally:
        server.send_signal(signal.SIGTERM)
        server.communicate(timeout=PATIENCE)
    assert server.returncode == Exit.OK


def test_a_key_opens_the_service_until_it_is_revoked(home: Home) -> None:
    made = home.citewell("keys", "create", "-u", "ann", "--label", "laptop")
    key = made.out.strip()
    assert key.startswith("cw_")
    assert key not in made.err
    second = home.citewell("keys", "create", "-u", "bob", "--json").json
    assert list(second)[:5] == ["key", "key_id", "workspace", "user", "label"]
    assert second["scopes"] == ["ask", "read", "write"]
    with serving(home, "--host", "0.0.0.0", CITEWELL_AUTH__MODE="keys") as port:
        headers = {"authorization": f"Bearer {key}"}
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=60) as client:
            assert client.get("/api/sessions").status_code == 401
            assert client.get("/api/sessions", headers=headers).status_code == 200
            listed = home.citewell("keys", "list", "-w", "default", "--json")
            (ann, bob) = listed.json["keys"]
            assert (ann["user"], ann["label"], bob["key_id"]) == ("ann", "laptop", second["key_id"])
            assert ann["last_used_at"]
            assert bob["last_used_at"] is None
            assert key not in listed.out
            assert second["key"] not in listed.out
            assert home.citewell("keys", "revoke", ann["key_id"]).code == Exit.OK
            assert client.get("/api/sessions", headers=headers).status_code == 401
            assert client.get("/api/sessions", headers={"x-api-key": second["key"]}).status_code == 200
    audited = home.citewell("audit", "--json").json["entries"]
    assert [(each["user"], each["outcome"]) for each in audited if each["user"]] == [("bob", "done"), ("ann", "done")]
    assert home.citewell("audit", "--outcome", "refused", "--json").json["entries"][0]["times"] >= 1


def test_a_key_of_a_page_may_only_ask_is_limited_and_has_a_user_of_its_own(home: Home) -> None:
    page = home.citewell(
        "keys", "create", "--origin", "https://docs.example.com/", "--space", "handbook", "--json"
    ).json
    assert page["user"].startswith("key-")
    assert (page["scopes"], page["spaces"], page["is_public"]) == (["ask"], ["handbook"], True)
    assert page["origins"] == ["https://docs.example.com"]
    assert (page["a_minute"], page["a_minute_by_address"], page["runs_a_day"]) == (600, 60, 2000)
    told = home.citewell("keys", "create", "--scope", "ask,read", "--runs-a-day", "5", "-u", "ann").err
    assert "ask and read, at most 5 questions" in " ".join(told.split())
    for wrong in (
        ["--scope", "ask,fly"],
        ["--origin", "https://docs.example.com", "--scope", "write"],
        ["--origin", "x"],
    ):
        refused = home.citewell("keys", "create", *wrong, "--json")
        assert (refused.code, refused.json["error"]["code"]) == (Exit.USAGE, "invalid_request"), wrong


def test_keys_for_nobody_and_keys_that_are_not_there_are_refused(home: Home) -> None:
    missing = home.citewell("keys", "create", "-w", "no-such-workspace", "--json")
    assert (missing.code, missing.json["error"]["code"]) == (Exit.NOT_FOUND, "not_found")
    assert home.citewell("keys", "revoke", "0123456789abcdef", "--json").code == Exit.NOT_FOUND


def test_without_keys_the_service_does_not_listen_to_other_machines(
    home: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(home.folder)
    with pytest.raises(typer.Exit) as refused:
        serve("0.0.0.0", 0, as_json=True)
    assert refused.value.exit_code == Exit.CONFIGURATION
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "configuration"
