"""One kit that every dialect passes: success, abstention, no retrieval, errors before and after the first byte, readers
that leave, runs that are stopped, readers that come back."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import httpx
import psycopg
import pytest
from pydantic import SecretStr

from api.app import create_app
from api.dialects.registry import DIALECTS
from graph.entrypoint import open_citewell
from graph.evidence import Identity
from tests.api.conftest import HANDBOOK, LIBRARY, library, shared_client, with_model
from tests.api.reading import parse_frames
from tests.api.serving import client_of
from tests.scripted_openai import Break, Fail, Hold, Reply, Say, ScriptedOpenAI
from tests.wire.adapters import ADAPTERS
from tests.wire.adapters.adapter import Adapter, Heard
from tests.wire.conduct import CONDUCT, WITH_ID
from tools.retrieval.hybrid_search import HybridSearcher
from tools.settings import ModelSettings, Settings
from tools.storage.embedded import EmbeddedServer

__all__ = ["library", "shared_client"]

LEAVE = "How many days of annual leave does an employee get?"
SAID = "Every employee gets 25 days of annual leave a year."
TWO_SECTIONS = json.dumps(
    {
        "sections": [
            {"text": SAID, "source_ids": [f"{HANDBOOK}:0"]},
            {"text": "Unused leave lapses in March.", "source_ids": [f"{HANDBOOK}:0"]},
        ]
    }
)
BEGUN = TWO_SECTIONS[:150]  # the first section, and the beginning of the second
INTERNALS = ("Traceback", "psycopg", "127.0.0.1", "relation", "site-packages", "secret-of-the-model", "SELECT")


@dataclass(frozen=True)
class Deployment:
    """A deployment that all dialects are asked of, with the model that writes for it."""

    client: httpx.AsyncClient
    model: ScriptedOpenAI


@pytest.fixture(scope="module")
async def deployment(
    postgres: EmbeddedServer, template: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Deployment]:
    async with await psycopg.AsyncConnection.connect(postgres.url(), autocommit=True) as connection:
        await connection.execute(f"CREATE DATABASE wire_kit TEMPLATE {template}")
    url = SecretStr(postgres.url("wire_kit"))
    plain = Settings(_env_file=None, database_url=url, data_dir=tmp_path_factory.mktemp("kit"), pool_size=4)
    with ScriptedOpenAI() as model:
        # With one endpoint alone any name of a model would be answered.
        other = ModelSettings(name="other", base_url="http://127.0.0.1:9/v1", model="other")
        settings = with_model(plain, model)
        settings = settings.model_copy(update={"models": [*settings.models, other]})
        async with open_citewell(settings) as opened:
            for document in LIBRARY:
                await opened.library.ingestor.ingest(Identity(), document)
            async with client_of(create_app(settings, citewell=opened)) as client:
                yield Deployment(client, model)


@pytest.fixture(params=sorted(DIALECTS))
def adapter(request: pytest.FixtureRequest) -> Adapter:
    return ADAPTERS[request.param]()


async def heard(adapter: Adapter, client: httpx.AsyncClient, question: str) -> Heard:
    response = await adapter.ask(client, question)
    assert response.status_code == 200, response.text
    assert response.headers["content-type"].startswith("text/event-stream")
    assert response.headers["cache-control"] == "no-cache"
    assert response.headers["x-accel-buffering"] == "no"
    assert b"\r" not in response.content
    assert not any(internal in response.text for internal in INTERNALS)
    return adapter.heard(response.content)


async def runs(client: httpx.AsyncClient) -> list[dict[str, Any]]:
    return list((await client.get("/api/runs")).json()["runs"])


async def ended(client: httpx.AsyncClient, run_id: str) -> dict[str, Any]:
    """Wait until the ledger has a run's end."""
    async with asyncio.timeout(60):
        while True:
            run: dict[str, Any] = (await client.get(f"/api/runs/{run_id}")).json()
            if run["status"] == "finished":
                return run
            await asyncio.sleep(0.01)


@asynccontextmanager
async def asking(adapter: Adapter, client: httpx.AsyncClient, question: str) -> AsyncIterator[httpx.Response]:
    """Ask, and give the response while it is streamed."""
    if adapter.name in ("native", "docmost"):  # they ask in a session, which they make when they first ask
        await adapter.ask(client, "Hello!")
    method, path, arguments = adapter.asking(question)
    async with client.stream(method, path, **arguments) as response:
        assert response.status_code == 200, await response.aread()
        yield response


def test_every_dialect_has_its_conduct() -> None:
    assert set(CONDUCT) == set(DIALECTS)
    assert {name for name in CONDUCT if CONDUCT[name].rejoin} == {n for n in ADAPTERS if ADAPTERS[n]().resumes}


async def test_an_answer_a_refusal_and_a_greeting(adapter: Adapter, shared_client: httpx.AsyncClient) -> None:
    native = ADAPTERS["native"]()
    for question, cited in ((LEAVE, {HANDBOOK}), ("Who won the chess championship of 1972?", set()), ("Hello!", set())):
        told = await heard(adapter, shared_client, question)
        assert told == await heard(native, shared_client, question), question
        assert (told.cited, told.ended) == (cited, "done")
        assert told.answer


