"""/metrics: what is counted is what is stored, whatever happens to clients, runs and connections."""

import asyncio
import json
import re
import socket
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families
from pydantic import SecretStr, ValidationError

from api.app import create_app
from api.metrics_server import gatherers_of, serve_metrics
from graph.entrypoint import Citewell, open_runner
from graph.errors import ConfigurationError
from graph.evidence import Hit
from graph.ports import Draft
from graph.usage import Meter
from tests.api.conftest import new_session
from tests.api.reading import events_of
from tests.api.scraping import grown, parsed, scrape
from tests.api.serving import client_of
from tests.fakes import MemoryLibrary, ScriptedChecker, ScriptedFamily, ScriptedJudge, quote, resources, segment
from tests.postgres.proxy import Proxy, proxied
from tests.postgres.test_faults import END_ALL
from tools.auth.api_keys import ApiKeys, KeyTerms
from tools.process.library import open_library
from tools.settings import AuthSettings, MetricsSettings, RunSettings, Settings
from tools.storage.database import Database

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
SUFFIXES = {"counter": ("_total",), "histogram": ("_bucket", "_count", "_sum")}
RUNS = 96
AT_ONCE = 12
BETWEEN_FAULTS = 8  # runs that begin
# What its writer writes to a question, a section a word: code gives the verdict that a section begins with, and
# a judge decides what code left unverified, as the word in brackets says. "held" holds the writer up for good.
QUESTIONS = (
    "Supported",
    "Supported Supported Unverified-(supported)",
    "Unverified-(silent) Supported",
    "Supported Contradicted",
    "Unverified-(unsupported) Supported",
    "Contradicted",
)
LEAVE = segment("handbook", 0, " ".join(["annual leave held", *QUESTIONS]))
STORED_VERDICTS = """
SELECT claim ->> 'verdict', coalesce(claim ->> 'by', 'nobody'), count(*)
FROM messages, jsonb_array_elements(body -> 'claims') AS claim WHERE role = 'assistant' GROUP BY 1, 2
"""
STORED_ENDS = "SELECT outcome, stop_reason, count(*) FROM runs GROUP BY 1, 2"


class WordWriter(ScriptedFamily):
    """A family that writes a section for each word of the question but the first two, which find the segment."""

    async def write(
        self, question: str, sources: Sequence[Hit], *, language: str, meter: Meter
    ) -> AsyncIterator[Draft]:
        meter.call()
        for word in question.split()[2:]:
            if word == "held":
                await asyncio.Event().wait()
            for draft in quote(word.replace("-", " "), LEAVE.segment_id):
                yield draft


class SilentJudge(ScriptedJudge):
    """A judge that has no verdict on what says so."""

    def _verdict(self, claim: str) -> Any:
        return None if "(silent)" in claim else super()._verdict(claim)


def ports() -> Any:
    return resources(MemoryLibrary([LEAVE]), WordWriter(), checker=ScriptedChecker(), judge=SilentJudge())


async def stored(database: Database, query: str) -> Counter[tuple[str, ...]]:
    async with database.connection() as connection:
        rows = await (await connection.execute(query)).fetchall()  # type: ignore[arg-type]
    return Counter({tuple(row[:-1]): row[-1] for row in rows})


async def wait_until_all_have_ended(database: Database) -> None:
    async with asyncio.timeout(60), database.connection() as connection:
        while True:
            found = await connection.execute("SELECT count(*) FROM runs WHERE status <> 'finished'")
            if await found.fetchone() == (0,):
                return
            await asyncio.sleep(0.05)


