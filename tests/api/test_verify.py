"""Verification over HTTP: other people's claims against given texts and against the library."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from api.app import create_app
from api.routes.verify_routes import AT_ONCE, verification_turns
from evals.scripted_replies import judged
from graph.entrypoint import Citewell, open_citewell
from graph.errors import Overloaded
from graph.evidence import ExamFigure, Identity
from graph.ports import Family, Judgement, OpenClaim
from graph.usage import Meter
from tests.api.conftest import HANDBOOK, TRAVEL, with_model
from tests.api.serving import client_of
from tests.scripted_openai import ScriptedOpenAI, say, status
from tools.backends.backend_registry import configured_families
from tools.judges.exam import built_in_exam
from tools.judges.exam_marking import LanguageResult
from tools.judges.exam_store import ExamStore, exam_key
from tools.judges.examiner import without_background_exam
from tools.judges.sequential_testing import Share
from tools.library.ingestion import NewDocument
from tools.settings import AuthSettings, RunSettings, Settings

LEAVE = "Unused leave lapses in March."
SOURCE = {"title": "Leave", "text": f"# Leave\n\nStaff get 25 days. {LEAVE}", "url": "https://wiki.example/leave"}
REWORDED = "Leave that staff have not used lapses when March comes."


async def verified(client: httpx.AsyncClient, **fields: Any) -> Any:
    response = await client.post("/api/verify", json=fields)
    assert response.status_code == 200, response.text
    return response.json()


async def test_an_answer_is_verified_against_given_texts(shared_client: httpx.AsyncClient) -> None:
    answer = f"{LEAVE} [1] Staff get 30 days [1]."
    reply = await verified(shared_client, answer=answer, sources=[SOURCE, "It rains."])
    right, wrong = reply["claims"]
    (quote,) = right["citations"]
    assert SOURCE["text"][quote["start"] : quote["end"]] == quote["quote"] == LEAVE
    assert (quote["source"], quote["title"], quote["url"]) == (1, "Leave", SOURCE["url"])
    assert (right["verdict"], right["by"], right["cited_ok"]) == ("supported", "text", True)
    assert (wrong["verdict"], wrong["cited_ok"]) == ("unverified", None)
    assert [(why["code"], why["parts"]) for why in wrong["why"]] == [("differs", ["25", "30"])]
    assert [claim["mark"] for claim in reply["claims"]] == ["shown", "withheld"]
    assert answer[wrong["start"] : wrong["end"]] == wrong["text"] == "Staff get 30 days [1]."
    assert reply["totals"] == {"supported": 1, "unverified": 1, "unsupported": 0, "contradicted": 0}
    assert (reply["judge"], reply["fallback"]) == (None, None)


async def test_claims_are_verified_against_the_library(shared_client: httpx.AsyncClient) -> None:
    reply = await verified(shared_client, claims=[LEAVE, "Zebras graze on distant savannahs."])
    right, wrong = reply["claims"]
    (quote,) = right["citations"]
    raw = (await shared_client.get(f"/api/documents/{HANDBOOK}/raw-text")).json()
    text = "".join(segment["text"] for segment in raw["segments"])
    assert (quote["document_id"], quote["source"]) == (HANDBOOK, None)
    assert text[quote["start"] : quote["end"]] == quote["quote"] == LEAVE
    assert (wrong["verdict"], wrong["citations"]) == ("unverified", [])
    assert "search_segments" in reply["spent"]


async def test_a_strict_verification_fails_on_what_is_unverified(shared_client: httpx.AsyncClient) -> None:
    for claims, strict, passed in (([REWORDED], False, True), ([REWORDED], True, False), ([LEAVE], True, True)):
        reply = await verified(shared_client, claims=claims, sources=[SOURCE], strict=strict)
        assert reply["passed"] is passed


async def test_the_library_is_searched_where_the_request_says(shared_client: httpx.AsyncClient) -> None:
    elsewhere = await verified(shared_client, claims=[LEAVE], document_ids=[TRAVEL])
    nowhere = await verified(shared_client, claims=[LEAVE], spaces=["nowhere"])
    within = await verified(shared_client, claims=[LEAVE], spaces=["people"])
    verdicts = [reply["claims"][0]["verdict"] for reply in (elsewhere, nowhere, within)]
    assert verdicts == ["unverified", "unverified", "supported"]


async def test_a_segment_that_the_answer_names_is_read(shared_client: httpx.AsyncClient) -> None:
    answer = f"{LEAVE} [SEG={HANDBOOK}:0] {LEAVE} [SEG={TRAVEL}:0]"
    right, wrong = (await verified(shared_client, answer=answer))["claims"]
    assert right["cited"] == [{"mark": f"[SEG={HANDBOOK}:0]", "source": None, "segment_id": f"{HANDBOOK}:0"}]
    assert (right["cited_ok"], wrong["verdict"], wrong["cited_ok"]) == (True, "supported", False)


async def test_what_another_user_keeps_is_not_found(settings: Settings, citewell: Citewell) -> None:
    diary = NewDocument(name="diary.md", text="The zebra in my diary is called Zora.")
    mine = await citewell.library.ingestor.ingest(Identity(user="ann"), replace(diary, owner="ann"))
    async with client_of(create_app(settings, citewell=citewell)) as client:
        reply = await verified(client, answer=f"The zebra in my diary is called Zora. [SEG={mine.document_id}:0]")
    assert reply["claims"][0]["verdict"] != "supported"
    assert "Zora" not in json.dumps([claim["citations"] for claim in reply["claims"]])


@pytest.fixture
async def examined_client(settings: Settings, scripted_openai: ScriptedOpenAI) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a deployment whose scripted model has passed its exam in English."""
    configured = without_background_exam(with_model(settings, scripted_openai))
    judge = configured_families(configured)("scripted").judge
    assert judge is not None
    none, all_ = Share(0, 25), Share(25, 25)
    passed = LanguageResult("en", None, none, all_, Share(50, 50), none, 10, 9000, 4.0, datetime.now(UTC))
    async with open_citewell(configured) as opened:
        await ExamStore(opened.library.database).record(exam_key(judge, built_in_exam()), passed)
        async with client_of(create_app(configured, citewell=opened)) as client:
            yield client


