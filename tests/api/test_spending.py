"""What runs spend: stored exactly, shared by processes, told to whom it concerns, and limited by day."""

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import httpx
import httpx2
import openai
import pytest
from psycopg.rows import dict_row

from api.app import create_app
from graph.context import Context
from graph.entrypoint import Citewell, open_citewell
from graph.errors import NotFound, SpendingLimitReached
from graph.events import AnyEvent, RunFinished
from graph.evidence import Identity
from tests.api.conftest import LIBRARY, new_session, with_model
from tests.api.serving import client_of, served
from tests.contract.embeddings_server import DIMENSION, serve_embeddings
from tests.scripted_openai import Hold, Say, ScriptedOpenAI, answer, say
from tools.auth.api_keys import ApiKeys, KeyTerms, key_id
from tools.sessions.run_request import RunRequest
from tools.settings import AuthSettings, EmbeddingSettings, RunSettings, Settings, SpendingSettings
from tools.storage.database import Database

QUESTION = "How many days of annual leave are there?"
ME = Identity()
PRICED = {
    "currency": "EUR",
    "prices": [{"model": "any", "input": "2", "cached_input": "0.5", "output": "8"}],
}


@asynccontextmanager
async def opened(
    settings: Settings, server: ScriptedOpenAI, *, filled: bool = True, **spending: Any
) -> AsyncIterator[Citewell]:
    """A deployment that answers by the scripted model, with these settings of spending."""
    configured = with_model(settings, server).model_copy(
        update={"spending": SpendingSettings.model_validate(spending), "auto_title": False}
    )
    async with open_citewell(configured) as citewell:
        if filled:
            for document in LIBRARY:
                await citewell.library.ingestor.ingest(ME, document)
        yield citewell


async def ask(citewell: Citewell, question: str = QUESTION, **context: Any) -> RunFinished:
    session = await citewell.library.sessions.create(ME)
    run = await citewell.runner.start(session.session_id, RunRequest(question, Context(**context)))
    end = await run.finished()
    assert isinstance(end, RunFinished), end
    assert run.task is not None
    await run.task
    return end


async def stored(database: Database) -> list[Mapping[str, Any]]:
    async with database.connection() as connection:
        cursor = connection.cursor(row_factory=dict_row)
        return await (await cursor.execute("SELECT * FROM spending ORDER BY created_at, model")).fetchall()


async def end_without_log(citewell: Citewell, run_id: str) -> AnyEvent:
    """Return what is told of a run's end once its log is no longer kept."""
    async with citewell.library.database.connection() as connection:
        await connection.execute("DELETE FROM run_events")
    reader = await citewell.runner.join(ME, run_id)
    return [envelope.event async for envelope in reader.events()][-1]


async def test_a_run_is_charged_by_what_its_endpoint_counts(
    settings: Settings, scripted_openai: ScriptedOpenAI
) -> None:
    said = answer({"text": "Every employee gets 25 days.", "source_ids": []}, tokens=1500)
    scripted_openai.script(
        type(said)(said.steps, tokens=1500, completion_tokens=500, cached_tokens=400), to="generate_answer"
    )
    async with opened(settings, scripted_openai, **PRICED) as citewell:
        end = await ask(citewell)
        calls = len(scripted_openai.requests)
        rows = await stored(citewell.library.database)
        later = await end_without_log(citewell, str(rows[0]["charge_id"]))
    others = calls - 1  # each of 42 tokens, one of them written
    prompt, written = 1000 + others * 41, 500 + others
    cost = (Decimal(prompt - 400) * 2 + Decimal(400) * Decimal("0.5") + written * 8) / 1_000_000
    run, model = rows
    assert (run["model"], run["calls"], run["cost"]) == ("", 0, None)
    assert (model["model"], model["calls"], model["input_tokens"], model["cached_tokens"]) == (
        "any",
        calls,
        prompt,
        400,
    )
    assert (model["output_tokens"], model["cost"], model["currency"]) == (written, cost, "EUR")
    assert run["charge_id"] == model["charge_id"]
    assert run["session_id"] == model["session_id"] is not None
    assert end.cost == {"amount": f"{cost:f}".rstrip("0"), "currency": "EUR", "unpriced": [], "estimated": False}
    assert end.spent["generate_answer"]["models"]["any"]["cached_tokens"] == 400
    assert later == end


