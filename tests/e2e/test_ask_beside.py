"""`citewell ask` beside a server on the same library: the same output, codes and sessions, and no second answer."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cli.command import Exit
from tests.e2e.conftest import BIN, Done, Home
from tests.scripted_openai import Hold, Reply, Say, ScriptedOpenAI

# Where the tests run as a shell's background job, SIGINT is ignored, and processes started from here inherit that.
HEARING_SIGINT = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])
"""
BY_ITSELF = {"CITEWELL_REFUSE_BELOW": "0.4"}  # the default, and yet a setting that the server was not started with
QUESTION = "When does the night ferry leave?"
NOWHERE = "Who painted the ceiling of the chapel?"


@pytest.fixture(scope="module")
def model() -> Iterator[ScriptedOpenAI]:
    with ScriptedOpenAI() as server:
        yield server


@pytest.fixture(scope="module")
def ferry(home: Home, model: ScriptedOpenAI) -> Home:
    """The working folder with a workspace of one document, and an environment with a model."""
    models = json.dumps([{"name": "scripted", "base_url": model.base_url, "model": "any"}])
    (home.folder / "ferry").mkdir()
    (home.folder / "ferry" / "ferry.md").write_text(
        "# Ferry\n\nThe night ferry leaves at 23:40. The harbour office sells its tickets.\n", encoding="utf-8"
    )
    assert home.citewell("ingest", "ferry", "-w", "ferry").code == Exit.OK
    return replace(home, environment={**home.environment, "CITEWELL_MODELS": models})


@pytest.fixture(scope="module")
def server(ferry: Home) -> Iterator["subprocess.Popen[str]"]:
    with subprocess.Popen(
        [str(BIN / "citewell"), "serve", "--port", "0", "--json"],
        cwd=ferry.folder,
        env={**ferry.environment, "CITEWELL_AUTH__MODE": "keys"},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        for _ in range(5):
            process.stdout.readline()
        yield process
        process.terminate()


def ask(ferry: Home, *arguments: str) -> Done:
    return ferry.process("ask", *arguments, "-w", "ferry")


def ask_alone(ferry: Home, *arguments: str) -> Done:
    return ferry.citewell("ask", *arguments, "-w", "ferry", **BY_ITSELF)


def without_figures(done: Done) -> tuple[int, str, str]:
    """Return what a command printed without ids and times, which differ from run to run."""
    same = [re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", "ID", text) for text in (done.out, done.err)]
    same = [re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+\S*", "MOMENT", text) for text in same]
    out, err = (re.sub(r' +\d+ ms|"(ms|started_at)": [\d.]+', " TIME", text) for text in same)
    return done.code, out, err


def connect(connection: socket.socket, path: Path) -> None:
    """Connect by a path of any length."""
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        connection.connect(f"/proc/self/fd/{folder}/{path.name}")
    finally:
        os.close(folder)


@contextmanager
def asking(ferry: Home, model: ScriptedOpenAI, user: str) -> "Iterator[tuple[subprocess.Popen[str], Hold]]":
    """Ask beside the server, with a model that begins an answer and holds there."""
    hold = Hold()
    model.script(Reply(steps=[Say('{"sections": [{"text": "The night ferry leaves at'), hold]), to="generate_answer")
    with subprocess.Popen(
        [
            *(sys.executable, "-c", HEARING_SIGINT, str(BIN / "citewell"), "ask", QUESTION),
            *("-v", "-w", "ferry", "-u", user, "--model", "scripted"),
        ],
        cwd=ferry.folder,
        env=ferry.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        yield process, hold


def answers_of(ferry: Home, user: str) -> list[dict[str, Any]]:
    """Return the answers of a user's one session."""
    whose = ("-w", "ferry", "-u", user, "--json")
    [session] = ferry.citewell("sessions", "list", *whose).json["sessions"]
    shown = ferry.citewell("sessions", "show", session["session_id"], *whose).json
    return [message for message in shown["messages"] if message["role"] == "assistant"]


@pytest.mark.parametrize("arguments", [[QUESTION], [QUESTION, "--json"], [NOWHERE]])
def test_the_output_is_that_of_a_process_of_its_own(
    ferry: Home, server: "subprocess.Popen[str]", arguments: list[str]
) -> None:
    beside = ask(ferry, *arguments)
    alone = ask_alone(ferry, *arguments)
    assert without_figures(beside) == without_figures(alone)


def test_only_a_note_says_who_answered(ferry: Home, server: "subprocess.Popen[str]") -> None:
    asked = ("ask", QUESTION, "-v", "-w", "ferry", "--model", "none")
    beside, alone = ferry.process(*asked), ferry.process(*asked, **BY_ITSELF)
    assert "WARNING" in alone.err, "what is logged goes the same way"
    first, rest = beside.err.split("\n", 1)
    assert str(ferry.folder) in first
    assert without_figures(Done(beside.code, beside.out, rest)) == without_figures(alone)


def test_a_session_goes_on_either_way(ferry: Home, server: "subprocess.Popen[str]") -> None:
    session = ask(ferry, QUESTION, "--json").json["session_id"]
    alone = ask_alone(ferry, "And who sells its tickets?", "--session", session, "--json")
    beside = ask(ferry, QUESTION, "--session", session, "--json")
    assert (alone.code, beside.code) == (Exit.OK, Exit.OK)
    assert alone.json["session_id"] == beside.json["session_id"] == session
    shown = ferry.citewell("sessions", "show", session, "-w", "ferry", "--json").json
    assert len(shown["messages"]) == 6
    assert ask(ferry, QUESTION, "--session", session, "-u", "another").code == Exit.NOT_FOUND


def test_nobody_else_is_answered(ferry: Home, server: "subprocess.Popen[str]") -> None:
    """The socket's folder is private, and a request as a browser may be made to send is none."""
    folder = ferry.folder / ".citewell" / "server"
    assert folder.stat().st_mode & 0o777 == 0o700
    [path] = folder.glob("*.socket")
    assert path.stat().st_mode & 0o777 == 0o600
    for sent in (b"POST / HTTP/1.1\r\nHost: localhost\r\n\r\n", b"{}\n", b'{"release": [], "settings": {}}\n', b"\n"):
        with socket.socket(socket.AF_UNIX) as connection:
            connect(connection, path)
            connection.sendall(sent)
            connection.settimeout(30)
            answered = connection.makefile("rb").read()
            assert b"accepted" not in answered


def test_a_signal_cancels_the_run_at_the_server(
    ferry: Home, server: "subprocess.Popen[str]", model: ScriptedOpenAI
) -> None:
    with asking(ferry, model, "by-signal") as (process, hold):
        hold.wait_reached()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    assert process.returncode == Exit.INTERRUPTED
    assert "Traceback" not in err
    assert model.asked("generate_answer")[-1].wait_disconnected()
    [message] = answers_of(ferry, "by-signal")
    assert (message["outcome"], message["stop_reason"]) == ("cancelled", "cancel_requested")


def test_a_server_that_dies_is_told_and_then_done_without(
    ferry: Home, server: "subprocess.Popen[str]", model: ScriptedOpenAI
) -> None:
    with asking(ferry, model, "by-death") as (process, hold):
        hold.wait_reached()
        server.kill()
        out, err = process.communicate(timeout=30)
    assert process.returncode == Exit.UNAVAILABLE
    assert str(ferry.folder) in err.split("\n", 1)[0]
    assert out == "", "no second answer follows what was begun"
    assert "Traceback" not in err
    after = ask(ferry, QUESTION, "-v")
    assert after.code == Exit.OK
    assert str(ferry.folder) not in after.err
