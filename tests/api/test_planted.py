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
from graph.entrypoint import open_citewell
from tests.api.conftest import new_session, with_model
from tests.api.reading import events_of
from tests.api.serving import client_of
from tests.planted import Planted, PlantedModel, ingest_planted, planted
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
async def unjudged(settings: Settings) -> AsyncIterator[tuple[httpx.AsyncClient, PlantedModel]]:
    async for client in planted_client(settings, JudgeSettings(kind="off")):
        yield client


async def answered(client: httpx.AsyncClient, row: Planted) -> dict[str, Any]:
    """Ask the question, and return the message as the stream and the session give it."""
    session_id = await new_session(client)
    events = events_of(await client.post(f"/api/sessions/{session_id}/runs", json={"question": row.question}))
    message: dict[str, Any] = events[-1]["message"]
    stored = (await client.get(f"/api/sessions/{session_id}")).json()["messages"][-1]
    assert [each["mark"] for each in stored["claims"]] == [each["mark"] for each in message["claims"]]
    return message


def marked(message: dict[str, Any], texts: list[str]) -> list[str]:
    """Return those of some sentences behind which a mark stands."""
    shown = [claim["text"] for claim in message["claims"] if mark_of(claim) == "shown"]
    return [text for text in texts if any(text in each or each in text for each in shown)]


async def test_no_false_sentence_of_the_first_answers_keeps_its_mark(
    unexamined: tuple[httpx.AsyncClient, PlantedModel],
) -> None:
    client, model = unexamined
    false, kept, true = list[str](), 0, 0
    for row in planted():
        model.requests.clear()
        message = await answered(client, row)
        assert message["answer"].count("\n\n") == 1, "nothing is withheld"
        false += marked(message, row.false)
        kept += len(marked(message, row.true))
        true += len(row.true)
        # One request a section at most, and one for what the first one doubts.
        assert 1 <= len(model.asked("judge_claims")) <= 4
        assert len(model.asked("generate_answer")) == 1
        assert model.asked("revise_sections") == []
    assert false == []
    assert kept >= 0.95 * true