async def test_an_answer_of_a_model(adapter: Adapter, deployment: Deployment) -> None:
    deployment.model.script(Reply(steps=[Say(TWO_SECTIONS)]), to="generate_answer")
    told = await heard(adapter, deployment.client, f"{LEAVE} ({adapter.name})")
    assert told == Heard(f"{SAID}\n\nUnused leave lapses in March.", frozenset({HANDBOOK}), "done")


async def test_a_request_that_can_not_be_served_is_refused_before_the_first_byte(
    adapter: Adapter, deployment: Deployment
) -> None:
    conduct = CONDUCT[adapter.name]
    await heard(adapter, deployment.client, "Hello!")
    before = len(await runs(deployment.client))
    method, path, arguments = adapter.asking(" ")
    blank = await deployment.client.request(method, path, **arguments)
    assert blank.status_code in conduct.blank, blank.text
    assert conduct.code(blank.json()) == "invalid_request"
    if conduct.model is not None:
        method, path, arguments = adapter.asking(LEAVE)
        body = conduct.model(arguments.pop("json"), "none such")
        unknown = await deployment.client.request(method, path, json=body, **arguments)
        assert (unknown.status_code, conduct.code(unknown.json())) == conduct.unknown_model, unknown.text
        assert "json" in unknown.headers["content-type"]
    assert len(await runs(deployment.client)) == before


@pytest.mark.parametrize("fault", [Break(), Fail("secret-of-the-model fell over")], ids=["cut off", "error"])
async def test_a_model_that_breaks_in_the_middle_ends_the_stream_with_an_error(
    adapter: Adapter, deployment: Deployment, fault: Break | Fail
) -> None:
    deployment.model.script(Reply(steps=[Say(BEGUN), fault]), to="generate_answer")
    told = await heard(adapter, deployment.client, LEAVE)
    assert told == Heard("", frozenset(), "error", told.error_code)
    assert told.error_code in ("model_unavailable", None)


async def test_a_library_that_breaks_ends_the_stream_with_an_error(
    adapter: Adapter, deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError('relation "segments" does not exist, says 127.0.0.1')

    monkeypatch.setattr(HybridSearcher, "search", broken)
    told = await heard(adapter, deployment.client, LEAVE)
    assert told == Heard("", frozenset(), "error", told.error_code)
    assert told.error_code in ("internal", None)


async def test_a_reader_that_leaves_stops_the_run_or_lets_it_go_on(adapter: Adapter, deployment: Deployment) -> None:
    hold = Hold()
    deployment.model.script(Reply(steps=[Say(BEGUN), hold, Say(TWO_SECTIONS[150:])]), to="generate_answer")
    async with asking(adapter, deployment.client, LEAVE):
        await asyncio.to_thread(hold.wait_reached)
    run_id = (await runs(deployment.client))[0]["run_id"]
    if CONDUCT[adapter.name].leaving == "cancel":
        assert deployment.model.asked("generate_answer")[-1].wait_disconnected()
        run = await ended(deployment.client, run_id)
        assert (run["outcome"], run["stop_reason"]) == ("cancelled", "client_disconnected")
    else:
        hold.release()
        assert (await ended(deployment.client, run_id))["outcome"] == "answered"


async def test_a_run_that_is_stopped_over_the_api_ends_its_stream(adapter: Adapter, deployment: Deployment) -> None:
    hold = Hold()
    deployment.model.script(Reply(steps=[Say(BEGUN), hold]), to="generate_answer")
    async with asking(adapter, deployment.client, LEAVE) as response:
        await asyncio.to_thread(hold.wait_reached)
        run_id = (await runs(deployment.client))[0]["run_id"]
        stopped = (await deployment.client.post(f"/api/runs/{run_id}/cancel")).json()
        assert (stopped["outcome"], stopped["stop_reason"]) == ("cancelled", "cancel_requested")
        told = adapter.heard(await response.aread())
    assert told.ended in ("done", "error")
    assert told.error_code in ("cancel_requested", None)
    assert (told.answer, told.cited) in ((SAID, frozenset({HANDBOOK})), ("", frozenset()))


@pytest.mark.parametrize("name", sorted(name for name in CONDUCT if CONDUCT[name].rejoin))
async def test_a_reader_that_comes_back_is_told_the_rest(name: str, deployment: Deployment) -> None:
    adapter, path = ADAPTERS[name](), CONDUCT[name].rejoin
    assert path is not None
    deployment.model.script(Reply(steps=[Say(TWO_SECTIONS)]), to="generate_answer")
    whole = parse_frames((await adapter.ask(deployment.client, f"{LEAVE} ({uuid4()})")).text)
    run_id = (await runs(deployment.client))[0]["run_id"]
    for had in range(len(whole) + 1):
        ids = [frame["id"] for frame in whole[:had] if "id" in frame]
        header = {**WITH_ID, "last-event-id": ids[-1] if ids else f"{run_id}:0"}
        rest = await deployment.client.get(path(run_id), headers=header)
        assert list(map(data_of, parse_frames(rest.text))) == list(map(data_of, whole[had:]))
        assert rest.status_code == (200 if had < len(whole) else 204)


def data_of(frame: dict[str, str]) -> tuple[Any, ...]:
    """Give what a frame says, whatever the order of its keys."""
    return frame.get("id"), frame.get("event"), json.loads(frame["data"])