async def test_a_model_without_a_price_is_counted_and_its_cost_unknown(
    settings: Settings, scripted_openai: ScriptedOpenAI
) -> None:
    async with opened(settings, scripted_openai) as citewell:
        end = await ask(citewell)
        app = create_app(citewell.library.settings, citewell=citewell)
        async with client_of(app) as client:
            body = (await client.get("/api/spending")).json()
    assert end.cost is None
    assert body["total"]["costs"] == []
    assert body["total"]["unpriced"] == ["any"]
    assert body["total"]["unpriced_tokens"] == body["total"]["input_tokens"] + body["total"]["output_tokens"] > 0


async def test_an_extractive_run_costs_nothing_and_is_counted(settings: Settings, citewell: Citewell) -> None:
    end = await ask(citewell)
    (run,) = await stored(citewell.library.database)
    assert end.cost is None
    assert (run["model"], run["kind"]) == ("", "run")


async def test_embeddings_are_charged_beside_the_budget(settings: Settings, scripted_openai: ScriptedOpenAI) -> None:
    prices = [{"model": "any", "input": "2", "output": "8"}, {"model": "vectors", "input": "0.1", "output": "0"}]
    async with serve_embeddings() as server:
        vectors = EmbeddingSettings(model="vectors", base_url=server.base_url, dimension=DIMENSION)
        configured = settings.model_copy(update={"embedding": vectors})
        async with opened(configured, scripted_openai, currency="EUR", prices=prices) as citewell:
            end = await ask(citewell)
            rows = {row["model"]: row for row in await stored(citewell.library.database)}
    assert set(rows) == {"", "any", "vectors"}  # nothing of what was ingested
    assert rows["vectors"]["input_tokens"] == end.spent["embed"]["tokens"] == end.spent["embed"]["calls"] > 0
    assert rows["vectors"]["cost"] == rows["vectors"]["input_tokens"] * Decimal("0.0000001")


async def test_what_a_cancelled_run_used_is_charged(settings: Settings, scripted_openai: ScriptedOpenAI) -> None:
    hold = Hold()
    reply = say()
    scripted_openai.script(type(reply)([Say('{"sections": [{"text": "Every'), hold]), to="generate_answer")
    async with opened(settings, scripted_openai, **PRICED) as citewell:
        session = await citewell.library.sessions.create(ME)
        run = await citewell.runner.start(session.session_id, RunRequest(QUESTION, Context()))
        await asyncio.to_thread(hold.wait_reached)
        await asyncio.sleep(0)
        await run.cancel("cancel_requested")
        end = await run.finished()
        rows = await stored(citewell.library.database)
    assert isinstance(end, RunFinished)
    assert end.outcome == "cancelled"
    assert "generate_answer" not in end.spent  # a step that did not end has no account of its own
    assert [row["model"] for row in rows] == ["", "any"]
    assert rows[1]["estimated_calls"] == 1
    assert rows[1]["input_tokens"] > 0
    assert end.cost is not None
    assert end.cost["estimated"]


@pytest.mark.parametrize("writes_on", [False, True])
async def test_what_was_spent_stays_when_its_session_goes(
    settings: Settings, scripted_openai: ScriptedOpenAI, writes_on: bool
) -> None:
    hold = Hold()
    reply = say()
    steps = [Say('{"sections": [{"text": "Every'), hold, Say(" employee gets 25 days"), Hold()]
    scripted_openai.script(type(reply)(steps), to="generate_answer")
    async with opened(settings, scripted_openai, **PRICED) as citewell:
        await ask(citewell, "Are trains booked in first class?", model="extractive")
        session = await citewell.library.sessions.create(ME)
        run = await citewell.runner.start(session.session_id, RunRequest(QUESTION, Context()))
        await asyncio.to_thread(hold.wait_reached)
        async with citewell.library.database.connection() as connection:
            await connection.execute("DELETE FROM sessions")
        if writes_on:  # and finds that there is no run to write for
            hold.release()
            assert run.task is not None
            await run.task
        with suppress(NotFound):
            await run.cancel("cancel_requested")
        rows = await stored(citewell.library.database)
    assert [row["model"] for row in rows] == ["", "", "any"]
    assert rows[2]["input_tokens"] > 0


