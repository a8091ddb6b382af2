"""Guides, suggestions and follow-ups over HTTP: what is offered was asked and answered before."""

import json
from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import httpx
import pytest

from api.app import create_app
from graph.entrypoint import Citewell, open_citewell
from graph.evidence import Identity
from tests.api.conftest import TRAVEL, new_session, with_model
from tests.api.serving import client_of
from tests.scripted_openai import ScriptedOpenAI, say
from tools.auth.api_keys import ApiKeys, KeyTerms
from tools.library.ingestion import NewDocument
from tools.settings import AuthSettings, Settings

PAGE = "https://docs.example.com"
WORDS = str(uuid4())
TERMS = (
    "# Company words\n\nThe words of this page are used in every meeting of the company.\n\n"
    "## What is a floor host?\n\nA floor host is the person who opens the office in the morning.\n\n"
    "## Sales\n\nGoods that are sent back go to the store behind the mill.\n\n"
    "### What is a green slip?\n\nA green slip is a note that goes with goods sent back to a supplier.\n\n"
    "## What is the tide table?\n\nThe tide table is a list of all release dates of the year.\n\n"
    "## Is there a canteen?\n\n## Ada Moss\n\nAda Moss is the founder of the company.\n"
)
ASKED = {"What is a floor host?", "What is a green slip?", "What is the tide table?"}


async def put(client: httpx.AsyncClient, text: str, document_id: str = WORDS, **fields: Any) -> None:
    body = {"title": "Company words", "text": text, "media_type": "text/markdown", **fields}
    stored = await client.put(f"/api/documents/{document_id}", json=body)
    assert stored.status_code in (200, 201), stored.text


async def raw(client: httpx.AsyncClient, document_id: str) -> str:
    read = (await client.get(f"/api/documents/{document_id}/raw-text")).json()
    return "".join(segment["text"] for segment in read["segments"])


async def asked(client: httpx.AsyncClient, session_id: str, question: str) -> dict[str, Any]:
    body = {"question": question, "stream": False}
    return dict((await client.post(f"/api/sessions/{session_id}/runs", json=body)).json())


async def test_a_guide_quotes_its_document_and_its_questions_are_answered(client: httpx.AsyncClient) -> None:
    await put(client, TERMS)
    guide = (await client.get(f"/api/documents/{WORDS}/guide")).json()
    text = await raw(client, WORDS)
    assert guide["title"] == "Company words"
    assert [each["text"] for each in guide["outline"]][:4] == [
        "Company words",
        "What is a floor host?",
        "Sales",
        "What is a green slip?",
    ]
    assert guide["sentences"][0]["text"].startswith("The words of this page")
    for each in (*guide["sentences"], *guide["outline"]):
        assert text[each["start"] : each["end"]] == each["text"]
    assert {each["question"] for each in guide["questions"]} == ASKED
    session_id = await new_session(client)
    for each in guide["questions"]:
        assert text[each["start"] : each["end"]] == each["quote"]
        answer = await asked(client, session_id, each["question"])
        cited = answer["message"]["citations"][0]
        assert (answer["outcome"], cited["document_id"], cited["verdict"]) == ("answered", WORDS, "supported")
        assert cited["quote"] == each["quote"]


async def test_no_question_is_made_of_a_statement(client: httpx.AsyncClient) -> None:
    text = "# Dan Cruikshank\n\nDan Cruikshank is a printer.\n\n## Prices\n\nA firewall is a piece of equipment.\n"
    await put(client, text)
    guide = (await client.get(f"/api/documents/{WORDS}/guide")).json()
    assert (guide["questions"], [each["text"] for each in guide["outline"]]) == ([], ["Dan Cruikshank", "Prices"])


async def test_a_new_version_has_a_guide_of_its_own(client: httpx.AsyncClient) -> None:
    await put(client, TERMS)
    before = (await client.get(f"/api/documents/{WORDS}/guide")).json()
    assert (await client.get(f"/api/documents/{WORDS}/guide")).json() == before
    await put(client, "# Company words\n\n## What is a brown bag?\n\nA talk that is given at lunch.\n")
    after = (await client.get(f"/api/documents/{WORDS}/guide")).json()
    assert after["version"] > before["version"]
    assert [each["question"] for each in after["questions"]] == ["What is a brown bag?"]


