"""Logs: lines that machines read, with the ids of what they belong to, and nothing that is anybody's."""

import io
import json
import logging
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import httpx
import psycopg
import pytest
from pydantic import SecretStr

from api.app import create_app
from graph.entrypoint import open_citewell
from graph.errors import DatabaseUnavailable
from graph.evidence import Identity
from tests.api.conftest import LIBRARY, new_session, with_model
from tests.api.reading import events_of
from tests.api.serving import client_of
from tests.scripted_openai import ScriptedOpenAI, status
from tools.auth.api_keys import ApiKeys
from tools.settings import AuthSettings, Settings
from tools.telemetry.logs import configure_logging, log_ids, logging_also_to

QUESTION = "How long is the notice period?"


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """What a process logs at the lowest level of all its loggers, as JSON."""
    stderr, root = io.StringIO(), logging.getLogger()
    handlers, level = root.handlers[:], root.level
    root.handlers = []
    monkeypatch.setattr("sys.stderr", stderr)
    configure_logging("debug", "json")
    monkeypatch.undo()
    for handler in root.handlers:
        handler.setLevel(logging.NOTSET)
    yield stderr
    root.handlers, root.level = handlers, level


def read(lines: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in lines.getvalue().splitlines()]


async def test_no_line_holds_a_secret_or_text_at_any_level(
    settings: Settings, scripted_openai: ScriptedOpenAI, lines: io.StringIO
) -> None:
    configured = with_model(settings, scripted_openai)
    configured.models[0].api_key = SecretStr("sk-of-the-model")
    keyed = configured.model_copy(update={"auth": AuthSettings(mode="keys")})
    async with open_citewell(keyed) as citewell:
        for document in LIBRARY:
            await citewell.library.ingestor.ingest(Identity(), document)
        key = await ApiKeys(citewell.library.database, citewell.library.workspaces).create("default", "ann")
        async with client_of(create_app(keyed, citewell=citewell)) as client:
            client.headers["Authorization"] = f"Bearer {key}"
            session_id = await new_session(client)
            asked = await client.post(f"/api/sessions/{session_id}/runs", json={"question": QUESTION})
            scripted_openai.script(status(500), status(500), status(500), status(400, "no notice period"))
            await client.post(f"/api/sessions/{session_id}/runs", json={"question": QUESTION})
            await client.get("/api/search", params={"q": QUESTION, "key": key})
            await client.post("/api/sessions", json={"title": ["notice period"]})
            await client.get("/api/documents", headers={"Authorization": "Bearer wrong-key"})
            session = await client.get(f"/api/sessions/{session_id}")
    assert events_of(asked)[-1]["outcome"] == "answered"
    assert session.status_code == 200
    told = lines.getvalue()
    assert len(read(lines)) > 6
    for secret in (str(key), "sk-of-the-model", "wrong-key", "notice period", "three months", "annual leave"):
        assert secret not in told


async def test_each_line_of_a_run_names_the_run_and_its_request(
    settings: Settings, scripted_openai: ScriptedOpenAI, lines: io.StringIO
) -> None:
    configured = with_model(settings, scripted_openai)
    async with open_citewell(configured) as citewell:
        for document in LIBRARY:
            await citewell.library.ingestor.ingest(Identity(), document)
        async with client_of(create_app(configured, citewell=citewell)) as client:
            session_id = await new_session(client)
            scripted_openai.script(status(503))
            asked = await client.post(
                f"/api/sessions/{session_id}/runs",
                json={"question": QUESTION},
                headers={"X-Request-ID": "from-proxy.1"},
            )
    assert asked.headers["X-Request-ID"] == "from-proxy.1"
    run_id = events_of(asked)[0]["run_id"]
    retried = [line for line in read(lines) if line["logger"] == "tools.llm.model_endpoint"]
    assert retried
    for line in retried:
        assert (line["run_id"], line["request_id"], line["level"]) == (run_id, "from-proxy.1", "warning")