async def test_a_run_that_another_process_ends_is_charged_for_both(
    settings: Settings, scripted_openai: ScriptedOpenAI
) -> None:
    hold = Hold()
    reply = say()
    scripted_openai.script(type(reply)([Say('{"sections": [{"text": "Every'), hold]), to="generate_answer")
    quickly = settings.model_copy(update={"runs": RunSettings(drain_seconds=0)})
    async with opened(quickly, scripted_openai, **PRICED) as one:
        session = await one.library.sessions.create(ME)
        run = await one.runner.start(session.session_id, RunRequest(QUESTION, Context(effort="thorough")))
        await asyncio.to_thread(hold.wait_reached)
        await one.runner.drain()
        finished = [row["calls"] for row in await stored(one.library.database)]
        async with opened(quickly, scripted_openai, filled=False, **PRICED) as other:
            other.runner.take_over_abandoned()
            reader = await other.runner.join(ME, run.run_id)
            async for envelope in reader.events():
                end = envelope.event
        (_, model) = await stored(one.library.database)
    assert isinstance(end, RunFinished)
    assert finished == [0, 1]  # the call that was cut off; the steps before it are the other's
    assert model["calls"] == len(scripted_openai.requests)
    assert model["estimated_calls"] == 1


LIMITS = [
    ({"user": {"runs": 1}}, r"You .* limit of 1 question\."),
    ({"workspace": {"tokens": 10}}, r"The workspace .* limit of 10 tokens "),
    ({**PRICED, "user": {"cost": "0.00001"}}, r"You .* limit of 0.00001 EUR "),
    ({"workspaces": {"default": {"workspace": {"runs": 1}}}}, r"The workspace .* limit of 1 question\."),
]


@pytest.mark.usefixtures("same_day")
@pytest.mark.parametrize(("limits", "told"), LIMITS, ids=lambda value: str(value)[:40])
async def test_a_limit_of_the_day_refuses_the_next_run_and_says_when(
    settings: Settings, scripted_openai: ScriptedOpenAI, limits: dict[str, Any], told: str
) -> None:
    async with opened(settings, scripted_openai, **limits) as citewell:
        await ask(citewell)
        app = create_app(citewell.library.settings, citewell=citewell)
        async with client_of(app) as client:
            session_id = await new_session(client)
            before = len(scripted_openai.requests)
            refused = await client.post(f"/api/sessions/{session_id}/runs", json={"question": QUESTION})
            report = (await client.get("/api/spending", params={"of": "everyone"})).json()
    problem = refused.json()
    assert (refused.status_code, problem["code"], problem["retryable"]) == (429, "spending_limit_reached", True)
    assert re.match(told, problem["detail"])
    tomorrow = datetime.now(UTC).date() + timedelta(days=1)
    assert f" {tomorrow} 00:00 UTC, in " in problem["detail"]
    assert 0 < int(refused.headers["retry-after"]) <= 86_400
    assert len(scripted_openai.requests) == before
    (limit,) = report["limits"]
    assert Decimal(limit["used"]) >= Decimal(limit["limit"])
    assert report["day_ends_at"].startswith(f"{tomorrow}T00:00:00")


@pytest.mark.usefixtures("same_day")
@pytest.mark.parametrize(("limit", "calls"), [(1_000_000, 1), (10, 0)], ids=["within the limit", "used up"])
async def test_a_title_that_is_asked_for_is_charged_and_made_by_rule_where_the_day_is_used_up(
    settings: Settings, scripted_openai: ScriptedOpenAI, limit: int, calls: int
) -> None:
    async with opened(settings, scripted_openai, **PRICED, user={"tokens": limit}) as citewell:
        end = await ask(citewell)
        before, told = await stored(citewell.library.database), len(scripted_openai.requests)
        [session] = (await citewell.library.sessions.list(ME)).sessions
        title = await citewell.library.sessions.auto_title(ME, session.session_id)
        late = [row for row in await stored(citewell.library.database) if row not in before]
    assert end.outcome == "answered"
    assert title != "New Chat"
    assert len(scripted_openai.requests) == told + calls
    assert [(row["kind"], row["model"], row["calls"]) for row in late] == [("title", "", 0), ("title", "any", 1)][
        : 2 * calls
    ]


