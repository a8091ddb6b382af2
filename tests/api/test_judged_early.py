"""An answer that was judged while its judge took the exam: settled as that ends, in what is stored and joined again."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from api.app import create_app
from evals.scripted_replies import claims_to_judge, judged
from graph.entrypoint import open_citewell
from graph.evidence import Identity
from tests.api.conftest import LIBRARY, new_session, with_model
from tests.api.reading import parse_frames
from tests.api.serving import client_of
from tests.scripted_openai import Hold, ModelRequest, Reply, Say, ScriptedOpenAI, answer, say
from tools.judges.exam import built_in_exam
from tools.settings import JudgeSettings, Settings

LABELS = {claim.claim.claim: claim.supported for claim in built_in_exam().claims}
QUESTION = "How many days of annual leave do employees get?"
TRUE = "Each member of staff may take twenty-five days off every year."
FALSE = "Annual leave is granted to managers alone."


def verdict(claim: str, supports_all: bool) -> str:
    return "supported" if supports_all or LABELS.get(claim, claim == TRUE) else "unsupported"


@pytest.fixture
async def client(settings: Settings, scripted_openai: ScriptedOpenAI) -> AsyncIterator[httpx.AsyncClient]:
    configured = with_model(settings, scripted_openai).model_copy(update={"judge": JudgeSettings(exam="auto")})
    async with open_citewell(configured) as opened:
        for document in LIBRARY:
            await opened.library.ingestor.ingest(Identity(), document)
        async with client_of(create_app(configured, citewell=opened)) as opened_client:
            yield opened_client


@pytest.mark.parametrize("supports_all", [False, True], ids=["it passes", "it fails"])
async def test_what_was_judged_during_an_exam_is_settled_as_it_ends(
    client: httpx.AsyncClient, scripted_openai: ScriptedOpenAI, supports_all: bool
) -> None:
    gate = Hold()
    gated = False

    def respond(request: ModelRequest) -> Reply:
        nonlocal gated
        if request.prompt != "judge_claims":
            ids = request.text.split("[SEG=")[1:]
            return answer({"text": f"{TRUE} {FALSE}", "source_ids": [ids[0].split("]")[0]]})
        claims = claims_to_judge(request)
        said = json.dumps({str(number): judged(verdict(text, supports_all)) for number, text in claims.items()})
        if not gated and claims.keys() and all(text in LABELS for text in claims.values()):
            gated = True
            return Reply(steps=[gate, Say(said)])
        return say(said)

    scripted_openai.respond = respond
    session = await new_session(client)
    run = (await client.post(f"/api/sessions/{session}/runs", json={"question": QUESTION, "stream": False})).json()
    await asyncio.to_thread(gate.wait_reached)
    before = run["message"]["claims"]
    assert [each["text"] for each in before] == [TRUE, FALSE]
    assert [each["judge"]["exam"] for each in before] == [None, None]
    assert before[0]["mark"] == "shown"

    following = asyncio.create_task(client.get(f"/api/sessions/{session}/events"))
    gate.release()
    (told,) = parse_frames((await following).text)
    claims = json.loads(told["data"])["claims"]
    assert told["event"] == "verdicts_upgraded"
    exam = {"language": "en", "right": 32, "of": 32}
    expected: list[Any] = [("unverified", None)] * 2 if supports_all else [("supported", exam), ("unsupported", exam)]
    assert [(each["verdict"], each.get("judge", {}).get("exam")) for each in claims] == expected

    stored = (await client.get(f"/api/sessions/{session}")).json()["messages"][-1]
    assert [(each["verdict"], each.get("judge", {}).get("exam")) for each in stored["claims"]] == expected
    assert {each["verdict"] for each in stored["citations"]} <= {each["verdict"] for each in stored["claims"]}
    joined = parse_frames((await client.get(f"/api/runs/{run['run_id']}/stream")).text)
    end = json.loads(joined[-1]["data"])
    assert end["type"] == "run_finished"
    assert [each["verdict"] for each in end["message"]["claims"]] == [verdict for verdict, _ in expected]
    again = await client.get(f"/api/sessions/{session}/events", headers={"Last-Event-ID": told["id"]})
    assert again.status_code == 204