async def test_questions_are_offered_of_what_may_be_read_and_of_nothing_else(client: httpx.AsyncClient) -> None:
    await put(client, TERMS)
    offered = (await client.get("/api/suggestions")).json()
    assert offered["status"] == "ready"
    assert {each["question"] for each in offered["questions"]} == ASKED
    begun = offered["documents"][0]
    assert (begun["document_id"], begun["title"]) == (WORDS, "Company words")
    assert [each["text"] for each in begun["outline"]] == ["What is a floor host?", "Sales", "What is a green slip?"]
    assert [[each["text"] for each in other["outline"]] for other in offered["documents"][1:]] == [
        ["Trains"],
        ["Leave", "Notice"],
    ]
    await put(
        client, "# Từ ngữ\n\n## Sổ xanh là gì?\n\nMột tập giấy đi kèm hàng trả lại.\n", str(uuid4()), title="Từ ngữ"
    )
    first = (await client.get("/api/suggestions", params={"language": "vi"})).json()["questions"][0]
    assert (first["question"], first["language"]) == ("Sổ xanh là gì?", "vi")
    await client.delete(f"/api/documents/{WORDS}")
    left = (await client.get("/api/suggestions")).json()
    assert WORDS not in {each["document_id"] for each in (*left["questions"], *left["documents"])}
    assert (await client.get(f"/api/documents/{WORDS}/guide")).status_code == 404
    assert (await client.get("/api/suggestions", params={"language": "xyz"})).status_code == 422


async def test_a_summary_that_no_model_can_give_is_followed_by_the_guide_of_the_document(
    client: httpx.AsyncClient,
) -> None:
    await put(client, TERMS)
    session_id = await new_session(client)
    path = f"/api/sessions/{session_id}/follow-ups"
    for question in ("Summarise what a green slip is", "Summarise the words of the company"):
        answer = await asked(client, session_id, question)
        offered = (await client.get(path)).json()
        assert (answer["message_id"], offered["guides"][0]["title"]) == (offered["message_id"], "Company words")
        assert offered["guides"][0] == (await client.get(f"/api/documents/{WORDS}/guide")).json()
    await asked(client, session_id, "What is a green slip?")
    assert (await client.get(path)).json()["guides"] == []
    await asked(client, session_id, "Summarise what a green slip is")
    await client.delete(f"/api/documents/{WORDS}")
    assert WORDS not in {each["document_id"] for each in (await client.get(path)).json()["guides"]}


async def test_an_answer_is_followed_by_questions_of_its_neighbourhood(client: httpx.AsyncClient) -> None:
    await put(client, TERMS)
    session_id = await new_session(client)
    path = f"/api/sessions/{session_id}/follow-ups"
    assert (await client.get(path)).json() == {"message_id": None, "questions": [], "guides": []}
    answer = await asked(client, session_id, "What is a green slip?")
    offered = (await client.get(path)).json()
    assert offered["message_id"] == answer["message_id"]
    assert {each["question"] for each in offered["questions"]} == ASKED - {"What is a green slip?"}
    assert (await client.get(path)).json() == offered

    await put(client, "# Company words\n\nNothing of it is left.\n")
    assert (await client.get(path)).json()["questions"] == [], "what they were proven on is gone"
    refused = await asked(client, session_id, "What is the capital of Mongolia?")
    assert refused["outcome"] == "abstained"
    assert (await client.get(path)).json() == {"message_id": None, "questions": [], "guides": []}


@pytest.fixture
async def modelled(settings: Settings, scripted_openai: ScriptedOpenAI) -> AsyncIterator[httpx.AsyncClient]:
    configured = with_model(settings, scripted_openai).model_copy(update={"suggestions": "model"})
    async with open_citewell(configured) as opened:
        document = NewDocument(document_id=TRAVEL, title="Travel policy", text="Second class is booked for trains.\n")
        await opened.library.ingestor.ingest(Identity(), document)
        async with client_of(create_app(configured, citewell=opened)) as client:
            yield client


def proposed(*questions: tuple[str, str]) -> Any:
    rows = [{"segment_id": f"{TRAVEL}:0", "quote": quote, "question": question} for question, quote in questions]
    return say(json.dumps({"questions": rows}))


async def test_what_a_model_proposes_is_offered_only_where_it_is_proven(
    modelled: httpx.AsyncClient, scripted_openai: ScriptedOpenAI
) -> None:
    quote = "Second class is booked for trains."
    good = ("Which class is booked for trains?", quote)
    invented, unanswered = ("Who pays for planes?", "Planes are paid by all."), ("When was Rome founded?", quote)
    scripted_openai.script(proposed(invented, unanswered, good), to="propose_questions")
    guide = (await modelled.get(f"/api/documents/{TRAVEL}/guide")).json()
    assert [each["question"] for each in guide["questions"]] == [good[0]]
    [request] = scripted_openai.asked("propose_questions")
    assert quote in request.text
    spent = (await modelled.get("/api/spending")).json()
    assert spent["total"]["calls"] == 1
    assert spent["total"]["runs"] == 0


