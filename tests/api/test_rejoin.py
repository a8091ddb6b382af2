"""Two servers on one database: what one begins, the other tells, stops, waits for and refuses as it would itself."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from typing import Any
from uuid import uuid4

import httpx
import pytest
from pydantic import SecretStr

from api.app import create_app
from graph.entrypoint import open_citewell
from graph.evidence import Identity
from tests.api.conftest import LIBRARY, new_session, with_model
from tests.api.reading import events_of, live_events, parse_frames
from tests.api.serving import client_of, served
from tests.api.test_runs import ASKED, end_in_ledger, held_reply
from tests.postgres.proxy import proxied
from tests.scripted_openai import Hold, ScriptedOpenAI
from tools.settings import RunSettings, Settings

MANY = httpx.Limits(max_connections=None, max_keepalive_connections=0)
Clients = tuple[httpx.AsyncClient, httpx.AsyncClient]


@asynccontextmanager
async def servers(settings: Settings, number: int = 2, **runs: Any) -> AsyncIterator[list[httpx.AsyncClient]]:
    """Serve one database by several applications, each with a library and a runner of its own."""
    configured = settings.model_copy(update={"runs": RunSettings(**{"drain_seconds": 0, **runs})})
    async with AsyncExitStack() as stack:
        clients = []
        for which in range(number):
            citewell = await stack.enter_async_context(open_citewell(configured))
            if which == 0:
                for document in LIBRARY:
                    await citewell.library.ingestor.ingest(Identity(), document)
            url = await stack.enter_async_context(served(create_app(configured, citewell=citewell)))
            client = httpx.AsyncClient(base_url=url, timeout=60, trust_env=False, limits=MANY)
            clients.append(await stack.enter_async_context(client))
        yield clients


@pytest.fixture
async def both(settings: Settings, scripted_openai: ScriptedOpenAI) -> AsyncIterator[Clients]:
    async with servers(with_model(settings, scripted_openai)) as (first, second):
        yield first, second


class Asker:
    """A client that asks and goes on reading until it is told to leave."""

    def __init__(self, client: httpx.AsyncClient, session_id: str, **fields: Any) -> None:
        self.events: list[dict[str, Any]] = []
        self.status = 0
        self._begun = asyncio.Event()
        self.reading = asyncio.create_task(self._read(client, session_id, fields))

    async def _read(self, client: httpx.AsyncClient, session_id: str, fields: dict[str, Any]) -> None:
        url, body = f"/api/sessions/{session_id}/runs", {**ASKED, "search": "always", **fields}
        async with client.stream("POST", url, json=body) as response:
            self.status = response.status_code
            if self.status == 200:
                async with aclosing(live_events(response)) as events:
                    async for event in events:
                        self.events.append(event)
                        self._begun.set()
            self._begun.set()

    async def begun(self) -> str:
        """Wait for the first event; gives the run's id."""
        async with asyncio.timeout(60):
            await self._begun.wait()
        return str(self.events[0]["run_id"])

    async def leave(self) -> None:
        self.reading.cancel()
        await asyncio.gather(self.reading, return_exceptions=True)


def held(scripted_openai: ScriptedOpenAI) -> Hold:
    hold = Hold()
    scripted_openai.script(held_reply(hold), to="generate_answer")
    return hold


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while True:
            if true():
                return
            await asyncio.sleep(0.02)


async def look_in(client: httpx.AsyncClient, run_id: str) -> None:
    """Join a run, and leave it in the middle."""
    async with client.stream("GET", f"/api/runs/{run_id}/stream") as response, aclosing(live_events(response)) as told:
        async for event in told:
            if event["type"] == "section_started":
                return


def gap_free(events: list[dict[str, Any]]) -> bool:
    return [event["seq"] for event in events] == list(range(1, len(events) + 1))


async def test_a_reader_comes_back_to_the_other_server_while_the_run_goes_on(
    both: Clients, scripted_openai: ScriptedOpenAI
) -> None:
    first, second = both
    hold = held(scripted_openai)
    asker = Asker(first, await new_session(first), on_disconnect="continue")
    run_id = await asker.begun()
    await asyncio.to_thread(hold.wait_reached)
    await asker.leave()
    before = list(asker.events)
    resumed: list[dict[str, Any]] = []
    after = {"last-event-id": f"{run_id}:{before[-1]['seq']}"}
    async with second.stream("GET", f"/api/runs/{run_id}/stream", headers=after) as response:
        assert response.status_code == 200
        hold.release()
        async for event in live_events(response):
            resumed.append(event)
    assert gap_free([*before, *resumed])
    assert (resumed[-1]["type"], resumed[-1]["message"]["answer"]) == ("run_finished", "Every employee gets 25 days.")
    for client in both:
        assert events_of(await client.get(f"/api/runs/{run_id}/stream")) == [*before, *resumed]
        last = {"last-event-id": f"{run_id}:{resumed[-1]['seq']}"}
        assert (await client.get(f"/api/runs/{run_id}/stream", headers=last)).status_code == 204