SAID = {"id": "1", "role": "user", "content": QUESTION}
IN_PARTS = {"id": "1", "role": "user", "parts": [{"type": "text", "text": QUESTION}]}
TO_AGENT = {"threadId": "t", "runId": "r", "state": {}, "tools": [], "context": [], "forwardedProps": {}}
ASKING: list[tuple[str, dict[str, Any]]] = [
    ("/api/ai/chat/stream", {"messages": [{"role": "user", "content": QUESTION}], "model": ""}),
    ("/api/docs-chat/messages", {"query": QUESTION}),
    ("/api/rag/query-stream", {"query": QUESTION, "conversationId": "c1"}),
    ("/api/workspaces/default/messages", {"content": QUESTION}),
    ("/api/rag-chat/stream", {"messages": [{"role": "user", "content": QUESTION}]}),
    ("/api/chat", {"id": "c", "messages": [IN_PARTS]}),
    ("/agui", {**TO_AGENT, "messages": [SAID]}),
    ("/v1/chat/completions", {"model": "extractive", "messages": [{"role": "user", "content": QUESTION}]}),
    ("/v1/responses", {"model": "extractive", "input": QUESTION}),
]


@pytest.fixture
async def spent(settings: Settings, citewell: Citewell) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a deployment in which nobody may ask anything any more today."""
    used_up = settings.model_copy(update={"spending": SpendingSettings.model_validate({"user": {"runs": 0}})})
    async with open_citewell(used_up) as closed, client_of(create_app(used_up, citewell=closed)) as client:
        yield client


async def test_every_format_says_in_its_own_way_that_the_day_is_used_up(spent: httpx.AsyncClient) -> None:
    for path, body in ASKING:
        reply = await spent.post(path, json=body)
        assert reply.status_code == 429, (path, reply.text)
        assert int(reply.headers["retry-after"]) > 0, path
        assert "limit of 0 questions" in reply.text, path
        if path.startswith("/v1/"):
            error = reply.json()["error"]
            assert (error["type"], error["code"]) == ("insufficient_quota", "insufficient_quota")
    # An EventSource reads no error status.
    params = {"query": QUESTION, "conversationId": "c2"}
    framed = await spent.get("/api/rag/query-stream", params=params, headers={"accept": "text/event-stream"})
    assert framed.status_code == 200
    assert "spending_limit_reached" in framed.text


async def test_openais_client_raises_its_own_error_at_once(spent: httpx.AsyncClient) -> None:
    sent: list[httpx2.Request] = []

    async def note(request: httpx2.Request) -> None:
        sent.append(request)

    http = openai.DefaultAsyncHttpxClient(event_hooks={"request": [note]}, trust_env=False)
    base_url = f"{str(spent.base_url).rstrip('/')}/v1"
    async with openai.AsyncOpenAI(base_url=base_url, api_key="none", max_retries=2, http_client=http) as client:
        with pytest.raises(openai.RateLimitError) as raised:
            await client.chat.completions.create(model="extractive", messages=[{"role": "user", "content": QUESTION}])
    assert raised.value.code == "insufficient_quota"
    assert len(sent) == 1


async def test_a_run_stops_asking_models_where_the_day_is_used_up_while_it_goes_on(
    settings: Settings, scripted_openai: ScriptedOpenAI
) -> None:
    """It goes on without models, as at any other cap, and exceeds the limit by no more than the call in progress."""
    async with opened(settings, scripted_openai, user={"tokens": 10}) as citewell:
        end = await ask(citewell, effort="thorough")
        (_, model) = await stored(citewell.library.database)
    assert (model["calls"], model["input_tokens"] + model["output_tokens"]) == (1, 42)
    assert (end.outcome, end.stop_reason) == ("answered", "budget_day")
    assert "25 days" in end.message["answer"]  # quoted, since no model may write


async def test_processes_share_what_they_count(settings: Settings, scripted_openai: ScriptedOpenAI) -> None:
    limits = {"workspace": {"tokens": 40}}  # fewer than one call takes
    async with (
        opened(settings, scripted_openai, **limits) as one,
        opened(settings, scripted_openai, filled=False, **limits) as other,
    ):
        await ask(one)
        with pytest.raises(SpendingLimitReached):
            await ask(other)


async def test_of_runs_that_begin_together_no_more_are_let_in_than_are_left(
    citewell: Citewell, settings: Settings
) -> None:
    limited = settings.model_copy(update={"spending": SpendingSettings.model_validate({"user": {"runs": 3}})})
    async with open_citewell(limited) as other:
        ends = await asyncio.gather(*(ask(other) for _ in range(8)), return_exceptions=True)
    assert sum(isinstance(end, RunFinished) for end in ends) == 3
    assert sum(isinstance(end, SpendingLimitReached) for end in ends) == 5
    assert len(await stored(citewell.library.database)) == 3


@pytest.mark.usefixtures("same_day")
async def test_yesterday_does_not_count_today(citewell: Citewell, settings: Settings) -> None:
    await ask(citewell)
    async with citewell.library.database.connection() as connection:
        await connection.execute("UPDATE spending SET day = day - 1")
    limited = settings.model_copy(update={"spending": SpendingSettings.model_validate({"user": {"runs": 1}})})
    async with open_citewell(limited) as other:
        await ask(other)
        with pytest.raises(SpendingLimitReached):
            await ask(other)


async def test_each_key_and_each_address_has_limits_of_its_own(settings: Settings, citewell: Citewell) -> None:
    keys = ApiKeys(citewell.library.database, citewell.library.workspaces)
    one, other = [await keys.create("default", "ann") for _ in range(2)]
    limited = settings.model_copy(
        update={
            "auth": AuthSettings(mode="keys"),
            "spending": SpendingSettings.model_validate({"key": {"runs": 1}, "address": {"runs": 2}}),
        }
    )

    async def asked(client: httpx.AsyncClient, key: str) -> httpx.Response:
        return await client.post("/api/docs-chat/messages", json={"query": QUESTION}, headers={"x-api-key": key})

    async with open_citewell(limited) as opened, client_of(create_app(limited, citewell=opened)) as client:
        assert (await asked(client, one)).status_code == 200
        refused = await asked(client, one)
        assert refused.status_code == 429
        assert "This API key" in refused.text
        call = {"name": "ask", "arguments": {"question": QUESTION}}
        tool = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        accept = {"x-api-key": one, "accept": "application/json, text/event-stream"}
        assert "This API key" in (await client.post("/mcp", json=tool, headers=accept)).text
        assert (await asked(client, other)).status_code == 200
        third = await keys.create("default", "bob")
        refused = await asked(client, third)
        assert refused.status_code == 429
        assert "This address has used up" in refused.text
        rows = await stored(opened.library.database)
        assert {row["key_id"] for row in rows} == {key_id(one), key_id(other)}
        assert {row["address"] for row in rows} == {"127.0.0.1"}
        async with opened.library.database.connection() as connection:
            await connection.execute("UPDATE spending SET day = day - 1")
        await opened.library.spending.expire()
        assert {row["address"] for row in await stored(opened.library.database)} == {None}


async def test_an_address_is_kept_only_for_a_limit(citewell: Citewell, client: httpx.AsyncClient) -> None:
    assert (await client.post("/api/docs-chat/messages", json={"query": QUESTION})).status_code == 200
    assert [row["address"] for row in await stored(citewell.library.database)] == [None]


async def test_a_verification_is_charged_and_asks_no_judge_beyond_the_limit(
    settings: Settings, scripted_openai: ScriptedOpenAI
) -> None:
    body = {"claims": ["Employees are given twenty-five days off by generous custom."], "judge": True}
    async with opened(settings, scripted_openai, **PRICED, user={"tokens": 1}) as citewell:
        app = create_app(citewell.library.settings, citewell=citewell)
        async with client_of(app) as client:
            first = await client.post("/api/verify", json=body)
            rows = await stored(citewell.library.database)
            before = len(scripted_openai.requests)
            second = await client.post("/api/verify", json=body)
    assert first.status_code == second.status_code == 200
    if before:  # a judge that passed no exam is not asked
        assert [row["kind"] for row in rows] == ["verification", "verification"]
    assert len(scripted_openai.requests) == before


@pytest.mark.usefixtures("same_day")
async def test_everybody_sees_their_own_use_by_day_model_user_and_session(
    settings: Settings, scripted_openai: ScriptedOpenAI
) -> None:
    async with opened(settings, scripted_openai, **PRICED) as citewell:
        await ask(citewell)
        await ask(citewell, model="extractive")
        session = await citewell.library.sessions.create(Identity("default", "bob"))
        run = await citewell.runner.start(session.session_id, RunRequest(QUESTION, Context(user="bob")))
        await run.finished()
        app = create_app(citewell.library.settings, citewell=citewell)
        async with client_of(app) as client:

            async def report(**params: str) -> Any:
                return (await client.get("/api/spending", params=params)).json()

            mine = await report(by="model")
            all_users = await report(by="user", of="everyone")
            by_day, by_session = await report(), await report(by="session")
            empty = await report(until="2020-01-31")
            wrong = await client.get("/api/spending", params={"since": "2021-01-02", "until": "2021-01-01"})
    assert [row["name"] for row in mine["rows"]] == ["any"]
    assert mine["total"]["runs"] == 2
    assert mine["rows"][0]["runs"] == 1
    assert {row["name"]: row["runs"] for row in all_users["rows"]} == {"local": 2, "bob": 1}
    assert [row["name"] for row in by_day["rows"]] == [str(datetime.now(UTC).date())]
    assert len(by_session["rows"]) == 2
    assert sum(Decimal(row["costs"][0]["amount"]) for row in by_session["rows"] if row["costs"]) == Decimal(
        by_day["total"]["costs"][0]["amount"]
    )
    assert empty["rows"] == []
    assert empty["total"]["runs"] == 0
    assert empty["since"] == "2020-01-02"
    assert wrong.status_code == 422


async def test_others_use_is_for_those_who_may_see_it(settings: Settings, citewell: Citewell) -> None:
    keys = ApiKeys(citewell.library.database, citewell.library.workspaces)
    own = {"x-api-key": await keys.create("default", "ann", terms=KeyTerms(frozenset({"ask"})))}
    all_of_it = {"x-api-key": await keys.create("default", "ann", terms=KeyTerms(frozenset({"ask", "admin"})))}
    reader = {"x-api-key": await keys.create("default", "ann", terms=KeyTerms(frozenset({"read"})))}
    public = {
        "x-api-key": await keys.create("default", "page", terms=KeyTerms(frozenset({"ask"}), is_public=True)),
    }
    by_key = settings.model_copy(update={"auth": AuthSettings(mode="keys")})
    async with client_of(create_app(by_key, citewell=citewell)) as client:

        async def report(headers: dict[str, str], of: str) -> httpx.Response:
            return await client.get("/api/spending", params={"of": of}, headers=headers)

        assert (await report(own, "me")).status_code == 200
        refused = await report(own, "everyone")
        assert (await report(all_of_it, "everyone")).json()["of"] == "everyone"
        assert (await report(reader, "me")).status_code == 403
        listed = await report(public, "me")  # it would name the sessions of other strangers
    assert refused.status_code == listed.status_code == 403
    assert "your own use alone" in refused.json()["detail"]
    assert refused.json()["code"] == listed.json()["code"] == "not_permitted"


async def test_mcp_tells_a_model_until_when_it_has_to_wait(settings: Settings, citewell: Citewell) -> None:
    from mcp import Client

    used_up = settings.model_copy(update={"spending": SpendingSettings.model_validate({"user": {"runs": 0}})})
    async with (
        open_citewell(used_up) as closed,
        served(create_app(used_up, citewell=closed)) as url,
        Client(f"{url}/mcp") as client,
    ):
        refused = await client.call_tool("ask", {"question": QUESTION})
    assert refused.is_error
    assert refused.meta is not None
    assert refused.meta["citewell/error"]["code"] == "spending_limit_reached"
    assert "00:00 UTC" in refused.content[0].text  # type: ignore[union-attr]