async def test_a_model_that_fails_leaves_the_questions_of_the_document(
    modelled: httpx.AsyncClient, scripted_openai: ScriptedOpenAI
) -> None:
    text = "# Company words\n\n## What is a floor host?\n\nA floor host opens the office in the morning.\n"
    await put(modelled, text)
    scripted_openai.script(say("I would rather not."), say("Really."), to="propose_questions")
    guide = (await modelled.get(f"/api/documents/{WORDS}/guide")).json()
    assert [each["question"] for each in guide["questions"]] == ["What is a floor host?"]


async def test_a_model_is_asked_for_questions_only_where_a_deployment_says_so(
    settings: Settings, scripted_openai: ScriptedOpenAI
) -> None:
    configured = with_model(settings, scripted_openai)
    async with open_citewell(configured) as opened, client_of(create_app(configured, citewell=opened)) as client:
        await put(client, TERMS)
        await put(client, "Second class is booked for trains.\n", TRAVEL, title="Travel policy")
        assert len((await client.get("/api/suggestions")).json()["questions"]) == 3
        session_id = await new_session(client)
        await asked(client, session_id, "What is a green slip?")
        await client.get(f"/api/sessions/{session_id}/follow-ups")
        await client.get(f"/api/documents/{TRAVEL}/guide")
    assert scripted_openai.asked("propose_questions") == []
    told = configured.model_copy(update={"suggestions": "model"})
    async with open_citewell(told) as opened, client_of(create_app(told, citewell=opened)) as client:
        assert len((await client.get(f"/api/documents/{WORDS}/guide")).json()["questions"]) == 3
        assert scripted_openai.asked("propose_questions") == [], "the document has as many of its own"
        question = "Which class is booked for trains?"
        scripted_openai.script(proposed((question, "Second class is booked for trains.")), to="propose_questions")
        guide = (await client.get(f"/api/documents/{TRAVEL}/guide")).json()
        assert [each["question"] for each in guide["questions"]] == [question], "what had none is made anew"


async def test_a_deployment_may_offer_nothing(settings: Settings) -> None:
    off = settings.model_copy(update={"suggestions": "off"})
    async with open_citewell(off) as opened, client_of(create_app(off, citewell=opened)) as client:
        await put(client, TERMS)
        assert (await client.get("/api/suggestions")).json() == {"status": "ready", "questions": [], "documents": []}
        guide = (await client.get(f"/api/documents/{WORDS}/guide")).json()
        assert (guide["questions"], len(guide["outline"])) == ([], 7)
        session_id = await new_session(client)
        await asked(client, session_id, "What is a green slip?")
        assert (await client.get(f"/api/sessions/{session_id}/follow-ups")).json()["questions"] == []


def test_a_deployment_that_asked_for_rules_asks_no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CITEWELL_SUGGESTIONS", "rules")
    assert Settings().suggestions == "documents"


async def test_a_private_document_guides_nobody_else(citewell: Citewell) -> None:
    owner, other = Identity(user="ann"), Identity(user="ben")
    diary = NewDocument(document_id=WORDS, title="Diary", text=TERMS, readers=["user:ann"])
    await citewell.library.ingestor.ingest(owner, diary)
    mine = await citewell.guides.suggestions(owner)
    assert WORDS in {each["document_id"] for each in mine["questions"]}
    theirs = await citewell.guides.suggestions(other)
    assert WORDS not in {each["document_id"] for each in theirs["questions"]}


async def test_strangers_who_share_a_key_are_answered_by_passages_and_told_no_documents(
    settings: Settings, citewell: Citewell
) -> None:
    keys = ApiKeys(citewell.library.database, citewell.library.workspaces)
    terms = KeyTerms(frozenset({"ask"}), origins=(PAGE,))
    public = await keys.create("default", "visitors", terms=terms)
    own = await keys.create("default", "ann")
    app = create_app(settings.model_copy(update={"auth": AuthSettings(mode="keys")}), citewell=citewell)
    async with client_of(app) as client:
        told = []
        for headers in ({"authorization": f"Bearer {own}"}, {"authorization": f"Bearer {public}", "origin": PAGE}):
            client.headers.update(headers)
            session_id = await new_session(client)
            listed = await asked(client, session_id, "Which documents do you have?")
            summary = await asked(client, session_id, "Summarise the notice period")
            follow_ups = (await client.get(f"/api/sessions/{session_id}/follow-ups")).json()
            told.append((listed["stop_reason"] == "answered_from_catalogue", bool(follow_ups["guides"])))
            assert summary["outcome"] in ("answered", "abstained")
        assert told == [(True, True), (False, False)]
        assert listed["outcome"] == "abstained"  # it was searched for, as any other question
        cited = (await asked(client, session_id, "What is the notice period?"))["message"]["citations"]
        assert "three months" in cited[0]["quote"]