async def test_a_model_that_passed_its_exam_is_asked_over_its_endpoint(
    examined_client: httpx.AsyncClient, scripted_openai: ScriptedOpenAI
) -> None:
    verdicts = {"1": judged("supported"), "2": judged("unsupported")}
    scripted_openai.script(say(json.dumps(verdicts)), to="judge_claims")
    doubted = "Leave that staff have not used is paid out when March comes."
    reply = await verified(examined_client, claims=[REWORDED, doubted], sources=[SOURCE], question="What lapses?")
    first, second = reply["claims"]
    assert [claim["verdict"] for claim in reply["claims"]] == ["supported", "unsupported"]
    assert first["judge"] == {"model": "any", "exam": {"language": "en", "right": 50, "of": 50}}
    assert second["by"] == "judge"
    assert (reply["judge"], reply["spent"]["judge_claims"]["calls"]) == ("any", 1)
    (asked,) = scripted_openai.asked("judge_claims")
    assert "What lapses?" in asked.text
    assert LEAVE in asked.text
    scripted_openai.script(*[status(503)] * 3, to="judge_claims")
    failed = await verified(examined_client, claims=[REWORDED], sources=[SOURCE], budget={"seconds": 30})
    assert failed["claims"][0]["verdict"] == "unverified"
    assert failed["fallback"]["code"] == "model_unavailable"


async def test_a_model_without_an_exam_may_doubt_and_the_claim_says_why(
    examined_client: httpx.AsyncClient, scripted_openai: ScriptedOpenAI
) -> None:
    claim = "Nhân viên có 25 ngày nghỉ phép năm, và ngày chưa dùng sẽ mất."
    scripted_openai.script(say(json.dumps({"1": judged("unsupported")})), to="judge_claims")
    reply = await verified(examined_client, claims=[claim], sources=["Nhân viên có 25 ngày nghỉ phép mỗi năm."])
    (doubted,) = reply["claims"]
    assert (doubted["verdict"], doubted["by"], doubted["judge"]["exam"]) == ("unsupported", "judge", None)
    unexamined, why = doubted["why"][-2:]
    assert (unexamined["code"], why["code"], why["parts"][0]) == ("judged_unexamined", "no_judge", "Vietnamese")


class ReadyJudge:
    """A judge that has passed its exam and finds everything supported."""

    name = "ready"
    version = "1"

    async def judge(self, claims: Sequence[OpenClaim], *, meter: Meter) -> list[Judgement]:
        meter.call()
        return [Judgement("supported", exam=ExamFigure(language="en", right=9, of=9)) for _ in claims]