async def test_a_run_that_is_not_there_and_an_id_of_another_run_are_told_apart(both: Clients) -> None:
    first, _ = both
    end = events_of(await first.post(f"/api/sessions/{await new_session(first)}/runs", json=ASKED))[-1]
    for client in both:
        for path in (f"/api/runs/{uuid4()}", f"/api/runs/{uuid4()}/stream"):
            unknown = await client.get(path)
            assert (unknown.status_code, unknown.json()["code"]) == (404, "not_found")
        assert (await client.post(f"/api/runs/{uuid4()}/cancel")).status_code == 404
        path = f"/api/runs/{end['run_id']}/stream"
        other = await client.get(path, headers={"last-event-id": f"{uuid4()}:3"})
        assert (other.status_code, other.json()["code"]) == (422, "invalid_request")
        assert (await client.get(path, headers={"last-event-id": "nonsense"})).status_code == 422


async def test_a_run_is_cancelled_through_the_other_server(both: Clients, scripted_openai: ScriptedOpenAI) -> None:
    first, second = both
    hold = held(scripted_openai)
    asker = Asker(first, await new_session(first))
    run_id = await asker.begun()
    await asyncio.to_thread(hold.wait_reached)
    cancelled = await second.post(f"/api/runs/{run_id}/cancel")
    assert (cancelled.status_code, cancelled.json()["outcome"]) == (200, "cancelled")
    await asker.reading
    assert gap_free(asker.events)
    assert (asker.events[-1]["type"], asker.events[-1]["stop_reason"]) == ("run_finished", "cancel_requested")
    assert await asyncio.to_thread(scripted_openai.asked("generate_answer")[0].wait_disconnected)


async def test_a_busy_session_refuses_lines_up_or_gives_way_through_either_server(
    both: Clients, scripted_openai: ScriptedOpenAI
) -> None:
    first, second = both
    session_id = await new_session(first)
    hold = held(scripted_openai)
    asker = Asker(first, session_id)
    await asker.begun()
    await asyncio.to_thread(hold.wait_reached)
    for client in both:
        refused = await client.post(f"/api/sessions/{session_id}/runs", json=ASKED)
        assert (refused.status_code, refused.json()["code"]) == (409, "session_busy")
    waiting = Asker(second, session_id, while_running="enqueue")
    await waiting.begun()
    assert {event["type"] for event in waiting.events} == {"queued"}
    hold.release()
    await asyncio.gather(asker.reading, waiting.reading)
    assert asker.events[-1]["outcome"] == waiting.events[-1]["outcome"] == "answered"
    kinds = [event["type"] for event in waiting.events]
    assert kinds[0] == "queued"
    assert kinds.count("run_started") == kinds.count("run_finished") == 1
    hold = held(scripted_openai)
    asker = Asker(second, session_id)
    await asker.begun()
    await asyncio.to_thread(hold.wait_reached)
    instead = Asker(first, session_id, while_running="interrupt")
    await asyncio.gather(asker.reading, instead.reading)
    assert (asker.events[-1]["outcome"], asker.events[-1]["stop_reason"]) == ("cancelled", "interrupted")
    assert instead.events[-1]["outcome"] == "answered"
    messages = (await first.get(f"/api/sessions/{session_id}")).json()["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant"] * 4


