"""Jobs as an operator sees them: a server that only takes files in, killed; a worker apart; the command line."""

import json
import os
import select
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpx

from cli.command import Exit
from tests.e2e.conftest import BIN, Home
from tests.e2e.test_keys import PATIENCE

LOOK_SECONDS = 0.2


@contextmanager
def started(home: Home, *arguments: str, **environment: str) -> Iterator[tuple[subprocess.Popen[str], dict[str, int]]]:
    """Start a command that says on its first lines that it works; gives what it says."""
    process = subprocess.Popen(
        [str(BIN / "citewell"), *arguments, "--json"],
        cwd=home.folder,
        env={**home.environment, **environment, "CITEWELL_LOG_LEVEL": "warning"},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        told = ""
        while not told.rstrip().endswith("}"):
            assert select.select([process.stdout], [], [], PATIENCE)[0], "it says nothing"
            told += os.read(process.stdout.fileno(), 4096).decode()
        yield process, json.loads(told)
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE)


def test_a_killed_server_has_lost_nothing_that_it_took_in(home: Home) -> None:
    workspace = {"CITEWELL_WORKSPACE": "jobs", "CITEWELL_JOBS__WORKERS": "0"}
    with started(home, "serve", "--port", "0", **workspace) as (server, told):
        url = f"http://127.0.0.1:{told['port']}"
        with httpx.Client(base_url=url, trust_env=False, timeout=PATIENCE) as client:
            files = [("file", (f"{name}.md", f"# Lamp {name}\n\nIt shines.")) for name in "ab"]
            accepted = client.post("/api/jobs", files=[*files, ("file", ("c.pdf", b"%PDF-broken"))])
            assert accepted.status_code == 202, accepted.text
            job_id = accepted.json()["job_id"]
            waiting = client.post("/api/documents", json={"text": "A lamp."}, headers={"Prefer": "wait=0"})
            assert waiting.status_code == 202
        server.kill()
    listed = home.citewell("jobs", "list", "-w", "jobs", "--json").json["jobs"]
    assert [(job["state"], job["files"]) for job in listed] == [("queued", 1), ("queued", 3)]
    assert home.citewell("jobs", "cancel", waiting.json()["job_id"], "-w", "jobs").out.startswith("cancelled")
    with started(home, "worker", **workspace) as (worker, said):
        assert said == {"processes": 2}
        shown = home.citewell("jobs", "show", job_id, "-w", "jobs", "--json").json
        while shown["job"]["state"] != "finished":
            time.sleep(LOOK_SECONDS)  # the command is a question without an event, and would take the worker's CPU
            shown = home.citewell("jobs", "show", job_id, "-w", "jobs", "--json").json
    assert worker.returncode == Exit.TERMINATED
    assert (shown["job"]["counts"]["stored"], shown["refused"][0]["name"]) == (2, "c.pdf")
    assert "c.pdf" in home.citewell("jobs", "show", job_id, "-w", "jobs").err
    assert home.citewell("jobs", "retry", job_id, "-w", "jobs").out.startswith("queued")
    assert len(home.citewell("documents", "list", "-w", "jobs", "--json").json["documents"]) == 2