class Clients:
    """Clients that ask one question each; most read to the end, others leave or cancel."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self.client = client
        self.turn = asyncio.Semaphore(0)  # released for each client that begins
        self._left: list[str] = []  # where the runs of a reader are listed that was to leave, and ends its run by that

    async def ask(self, number: int) -> None:
        """Ask until the run is accepted: a fault may refuse a session or a run, and then it was none."""
        self.turn.release()
        asked: dict[str, Any] = {"question": f"annual leave {QUESTIONS[number % len(QUESTIONS)]}"}
        way = number % 10
        if way in (0, 2):  # ends by being cancelled: because its reader leaves, or by request
            asked["question"] += " held"
        if way in (1, 2):
            asked["on_disconnect"] = "continue"
        accepted = False
        while not accepted:
            session = await self.client.post("/api/sessions", json={})
            if session.status_code == 201:
                url = f"/api/sessions/{session.json()['session_id']}/runs"
                accepted = await self._follow(url, asked, leave=way in (0, 1), cancel=way == 2)
                if way == 2:  # a fault may have ended the stream before the run had told its id
                    await self._cancel_what_goes_on(url)
                elif way == 0:
                    self._left.append(url)

    async def cancel_what_goes_on_unread(self) -> None:
        """Cancel runs whose stream a fault had ended before their reader could leave."""
        for url in self._left:
            await self._cancel_what_goes_on(url)

    async def _follow(self, url: str, asked: dict[str, Any], *, leave: bool, cancel: bool) -> bool:
        run_id = None
        with suppress(httpx.HTTPError):  # a stream that a fault has ended
            async with self.client.stream("POST", url, json=asked) as response:
                if response.status_code != 200:
                    return False
                async for line in response.aiter_lines():
                    if run_id is None and (found := re.search(r'"run_id":"([^"]+)"', line)):
                        run_id = found[1]
                        if cancel:
                            await self._cancel(run_id)
                    if leave and "section_started" in line:
                        break
        return True

    async def _cancel_what_goes_on(self, url: str) -> None:
        while (listed := await self.client.get(url)).status_code != 200:  # noqa: ASYNC110 - it asks again
            await asyncio.sleep(0.05)
        for run in listed.json()["runs"]:
            if run["status"] != "finished":
                await self._cancel(run["run_id"])

    async def _cancel(self, run_id: str) -> None:
        """Cancel a run; a fault may refuse that, too."""
        while (await self.client.post(f"/api/runs/{run_id}/cancel")).status_code >= 500:  # noqa: ASYNC110 - it asks again
            await asyncio.sleep(0.05)


async def break_connections(clients: Clients, proxy: Proxy, database: Database) -> None:
    """End connections to the database while runs are being answered, also between a commit and its reply."""
    rounds = 0
    while True:
        for _ in range(BETWEEN_FAULTS):
            await clients.turn.acquire()
        rounds += 1
        if rounds % 3 == 0:
            proxy.cut()
        elif rounds % 3 == 1:
            proxy.swallow_answers_to = b"COMMIT"
        else:
            async with database.connection() as connection:
                await connection.execute(END_ALL)


@pytest.mark.timeout(300)
async def test_verdicts_and_ends_are_those_of_the_stored_messages_after_many_runs_with_faults(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tools.runs.notifications.RETRY_SECONDS", 0.1)
    monkeypatch.setattr("tools.runs.runner.LEASE_SECONDS", 1.0)
    assert settings.database_url is not None
    own = RunSettings(drain_seconds=0, max_active=AT_ONCE)
    async with (
        open_library(settings) as direct,
        proxied(settings.database_url.get_secret_value()) as (proxy, url),
        open_library(
            settings.model_copy(update={"database_url": SecretStr(url), "runs": own, "pool_size": 10})
        ) as library,
        open_runner(library, library.settings.model_copy(update={"auto_title": False}), resources=ports()) as citewell,
        client_of(create_app(library.settings, citewell=citewell)) as client,
    ):
        citewell.runner.take_over_abandoned()
        before = await scrape(client)
        clients = Clients(client)
        turns = asyncio.Semaphore(AT_ONCE)

        async def ask(number: int) -> None:
            async with turns:
                await clients.ask(number)

        breaking = asyncio.create_task(break_connections(clients, proxy, direct.database))
        await asyncio.gather(*map(ask, range(RUNS)))
        breaking.cancel()
        proxy.swallow_answers_to = None
        await clients.cancel_what_goes_on_unread()
        await wait_until_all_have_ended(direct.database)
        after = await scrape(client)
        ends, verdicts = await stored(direct.database, STORED_ENDS), await stored(direct.database, STORED_VERDICTS)
        assert grown(before, after, "citewell_runs_total", "outcome", "stop_reason") == ends
        assert grown(before, after, "citewell_verdicts_total", "verdict", "by") == verdicts
    assert sum(ends.values()) >= RUNS
    assert {outcome for outcome, _ in ends} >= {"answered", "abstained", "cancelled"}
    assert set(verdicts) == {("supported", "text"), ("supported", "judge"), ("unverified", "nobody")}


@pytest.mark.timeout(180)
async def test_an_end_whose_reply_was_lost_is_told_and_counted_once(settings: Settings) -> None:
    assert settings.database_url is not None
    async with (
        proxied(settings.database_url.get_secret_value()) as (proxy, url),
        open_library(settings.model_copy(update={"database_url": SecretStr(url)})) as library,
        open_runner(library, library.settings.model_copy(update={"auto_title": False}), resources=ports()) as citewell,
        client_of(create_app(library.settings, citewell=citewell)) as client,
    ):
        before = await scrape(client)
        session_id = await new_session(client)
        proxy.swallow_answers_to = b"COMMIT"  # the end's transaction is the only one of a run
        events = events_of(
            await client.post(f"/api/sessions/{session_id}/runs", json={"question": "annual leave Supported"})
        )
        assert proxy.swallow_answers_to is None
        assert [event["type"] for event in events].count("run_finished") == 1
        assert grown(before, await scrape(client), "citewell_runs_total", "outcome") == {("answered",): 1}


async def test_routes_are_counted_by_their_templates(shared_client: httpx.AsyncClient) -> None:
    before = await scrape(shared_client)
    session_id = await new_session(shared_client)
    await shared_client.get(f"/api/sessions/{session_id}")
    await shared_client.get(f"/nothing/{session_id}")
    after = await scrape(shared_client)
    assert grown(before, after, "citewell_http_requests_total", "method", "route", "status") == {
        ("POST", "/api/sessions", "201"): 1,
        ("GET", "/api/sessions/{session_id}", "200"): 1,
        ("GET", "other", "404"): 1,
        ("GET", "/metrics", "200"): 1,
    }


async def test_a_request_that_breaks_is_counted_as_an_error_of_the_server(
    settings: Settings, citewell: Citewell
) -> None:
    app = create_app(settings, citewell=citewell)

    @app.get("/broken")
    async def broken() -> None:
        raise ZeroDivisionError

    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        before = await scrape(client)
        assert (await client.get("/broken")).status_code == 500
        found = grown(before, await scrape(client), "citewell_http_requests_total", "route", "status")
    assert found[("/broken", "500")] == 1


async def test_no_label_names_anybody_or_anything_that_is_theirs(shared_client: httpx.AsyncClient) -> None:
    session_id = await new_session(shared_client)
    asked = await shared_client.post(
        f"/api/sessions/{session_id}/runs", json={"question": "How many days of annual leave are there?"}
    )
    run_id = events_of(asked)[0]["run_id"]
    text = (await shared_client.get("/metrics")).text
    assert {value for (_, pairs) in parsed(text) for _, value in pairs}.isdisjoint({"default", "local"})
    for told in (session_id, run_id, "annual", "handbook"):
        assert told not in text


async def test_the_state_of_the_process_is_read_at_each_scrape(shared_client: httpx.AsyncClient) -> None:
    found = await scrape(shared_client)
    read = {(name, *dict(pairs).values()): value for (name, pairs), value in found.items()}
    assert read[("citewell_database_up",)] == 1
    assert read[("citewell_runs_limit", "active")] == 16
    assert read[("citewell_pool_connections", "most")] == 4
    for state in ("queued", "running", "paused", "cancelled", "finished"):
        assert ("citewell_jobs", state) in read
    assert read[("citewell_live_streams",)] == read[("citewell_run_leases",)] == 0
    assert read[("citewell_tasks",)] >= 1  # the one that reads it


async def test_the_format_is_the_one_that_is_accepted(shared_client: httpx.AsyncClient) -> None:
    plain = await shared_client.get("/metrics")
    assert plain.headers["content-type"].startswith("text/plain; version=")
    openmetrics = await shared_client.get("/metrics", headers={"Accept": "application/openmetrics-text; version=1.0.0"})
    assert openmetrics.headers["content-type"].startswith("application/openmetrics-text")
    assert openmetrics.text.endswith("# EOF\n")


async def test_strangers_read_no_metrics(settings: Settings, citewell: Citewell) -> None:
    keyed = settings.model_copy(update={"auth": AuthSettings(mode="keys")})
    async with client_of(create_app(keyed, citewell=citewell)) as client:
        assert (await client.get("/metrics")).status_code == 401
        keys = ApiKeys(citewell.library.database, citewell.library.workspaces)
        for terms, status in (
            (KeyTerms(), 403),
            (KeyTerms(frozenset({"admin"}), spaces=("handbook",)), 403),
            (KeyTerms(frozenset({"admin"})), 200),
        ):
            headers = {"authorization": f"Bearer {await keys.create('default', 'ann', terms=terms)}"}
            assert (await client.get("/metrics", headers=headers)).status_code == status


@pytest.mark.parametrize("place", ["127.0.0.1:0", "off"])
async def test_a_setting_takes_them_elsewhere_or_away(settings: Settings, citewell: Citewell, place: str) -> None:
    elsewhere = settings.model_copy(update={"metrics": MetricsSettings(listen=place)})
    async with (
        client_of(create_app(elsewhere, citewell=citewell)) as client,
        serve_metrics(elsewhere.metrics, gatherers_of(citewell)) as port,
    ):
        assert (await client.get("/metrics")).status_code == 404
        assert (port is None) == (place == "off")
        if port is not None:
            answer = await client.get(f"http://127.0.0.1:{port}/metrics")
            assert ("citewell_database_up", frozenset()) in parsed(answer.text)


@pytest.mark.parametrize("place", ["port", "9464", ":9464", "127.0.0.1:", "127.0.0.1:70000", "[::1]:http"])
def test_a_place_that_is_none_is_refused(place: str) -> None:
    with pytest.raises(ValidationError, match="host:port"):
        MetricsSettings(listen=place)


async def test_a_taken_port_is_said_with_the_setting_that_names_another(citewell: Citewell) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        serving = serve_metrics(MetricsSettings(listen=address), gatherers_of(citewell))
        with pytest.raises(ConfigurationError) as refused:
            await serving.__aenter__()
    assert "CITEWELL_METRICS__LISTEN" in refused.value.advice


async def test_calls_and_tokens_of_a_model_are_counted(model_client: httpx.AsyncClient) -> None:
    before = await scrape(model_client)
    session_id = await new_session(model_client)
    await model_client.post(f"/api/sessions/{session_id}/runs", json={"question": "How long is the notice period?"})
    after = await scrape(model_client)
    calls = grown(before, after, "citewell_model_calls_total", "operation", "model", "code")
    tokens = grown(before, after, "citewell_model_tokens_total", "operation", "model", "type")
    assert calls[("chat", "any", "ok")] == sum(calls.values()) > 0
    assert tokens[("chat", "any", "input")] > 0
    assert tokens[("chat", "any", "output")] > 0


async def test_every_metric_that_the_board_and_the_alerts_ask_for_is_served(shared_client: httpx.AsyncClient) -> None:
    families = list(text_string_to_metric_families((await shared_client.get("/metrics")).text))
    served = {family.name + suffix for family in families for suffix in SUFFIXES.get(family.type, ("",))}
    board = json.loads((DEPLOY / "grafana" / "citewell.json").read_text(encoding="utf-8"))
    rules = yaml.safe_load((DEPLOY / "prometheus" / "alerts.yaml").read_text(encoding="utf-8"))
    asked = [target["expr"] for panel in board["panels"] for target in panel.get("targets", ())]
    asked += [rule["expr"] for group in rules["groups"] for rule in group["rules"]]
    named = {name for expr in asked for name in re.findall(r"\b(?:citewell|process)_[a-z_]+", expr)}
    assert len(named) > 20
    assert named <= served


def test_the_board_can_be_imported() -> None:
    board = json.loads((DEPLOY / "grafana" / "citewell.json").read_text(encoding="utf-8"))
    (source,) = board["__inputs"]
    assert (source["type"], source["pluginId"]) == ("datasource", "prometheus")
    assert board["id"] is None  # Grafana gives one
    ids = [panel["id"] for panel in board["panels"]]
    assert len(set(ids)) == len(ids)
    for panel in board["panels"]:
        at = panel["gridPos"]
        assert at["x"] + at["w"] <= 24
        if panel["type"] != "row":
            assert panel["datasource"]["uid"] == f"${{{source['name']}}}"
            assert panel["targets"]
            assert panel["description"]
            letters = [target["refId"] for target in panel["targets"]]
            assert len(set(letters)) == len(letters)
