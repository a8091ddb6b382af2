"""Answers in which half of the sentences are false: which of them carry a mark once the run has ended.

In the first answers of a deployment its judge has not been examined; without any, code has found nothing for or
against most sentences.
"""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from answers.marks import mark_of
from api.app import create_app
from evals.scripted_replies import claims_to_judge
from graph.entrypoint import open_citewell
from graph.evidence import Section, answer_text
from tests.api.conftest import new_session, with_model
from tests.api.reading import events_of
from tests.api.serving import client_of
from tests.planted import Planted, PlantedModel, ingest_planted, planted, sections_of
from tools.settings import JudgeSettings, Settings


async def planted_client(
    settings: Settings, judge: JudgeSettings
) -> AsyncIterator[tuple[httpx.AsyncClient, PlantedModel]]:
    """Give a client of a deployment that holds the documents, and its model."""
    with PlantedModel() as model:
        configured = with_model(settings, model).model_copy(update={"judge": judge})
        async with open_citewell(configured) as opened:
            await ingest_planted(opened.library.ingestor)
            async with client_of(create_app(configured, citewell=opened)) as client:
                yield client, model


@pytest.fixture
async def unexamined(settings: Settings) -> AsyncIterator[tuple[httpx.AsyncClient, PlantedModel]]:
    async for client in planted_client(settings, JudgeSettings(exam="manual")):
        yield client


@pytest.fixture
async def examining(settings: Settings) -> AsyncIterator[tuple[httpx.AsyncClient, PlantedModel]]:
    async for client in planted_client(settings, JudgeSettings(exam="auto")):
        yield client


@pytest.fixture
async def unjudged(settings: Settings) -> AsyncIterator[tuple[httpx.AsyncClient, PlantedModel]]:
    async for client in planted_client(settings, JudgeSettings(kind="off")):
        yield client


async def answered(client: httpx.AsyncClient, row: Planted) -> dict[str, Any]:
    """Ask the question, and return the message as the stream and the session give it."""
    session_id = await new_session(client)
    events = events_of(await client.post(f"/api/sessions/{session_id}/runs", json={"question": row.question}))
    message: dict[str, Any] = events[-1]["message"]
    stored = (await client.get(f"/api/sessions/{session_id}")).json()["messages"][-1]
    assert [each["marks"] for each in stored["sections"]] == [each["marks"] for each in message["sections"]]
    return message


def marked(message: dict[str, Any], texts: list[str]) -> list[str]:
    """Return those of some sentences behind which a mark stands."""
    shown = [claim["text"] for claim in message["claims"] if mark_of(claim) == "shown"]
    in_sections = [
        section["text"][span["start"] : span["end"]] for section in message["sections"] for span in section["marks"]
    ]
    assert sorted(shown) == sorted(in_sections)
    return [text for text in texts if any(text in each or each in text for each in shown)]


def whole(row: Planted) -> str:
    """Return the answer as it was written."""
    return answer_text([Section(text=each["text"], source_ids=[]) for each in sections_of(row, ())])


async def test_no_false_sentence_of_the_first_answers_keeps_its_mark(
    unexamined: tuple[httpx.AsyncClient, PlantedModel],
) -> None:
    client, model = unexamined
    false, kept = list[str](), 0
    for row in planted():
        model.requests.clear()
        message = await answered(client, row)
        assert message["answer"] == whole(row)
        false += marked(message, row.false)
        kept += len(marked(message, row.true))
        assert model.asked("revise_sections") == [], "nobody who may withdraw has spoken"
    assert false == []
    assert kept >= 0.95 * sum(len(row.true) for row in planted())


async def test_without_a_judge_no_number_that_no_source_holds_is_marked(
    unjudged: tuple[httpx.AsyncClient, PlantedModel],
) -> None:
    client, model = unjudged
    false = list[str]()
    for row in planted():
        message = await answered(client, row)
        assert message["answer"] == whole(row)
        false += marked(message, row.false)
    kinds = {text: kind for row in planted() for text, _, kind in row.sentences}
    assert model.asked("judge_claims") == []
    assert len(false) <= 12, false
    assert [text for text in false if kinds[text] == "number"] == []


async def test_the_first_five_questions_cost_a_judgement_a_section(
    examining: tuple[httpx.AsyncClient, PlantedModel],
) -> None:
    client, model = examining
    for row in planted()[:5]:
        model.requests.clear()
        await answered(client, row)
        exam = [each for each in model.asked("judge_claims") if len(claims_to_judge(each)) > len(row.sentences)]
        asked = len(model.asked("judge_claims")) - len(exam)
        sections = len(sections_of(row, ()))
        assert asked <= 2 * sections, "each once, and once more what was doubted"
        assert len(model.asked("generate_answer")) == 1
