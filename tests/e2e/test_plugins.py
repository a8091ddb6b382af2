"""A dialect, a parser and a backend of other distributions, installed beside Citewell and used as its users do."""

import json
import os
from pathlib import Path

import httpx
import pytest

from cli.command import Exit
from tests.distributions import install, install_documented, site
from tests.e2e.conftest import Home, Writer
from tests.e2e.test_keys import serving

__all__ = ["site"]

PAGES = ("dialects.md", "ingestion.md", "models.md")
LYRICS = """[ti:The bell]
[00:01.00]The bell of the harbour chapel was cast in 1871.
[00:05.00][00:25.00]It weighs nine tons.
"""


def beside(home: Home, folder: Path) -> dict[str, str]:
    """Return the environment of a process beside which the distributions of a folder are installed."""
    return {"PYTHONPATH": os.pathsep.join(filter(None, [str(folder), home.environment.get("PYTHONPATH", "")]))}


def test_third_parties_add_a_format_a_backend_and_a_dialect(home: Home, write: Writer, tmp_path: Path) -> None:
    for page in PAGES:
        install_documented(tmp_path, page)
    installed = beside(home, tmp_path)
    path = write("songs/harbour.lrc", LYRICS)
    assert home.process("ingest", str(path), "-w", "harbour", **installed).code == Exit.OK
    question = {"question": "When was the bell of the harbour chapel cast?"}
    with (
        serving(home, CITEWELL_WORKSPACE="harbour", **installed) as port,
        httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=60) as client,
    ):
        told = client.get("/lines", params={**question, "model": "passage/best"})
        assert told.headers["content-type"].startswith("text/event-stream")
        event, data = told.text.strip().splitlines()
        answer = json.loads(data.removeprefix("data: "))
        assert event == "event: run_finished"
        assert answer["answer"] == "The bell of the harbour chapel was cast in 1871.\n\nIt weighs nine tons."
        assert {citation["quote"] for claim in answer["claims"] for citation in claim["citations"]}
        quoted = client.get("/lines", params=question).text
        assert '"answer":"The bell of the harbour chapel was cast in 1871.' in quoted, "by the default model"
        assert client.get("/lines", params={**question, "model": "passages"}).json()["code"] == "unknown_model"
        assert client.get("/lines").status_code == 422
        assert "/lines" in client.get("/openapi.json").json()["paths"]
    assert home.citewell("ask", "-w", "harbour", "--json", question["question"]).code == Exit.OK, "without them, too"


def test_doctor_lists_what_third_parties_add(home: Home, site: Path) -> None:
    for page in PAGES:
        install_documented(site, page)
    looked = home.citewell("doctor").out
    for listed in ("lines of citewell-lines 1.0", "lyrics of citewell-lyrics 1.0", "passage of citewell-passage"):
        assert listed in looked


@pytest.mark.parametrize("group", ["dialects", "parsers", "backends"])
def test_serve_names_the_plugin_that_stops_it(home: Home, site: Path, group: str) -> None:
    install(site, "acme-plugin", {}, f"[citewell.{group}]\nacme = acme_is_gone:ADDED\n")
    done = home.citewell("serve", "--port", "0", "--json")
    error = done.json["error"]
    assert (done.code, error["code"]) == (Exit.CONFIGURATION, "configuration")
    assert f"acme = acme_is_gone:ADDED in citewell.{group}, of acme-plugin 1.0" in error["message"]
    assert "uninstall acme-plugin" in error["suggestion"]
    looked = home.citewell("doctor", "--json")
    assert looked.code == Exit.CONFIGURATION
    [check] = [check for check in looked.json["checks"] if not check["ok"]]
    assert check["name"] == f"citewell.{group}"