@pytest.fixture
async def judged_client(settings: Settings, citewell: Citewell) -> AsyncIterator[httpx.AsyncClient]:
    families = citewell.library.families

    def judging(model: str, *, thinking: bool = False) -> Family:
        return replace(families(model, thinking=thinking), judge=ReadyJudge())

    judged = replace(citewell, library=replace(citewell.library, families=judging))
    async with client_of(create_app(settings, citewell=judged)) as client:
        yield client


async def test_a_judge_decides_unless_it_is_turned_off_or_costs_too_much(judged_client: httpx.AsyncClient) -> None:
    ask = {"claims": [REWORDED], "sources": [SOURCE]}
    reply = await verified(judged_client, **ask, question="When does leave lapse?")
    (claim,) = reply["claims"]
    assert (claim["verdict"], claim["by"]) == ("supported", "judge")
    assert claim["judge"] == {"model": "ready", "exam": {"language": "en", "right": 9, "of": 9}}
    assert reply["spent"]["judge_claims"]["calls"] == 1
    without = await verified(judged_client, **ask, judge=False)
    assert (without["claims"][0]["verdict"], without["judge"]) == ("unverified", None)
    broke = await verified(judged_client, **ask, budget={"model_calls": 0})
    assert (broke["claims"][0]["verdict"], broke["fallback"]["code"]) == ("unverified", "budget_exhausted")


@pytest.mark.parametrize(
    ("fields", "status", "told"),
    [
        ({}, 422, "answer: send either"),
        ({"claims": ["a"], "answer": "b"}, 422, "answer: send either"),
        ({"claims": []}, 422, "claims"),
        ({"claims": ["a"] * 201}, 422, "claims"),
        ({"answer": " \n"}, 422, "answer: blank text"),
        ({"answer": "x\x00y"}, 422, "answer: NUL"),
        ({"answer": "x" * 100_001}, 422, "answer"),
        ({"answer": "é" * 50_001}, 422, "answer: 100,002 bytes"),
        ({"answer": "It rains here on most days. " * 201}, 422, "answer: it has 201 claims"),
        ({"claims": ["a"], "sources": []}, 422, "sources"),
        ({"claims": ["a"], "sources": ["a"] * 51}, 422, "sources"),
        ({"claims": ["a"], "sources": ["é" * 125_001] * 2}, 422, "500,004 bytes"),
        ({"claims": ["a"], "sources": [{"text": "b", "colour": "red"}]}, 422, "colour"),
        ({"claims": ["a"], "sources": ["b"], "document_ids": [HANDBOOK]}, 422, "document_ids: leave it out"),
        ({"claims": ["a"], "sources": ["b"], "spaces": ["people"]}, 422, "spaces: leave it out"),
        ({"claims": ["a"], "budget": {"model_calls": 9}}, 422, "budget.model_calls"),
        ({"claims": ["a"], "model": "nobody"}, 400, "nobody"),
    ],
)
async def test_what_cannot_be_verified_is_refused_by_name(
    shared_client: httpx.AsyncClient, fields: dict[str, Any], status: int, told: str
) -> None:
    response = await shared_client.post("/api/verify", json=fields)
    problem = response.json()
    assert (response.status_code, response.headers["content-type"]) == (status, "application/problem+json")
    assert told in problem["detail"]
    assert problem["suggestion"]
    assert problem["retryable"] is False


async def test_a_key_is_asked_for_where_others_ask_for_one(settings: Settings, citewell: Citewell) -> None:
    keyed = settings.model_copy(update={"auth": AuthSettings(mode="keys")})
    async with client_of(create_app(keyed, citewell=citewell)) as client:
        assert (await client.post("/api/verify", json={"claims": ["a"]})).status_code == 401


async def test_more_than_may_wait_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.routes.verify_routes.WAITING_FOR_EACH", 1)
    turns = verification_turns(RunSettings(max_active=1))
    full, release = asyncio.Event(), asyncio.Event()
    begun: list[int] = []

    async def take(number: int) -> None:
        async with turns.turn():
            begun.append(number)
            if len(begun) == AT_ONCE:
                full.set()
            await release.wait()

    tasks = [asyncio.create_task(take(number)) for number in range(AT_ONCE + 1)]
    await full.wait()
    with pytest.raises(Overloaded, match="4 verifications are active and 1 are waiting"):
        await take(99)
    release.set()
    await asyncio.gather(*tasks)
    assert begun == list(range(AT_ONCE + 1))