async def test_a_full_server_has_questions_wait_and_refuses_the_rest(
    settings: Settings, scripted_openai: ScriptedOpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tools.runs.runner.WAITING_FOR_EACH", 1)
    configured = with_model(settings, scripted_openai)
    async with servers(configured, 1, max_active=1) as (client,):
        hold = held(scripted_openai)
        going = Asker(client, await new_session(client))
        await going.begun()
        await asyncio.to_thread(hold.wait_reached)
        waiting = Asker(client, await new_session(client))
        await waiting.begun()
        refused = await client.post(f"/api/sessions/{await new_session(client)}/runs", json=ASKED)
        assert (refused.status_code, refused.json()["code"]) == (503, "overloaded")
        assert int(refused.headers["retry-after"]) > 0
        hold.release()
        await asyncio.gather(going.reading, waiting.reading)
        assert (waiting.events[0]["type"], waiting.events[0]["position"]) == ("queued", 1)
        assert gap_free(waiting.events)
        assert going.events[-1]["outcome"] == waiting.events[-1]["outcome"] == "answered"


async def test_who_joins_a_run_and_leaves_it_does_not_end_it(both: Clients, scripted_openai: ScriptedOpenAI) -> None:
    first, _ = both
    hold = held(scripted_openai)
    asker = Asker(first, await new_session(first), on_disconnect="cancel")
    run_id = await asker.begun()
    await asyncio.to_thread(hold.wait_reached)
    for client in both:
        await look_in(client, run_id)
    assert (await first.get(f"/api/runs/{run_id}")).json()["status"] == "running"
    hold.release()
    await asker.reading
    assert asker.events[-1]["outcome"] == "answered"


async def test_a_hundred_readers_that_leave_at_once_leave_nothing_behind(
    settings: Settings, scripted_openai: ScriptedOpenAI
) -> None:
    patient = {"auto_title": False, "pool_timeout_seconds": 30}  # a hundred begin at once, on whatever machine
    configured = with_model(settings, scripted_openai).model_copy(update=patient)
    async with servers(configured, 1, max_active=25) as (client,):
        for _ in range(100):
            scripted_openai.script(held_reply(Hold()), to="generate_answer")
        sessions = [await new_session(client) for _ in range(100)]
        askers = [Asker(client, session_id) for session_id in sessions]
        run_ids = [await asker.begun() for asker in askers]
        await until(lambda: len(scripted_openai.asked("generate_answer")) == 25)
        await asyncio.gather(*(asker.leave() for asker in askers))
        ends = [await end_in_ledger(client, run_id) for run_id in run_ids]
        assert {(end["outcome"], end["stop_reason"]) for end in ends} == {("cancelled", "client_disconnected")}
        for exchange in scripted_openai.asked("generate_answer"):
            assert await asyncio.to_thread(exchange.wait_disconnected)
        await until(lambda: not any(task.get_name().startswith("citewell-run-") for task in asyncio.all_tasks()))
        assert (await client.get("/api/runs", params={"status": "running"})).json()["runs"] == []
        asked = await client.post(f"/api/sessions/{sessions[0]}/runs", json={**ASKED, "question": "hello"})
        assert events_of(asked)[-1]["type"] == "run_finished"


async def test_who_is_told_that_the_database_is_away_comes_back_behind_the_last_event_of_the_log(
    settings: Settings, scripted_openai: ScriptedOpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tools.storage.database.PATIENCE_SECONDS", 0.5)
    assert settings.database_url is not None
    async with AsyncExitStack() as stack:
        proxy, url = await stack.enter_async_context(proxied(settings.database_url.get_secret_value()))
        through = {"database_url": SecretStr(url), "pool_timeout_seconds": 0.3, "auto_title": False}
        configured = with_model(settings, scripted_openai).model_copy(update=through)
        citewell = await stack.enter_async_context(open_citewell(configured))
        await citewell.library.ingestor.ingest(Identity(), LIBRARY[0])
        client = await stack.enter_async_context(client_of(create_app(configured, citewell=citewell)))
        hold = held(scripted_openai)
        asked = {**ASKED, "search": "always", "on_disconnect": "continue"}
        asking = asyncio.create_task(client.post(f"/api/sessions/{await new_session(client)}/runs", json=asked))
        await asyncio.to_thread(hold.wait_reached)
        proxy.refusing = True
        proxy.cut()
        hold.release()
        *before, told = parse_frames((await asking).text)
        await until(lambda: not citewell.runner.is_answering)
        proxy.refusing = False
        while not (await client.get("/readyz")).is_success:  # noqa: ASYNC110 - the pool tries again in its own time
            await asyncio.sleep(0.02)
        async with citewell.library.database.connection() as connection:
            await connection.execute("UPDATE runs SET lease_until = '-infinity'")
        citewell.runner.take_over_abandoned()
        last_id = [frame["id"] for frame in [*before, told] if "id" in frame][-1]  # as an EventSource keeps it
        run_id = last_id.partition(":")[0]
        rest = parse_frames((await client.get(f"/api/runs/{run_id}/stream", headers={"last-event-id": last_id})).text)
    assert (told["event"], json.loads(told["data"])["code"]) == ("run_failed", "database_unavailable")
    ids = [frame["id"] for frame in [*before, *rest]]
    assert ids == [f"{run_id}:{seq}" for seq in range(1, len(ids) + 1)]
    # What had reached the log when the connections were cut comes first.
    assert "run_resumed" in [frame["event"] for frame in rest]
    assert rest[-1]["event"] == "run_finished"
