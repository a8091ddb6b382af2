"""Comparisons and flashcards over HTTP: every cell and card is checked, bounded, and charged."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import httpx
import pytest

from api.app import create_app
from evals.scripted_replies import judged
from graph.entrypoint import Citewell, open_citewell
from graph.evidence import Identity
from tests.api.conftest import HANDBOOK, TRAVEL, with_model
from tests.api.serving import client_of
from tests.scripted_openai import Hold, Reply, Say, ScriptedOpenAI, answer, say
from tools.auth.api_keys import ApiKeys, KeyTerms
from tools.auth.identities import Limits
from tools.library.ingestion import NewDocument
from tools.settings import AuthSettings, RunSettings, Settings, SpendingSettings

OLD = str(uuid4())
LEAVE = "Every employee gets 25 days of annual leave a year."
OLD_LEAVE = "Every employee gets 20 days of annual leave a year."
QUESTION = "How many days of annual leave does an employee get?"
COMPARED = {"document_ids": [HANDBOOK, OLD], "question": QUESTION}


async def put(citewell: Citewell, document_id: str, title: str, text: str, **fields: Any) -> None:
    document = NewDocument(document_id=document_id, name=f"{title}.md", title=title, text=text, **fields)
    await citewell.library.ingestor.ingest(Identity(), document)


def quotes(cell: dict[str, Any]) -> list[str]:
    return [each["quote"] for claim in cell["claims"] for each in claim["citations"]]


async def test_without_a_model_documents_are_quoted_side_by_side(client: httpx.AsyncClient, citewell: Citewell) -> None:
    await put(citewell, OLD, "Old handbook", f"# Leave\n\n{OLD_LEAVE}\n")
    asked = {"document_ids": [HANDBOOK, OLD, TRAVEL], "question": QUESTION}
    compared = (await client.post("/api/comparisons", json=asked)).json()
    assert compared["by"] == "quotes"
    assert [each["title"] for each in compared["documents"]] == ["Staff handbook", "Old handbook", "Travel policy"]
    [row] = compared["rows"]
    assert [each["state"] for each in row["cells"]] == ["said", "said", "nothing"]
    assert LEAVE in quotes(row["cells"][0])[0]
    assert OLD_LEAVE in quotes(row["cells"][1])[0]
    assert {each["document_id"] for claim in row["cells"][1]["claims"] for each in claim["citations"]} == {OLD}
    refused = await client.post("/api/comparisons", json={"document_ids": [HANDBOOK, OLD]})
    assert (refused.status_code, refused.json()["detail"].startswith("question:")) == (422, True)


@pytest.mark.parametrize("ids", [[HANDBOOK], [HANDBOOK, HANDBOOK], [HANDBOOK, "x"], [str(uuid4()) for _ in range(6)]])
async def test_two_to_five_documents_are_compared_each_once(client: httpx.AsyncClient, ids: list[str]) -> None:
    refused = await client.post("/api/comparisons", json={"document_ids": ids, "question": QUESTION})
    assert (refused.status_code, "document_ids" in refused.text) == (422, True)


async def test_nothing_is_told_of_what_the_asker_may_not_read(client: httpx.AsyncClient, citewell: Citewell) -> None:
    await put(citewell, OLD, "Old handbook", f"{OLD_LEAVE}\n", readers=["user:ann"], owner="ann")
    asked = {"document_ids": [HANDBOOK, OLD], "question": QUESTION}
    for path in ("/api/comparisons", "/api/flashcards"):
        refused = await client.post(path, json=asked if "comp" in path else {"document_ids": [OLD]})
        assert (refused.status_code, "Old handbook" in refused.text) == (404, False)


async def test_a_model_proposes_points_and_what_its_judge_doubts_is_left_out(
    settings: Settings, scripted_openai: ScriptedOpenAI
) -> None:
    configured = with_model(settings, scripted_openai)
    async with open_citewell(configured) as citewell, client_of(create_app(configured, citewell=citewell)) as client:
        await put(citewell, HANDBOOK, "Staff handbook", f"# Leave\n\n{LEAVE}\n")
        await put(citewell, OLD, "Old handbook", f"# Leave\n\n{OLD_LEAVE}\n")
        rows = [{"segment_id": f"{HANDBOOK}:0", "quote": LEAVE, "question": QUESTION}]
        scripted_openai.script(say(json.dumps({"questions": rows})), to="propose_questions")
        said = {"text": "An employee has 25 days off.", "source_ids": [f"{HANDBOOK}:0"]}
        wrong = {"text": "An employee has 30 days off.", "source_ids": [f"{OLD}:0"]}
        scripted_openai.script(answer(said), to="generate_answer", when="25 days")
        scripted_openai.script(answer(wrong), to="generate_answer", when="20 days")
        scripted_openai.script(say(json.dumps({"1": judged("supported")})), to="judge_claims", when="25 days off")
        scripted_openai.script(say(json.dumps({"1": judged("contradicted")})), to="judge_claims", when="30 days off")
        compared = (await client.post("/api/comparisons", json={"document_ids": [HANDBOOK, OLD]})).json()
        assert (compared["by"], [row["point"] for row in compared["rows"]]) == ("model", [QUESTION])
        good, doubted = compared["rows"][0]["cells"]
        assert (good["state"], good["claims"][0]["text"], quotes(good)) == ("said", said["text"], [LEAVE])
        assert doubted == {"document_id": OLD, "state": "doubted", "claims": [], "sources": []}
        spent = (await client.get("/api/spending")).json()["total"]
        assert (spent["calls"], spent["runs"]) == (5, 1)


async def test_what_is_late_or_has_no_budget_stays_unasked(
    settings: Settings, scripted_openai: ScriptedOpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    configured = with_model(settings, scripted_openai)
    async with open_citewell(configured) as citewell, client_of(create_app(configured, citewell=citewell)) as client:
        await put(citewell, HANDBOOK, "Staff handbook", f"# Leave\n\n{LEAVE}\n")
        await put(citewell, OLD, "Old handbook", f"# Leave\n\n{OLD_LEAVE}\n")
        monkeypatch.setattr("tools.studies.comparisons.MOST_SECONDS", 0.0)
        asked = {"document_ids": [HANDBOOK, OLD], "question": QUESTION}
        [row] = (await client.post("/api/comparisons", json=asked)).json()["rows"]
        assert [each["state"] for each in row["cells"]] == ["unasked", "unasked"]


async def test_cards_are_definitions_and_questions_of_documents_without_a_model(
    client: httpx.AsyncClient, citewell: Citewell
) -> None:
    text = (
        "<dl><dt>Floor host</dt><dd>The person who opens the office in the morning.</dd></dl>"
        "<h2>What is a green slip?</h2><p>A green slip is a note that goes with goods sent back to a supplier.</p>"
    )
    await put(citewell, OLD, "Words", text, media_type="text/html")
    made = (await client.post("/api/flashcards", json={"document_ids": [OLD]})).json()
    assert (made["by"], made["dropped"]) == ("documents", 0)
    cards = {each["question"]: quotes(each["answer"])[0] for each in made["cards"]}
    assert cards["Floor host"] == "The person who opens the office in the morning."
    assert "goods sent back to a supplier" in cards["What is a green slip?"]
    none = (await client.post("/api/flashcards", json={"document_ids": [TRAVEL]})).json()
    assert none == {"by": "documents", "cards": [], "dropped": 0}


async def test_a_models_cards_are_dropped_where_their_answer_is_not_confirmed(
    settings: Settings, scripted_openai: ScriptedOpenAI
) -> None:
    configured = with_model(settings, scripted_openai)
    async with open_citewell(configured) as citewell, client_of(create_app(configured, citewell=citewell)) as client:
        await put(citewell, HANDBOOK, "Staff handbook", f"# Leave\n\n{LEAVE} Unused leave lapses in March.\n")
        lapses = "When does unused leave lapse?"
        rows = [
            {"segment_id": f"{HANDBOOK}:0", "quote": LEAVE, "question": QUESTION},
            {"segment_id": f"{HANDBOOK}:0", "quote": "Unused leave lapses in March.", "question": lapses},
        ]
        scripted_openai.script(say(json.dumps({"questions": rows})), to="propose_questions")
        good = {"text": "Unused leave lapses in March.", "source_ids": [f"{HANDBOOK}:0"]}
        wrong = {"text": "It is 30 days by now.", "source_ids": [f"{HANDBOOK}:0"]}
        scripted_openai.script(answer(good), to="generate_answer", when=lapses)
        scripted_openai.script(answer(wrong), to="generate_answer", when=QUESTION)
        scripted_openai.script(say(json.dumps({"1": judged("contradicted")})), to="judge_claims", when="30 days")
        made = (await client.post("/api/flashcards", json={"document_ids": [HANDBOOK]})).json()
        assert ([each["question"] for each in made["cards"]], made["dropped"]) == ([lapses], 1)
        assert made["cards"][0]["answer"]["claims"][0]["text"] == good["text"]


async def test_a_limit_of_the_day_refuses_before_a_model_is_asked(
    settings: Settings, scripted_openai: ScriptedOpenAI
) -> None:
    spending = SpendingSettings.model_validate({"workspace": {"tokens": 40}})  # fewer than one call takes
    configured = with_model(settings, scripted_openai).model_copy(update={"spending": spending})
    async with open_citewell(configured) as citewell, client_of(create_app(configured, citewell=citewell)) as client:
        await put(citewell, HANDBOOK, "Staff handbook", f"# Leave\n\n{LEAVE}\n")
        await put(citewell, OLD, "Old handbook", f"# Leave\n\n{OLD_LEAVE}\n")
        asked = {"document_ids": [HANDBOOK, OLD], "question": QUESTION}
        assert (await client.post("/api/comparisons", json=asked)).status_code == 200
        assert (await client.get("/api/spending")).json()["total"]["runs"] == 1
        calls = len(scripted_openai.requests)
        for path, body in (("comparisons", asked), ("flashcards", {"document_ids": [OLD]})):
            refused = await client.post(f"/api/{path}", json=body)
            assert (refused.status_code, refused.json()["code"]) == (429, "spending_limit_reached")
        assert len(scripted_openai.requests) == calls
        assert (await client.post("/api/comparisons", json=asked | {"model": "extractive"})).status_code == 200


async def test_what_asks_many_questions_is_one_of_the_days_runs_also_without_a_model(
    settings: Settings, citewell: Citewell
) -> None:
    spending = SpendingSettings.model_validate({"user": {"runs": 3}})
    configured = settings.model_copy(update={"spending": spending})
    async with open_citewell(configured) as limited, client_of(create_app(configured, citewell=limited)) as client:
        asked = {"document_ids": [HANDBOOK, TRAVEL], "question": QUESTION}
        told = [(await client.post("/api/comparisons", json=asked)).status_code for _ in range(2)]
        unknown = await client.post("/api/comparisons", json=asked | {"document_ids": [HANDBOOK, OLD]})
        told.append((await client.post("/api/flashcards", json={"document_ids": [HANDBOOK]})).status_code)
        body = (await client.get("/api/spending")).json()
        refused = await client.post("/api/comparisons", json=asked)
    assert (told, unknown.status_code) == ([200, 200, 200], 404)
    assert (body["total"]["runs"], body["limits"][0]["used"]) == (3, "3")
    assert (refused.status_code, refused.json()["code"]) == (429, "spending_limit_reached")


async def test_no_more_begin_together_than_the_day_has_runs(settings: Settings, citewell: Citewell) -> None:
    spending = SpendingSettings.model_validate({"user": {"runs": 2}})
    configured = settings.model_copy(update={"spending": spending})
    async with open_citewell(configured) as limited, client_of(create_app(configured, citewell=limited)) as client:
        asked = {"document_ids": [HANDBOOK, TRAVEL], "question": QUESTION}
        told = await asyncio.gather(*(client.post("/api/comparisons", json=asked) for _ in range(4)))
    assert sorted(each.status_code for each in told) == [200, 200, 429, 429]


async def test_a_comparison_counts_as_a_run_of_its_key_and_a_refused_one_does_not(
    settings: Settings, citewell: Citewell
) -> None:
    keys = ApiKeys(citewell.library.database, citewell.library.workspaces)
    key = await keys.create("default", "ann", terms=KeyTerms(frozenset({"ask"}), limits=Limits(runs_a_day=1)))
    app = create_app(settings.model_copy(update={"auth": AuthSettings(mode="keys")}), citewell=citewell)
    async with client_of(app) as client:
        client.headers["authorization"] = f"Bearer {key}"
        unknown = {"document_ids": [HANDBOOK, OLD], "question": QUESTION}
        known = {"document_ids": [HANDBOOK, TRAVEL], "question": QUESTION}
        told = [(await client.post("/api/comparisons", json=body)).status_code for body in (unknown, known, known)]
        assert told == [404, 200, 429]


@asynccontextmanager
async def comparing(
    settings: Settings, endpoint: ScriptedOpenAI, *, max_active: int
) -> AsyncIterator[tuple[httpx.AsyncClient, asyncio.Task[httpx.Response], Hold]]:
    """Serve two handbooks, of which a comparison is under way whose model waits to be released."""
    configured = with_model(settings, endpoint).model_copy(update={"runs": RunSettings(max_active=max_active)})
    async with open_citewell(configured) as citewell, client_of(create_app(configured, citewell=citewell)) as client:
        await put(citewell, HANDBOOK, "Staff handbook", f"# Leave\n\n{LEAVE}\n")
        await put(citewell, OLD, "Old handbook", f"# Leave\n\n{OLD_LEAVE}\n")
        hold = Hold()
        endpoint.script(Reply(steps=[Say("{"), hold]), to="generate_answer", when="25 days")
        first = asyncio.create_task(client.post("/api/comparisons", json=COMPARED))
        await asyncio.to_thread(hold.wait_reached)
        yield client, first, hold


async def test_studies_take_turns_and_more_than_may_wait_are_refused(
    settings: Settings, scripted_openai: ScriptedOpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("api.routes.study_routes.WAITING_FOR_EACH", 1)
    async with comparing(settings, scripted_openai, max_active=3) as (client, first, hold):
        paths = {"comparisons": COMPARED, "flashcards": {"document_ids": [OLD]}}
        others = [asyncio.create_task(client.post(f"/api/{path}", json=body)) for path, body in paths.items()]
        [refused], [waiting] = await asyncio.wait(others, return_when=asyncio.FIRST_COMPLETED)
        told = refused.result()
        assert (told.status_code, told.json()["code"], "retry-after" in told.headers) == (503, "overloaded", True)
        assert len(scripted_openai.asked("generate_answer")) <= len(COMPARED["document_ids"])
        hold.release()
        assert [(await each).status_code for each in (first, waiting)] == [200, 200]


async def test_who_leaves_stops_the_work_which_was_a_run(
    settings: Settings, scripted_openai: ScriptedOpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tools.studies.asking.ANSWER_SECONDS", 600.0)  # it is not that which stops it
    async with comparing(settings, scripted_openai, max_active=1) as (client, leaving, _):
        leaving.cancel()
        [held] = [each for each in scripted_openai.asked("generate_answer") if "25 days" in each.text]
        assert await asyncio.to_thread(held.wait_disconnected)
        assert (await client.post("/api/comparisons", json=COMPARED)).status_code == 200  # the turn is free again
        spent = (await client.get("/api/spending")).json()["total"]
        assert (spent["runs"], spent["estimated_calls"] >= 1) == (2, True)
