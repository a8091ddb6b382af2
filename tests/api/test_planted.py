"""Answers in which half of the sentences are false: which of them carry a mark once the run has ended.

In the first answers of a deployment its judge has not been examined; without any, code has found nothing for or
against most sentences.
"""

import json
from collections import Counter
from collections.abc import AsyncIterator

import httpx
import pytest

from answers.marks import mark_of, marked_citations
from api.app import create_app
from api.dialects.citation_marks import footnote, marked_text
from api.dialects.registry import DIALECTS
from evals.scripted_replies import claims_to_judge
from graph.entrypoint import open_citewell
from graph.events import Envelope, RunFinished
from graph.evidence import Message, Section, answer_text
from tests.api.conftest import new_session, with_model
from tests.api.reading import parse_frames
from tests.api.serving import client_of
from tests.planted import Planted, PlantedModel, ingest_planted, planted, sections_of
from tests.wire.marked_sentences import FOOTNOTE, bubbles, marked_in_text, marked_sentences
from tools.runs.event_log import parse_line
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


async def logged(client: httpx.AsyncClient, row: Planted) -> list[Envelope]:
    """Ask the question, and return the log of its run, which the session agrees with."""
    session_id = await new_session(client)
    response = await client.post(f"/api/sessions/{session_id}/runs", json={"question": row.question})
    lines = [frame["data"] for frame in parse_frames(response.text)]
    run_id: str = json.loads(lines[0])["run_id"]
    message = json.loads(lines[-1])["message"]
    stored = (await client.get(f"/api/sessions/{session_id}")).json()["messages"][-1]
    assert [each["marks"] for each in stored["sections"]] == [each["marks"] for each in message["sections"]]
    return [parse_line(run_id, session_id, seq, line) for seq, line in enumerate(lines, start=1)]


async def answered(client: httpx.AsyncClient, row: Planted) -> Message:
    """Ask the question, and return the message of its run."""
    return message_of(await logged(client, row))


def message_of(log: list[Envelope]) -> Message:
    end = log[-1].event
    assert isinstance(end, RunFinished)
    return end.message


def marked(message: Message, texts: list[str]) -> list[str]:
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
    kept = Counter[str]()
    for row in planted():
        model.requests.clear()
        log = await logged(client, row)
        message = message_of(log)
        assert message["answer"] == whole(row)
        assert marked(message, row.false) == []
        kept["message"] += len(marked(message, row.true))
        assert marked_in_text(marked_text(message, footnote), FOOTNOTE, row.false) == [], "as sessions are read again"
        assert model.asked("revise_sections") == [], "nobody who may withdraw has spoken"
        for name, dialect in DIALECTS.items():
            stream = b"".join(map(dialect.encoder().encode, log))
            if name == "id_citations":
                shown = (each for claim in message["claims"] for each in marked_citations(claim))
                assert bubbles(stream) == {(each["document_id"], each["start"], each["end"]) for each in shown}
                continue
            assert marked_sentences(name, stream, row.false) == [], name
            kept[name] += len(marked_sentences(name, stream, row.true))
    sentences = sum(len(row.true) for row in planted())
    assert {name: share for name, count in kept.items() if (share := count / sentences) < 0.95} == {}


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


async def test_the_first_five_questions_cost_a_judgement_a_section_and_a_short_exam(
    examining: tuple[httpx.AsyncClient, PlantedModel],
) -> None:
    client, model = examining
    for row in planted()[:5]:
        before = len(model.asked("judge_claims"))
        await answered(client, row)
        asked = [len(claims_to_judge(each)) for each in model.asked("judge_claims")[before:]]
        of_answer = [claims for claims in asked if claims <= len(row.sentences)]
        # A request a section, one for what each doubts, and one for what a repair writes instead.
        assert len(of_answer) <= 2 * len(sections_of(row, ())) + 1
    exams = [each for each in model.asked("judge_claims") if len(claims_to_judge(each)) > 5]
    assert 1 <= len(exams) <= 6
    assert len(model.asked("generate_answer")) == 5