async def test_a_request_is_a_line_with_its_route_and_an_id_of_ours(
    shared_client: httpx.AsyncClient, lines: io.StringIO
) -> None:
    odd = await shared_client.get("/api/search", params={"q": QUESTION}, headers={"X-Request-ID": "no\tid {of} ours"})
    (line,) = [line for line in read(lines) if line["logger"] == "citewell.access"]
    assert line["message"].startswith(f"GET /api/search {odd.status_code} in ")
    assert line["request_id"] == odd.headers["X-Request-ID"]
    assert len(line["request_id"]) == 32


def test_a_run_that_a_line_speaks_of_is_named_beside_it(lines: io.StringIO) -> None:
    run_id = str(uuid4())
    logging.getLogger("citewell.runs").warning("run %s continues in another process", run_id)
    logging.getLogger("citewell.runs").warning("the events of run %s can't be stored", run_id)
    assert [line["run_id"] for line in read(lines)] == [run_id] * 2


def test_an_exception_is_told_by_its_class_and_its_frames(lines: io.StringIO) -> None:
    log = logging.getLogger("citewell.test")
    with log_ids(run_id="r1"):
        try:
            try:
                raise psycopg.errors.InvalidTextRepresentation('invalid input syntax: "a secret question"')
            except psycopg.Error as error:
                raise DatabaseUnavailable("Not reached.") from error
        except DatabaseUnavailable:
            log.exception("it failed")
    (line,) = read(lines)
    assert line["run_id"] == "r1"
    assert line["exception"]["type"] == "DatabaseUnavailable"
    assert line["exception"]["trace"][0] == "graph.errors.DatabaseUnavailable: Not reached."
    assert "psycopg.errors.InvalidTextRepresentation" in line["exception"]["trace"]
    assert "a secret question" not in lines.getvalue()


def test_other_packages_are_heard_from_warnings_on(lines: io.StringIO) -> None:
    logging.getLogger("openai._base_client").debug("Request options: %s", "a prompt")
    logging.getLogger("httpx2").info("HTTP Request: %s", "https://example.org/?q=a+prompt")
    logging.getLogger("httpx2").warning("a connection was lost")
    assert [line["message"] for line in read(lines)] == ["a connection was lost"]


ADDRESSES = [
    "postgresql://ann:hush@db.example:5432/citewell",
    "https://hush@models.example/v1 and http://a:hush@b.example/v1",
    "https://ann:hu@hush@models.example/v1",
    "https://models.example/v1?region=eu&api_key=hush&x=1",
    "https://bucket.example/file?X-Amz-Signature=hush&X-Amz-Credential=hush",
    "https://id.example/callback?code=hush",
]


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize("form", ["text", "json"])
def test_no_line_and_no_error_holds_credentials_of_an_address(address: str, form: str) -> None:
    stream, log = io.StringIO(), logging.getLogger("citewell.test")
    with logging_also_to(stream, "info", "json" if form == "json" else "text"):
        try:
            raise OSError(f"no way to {address}")
        except OSError:
            log.exception("The endpoint %s does not answer", address)
    error = DatabaseUnavailable(f"{address} does not answer.", suggestion=f"Check {address}.")
    for told in (stream.getvalue(), str(error), error.message, error.advice):
        assert "example" in told
        assert "hush" not in told


def test_what_is_no_credential_stays_in_an_address() -> None:
    for address in ("https://docs.example/a@b?page=3&sort=new#c@d", "mailto:ann@docs.example", "s3://bucket/a?b=c"):
        assert DatabaseUnavailable(address).message == address


def test_a_line_for_people_says_when_it_was() -> None:
    stream = io.StringIO()
    with logging_also_to(stream, "info", "text"):
        logging.getLogger("citewell.test").warning("it rained")
    when, level, _, said = stream.getvalue().strip().split(" ", 3)
    assert datetime.fromisoformat(when).tzinfo == UTC
    assert (level, said) == ("WARNING", "it rained")
