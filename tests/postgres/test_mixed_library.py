"""Questions over a library most of which is in another language, through real searches and a scripted model."""

import json
from collections.abc import AsyncIterator

import pytest

from evals.scripted_replies import shown_segments
from graph.entrypoint import Citewell, open_citewell
from graph.evidence import Identity
from tests.graph.asking import Asked
from tests.scripted_openai import ScriptedOpenAI, answer, say, scripted_openai
from tools.library.ingestion import NewDocument
from tools.settings import ModelSettings, Settings

__all__ = ["scripted_openai"]

ROOMS = ("attic", "barn", "cellar", "dairy", "foundry", "garage", "hall", "kiln", "loft", "mill", "office", "press")
ENGLISH = [
    f"The opening hours of the {room} are posted at the {room} gate. Ask the {room} keeper for the key of the gate."
    for room in (*ROOMS, *(f"north {room}" for room in ROOMS))
]
COUNTERPART = "The workshop opens at half past six, and its opening hours end at nine in the evening."
VIETNAMESE = "Xưởng mộc mở cửa lúc bảy giờ sáng và đóng cửa lúc năm giờ chiều."
CHINESE = "木工车间早上七点开门，下午五点关门。"
WORDS = "workshop opening hours gate key keeper"
QUESTIONS = {"vi": ("Xưởng mộc mở cửa lúc mấy giờ?", VIETNAMESE), "zh": ("木工车间几点开门？", CHINESE)}


HALLS = [f"Nhà {number} mở cửa lúc tám giờ. Chìa khoá của nhà {number} do bảo vệ giữ." for number in range(20)]


@pytest.fixture
async def vietnamese(settings: Settings, scripted_openai: ScriptedOpenAI) -> AsyncIterator[Citewell]:
    """A library most of which is in Vietnamese, with a fact that it holds in English alone."""
    model = ModelSettings(name="scripted", base_url=scripted_openai.base_url, model="any")
    async with open_citewell(settings.model_copy(update={"models": [model]})) as opened:
        for text in (*HALLS, *ENGLISH[:3], COUNTERPART):
            await opened.library.ingestor.ingest(Identity(), NewDocument(text=text))
        yield opened


async def test_a_first_question_in_the_main_language_finds_what_is_in_another_before_it_is_refused(
    vietnamese: Citewell, scripted_openai: ScriptedOpenAI
) -> None:
    question, _ = QUESTIONS["vi"]
    queries = {"vi": "giờ mở cửa xưởng mộc", "en": WORDS}
    scripted_openai.script(answer(), to="generate_answer")
    scripted_openai.script(say(json.dumps({"queries": queries, "reason": "both"})), to="rewrite_query")
    asked = Asked(of=vietnamese.library.resources)
    state = await asked.ask(question, model="scripted", min_score=0.0)
    shown = ["\n".join(shown_segments(each.text).values()) for each in scripted_openai.asked("generate_answer")]
    assert [COUNTERPART in each for each in shown] == [False, True]
    assert (state.outcome, state.tried) == ("answered", [question, *queries.values()])


@pytest.fixture
async def mixed(settings: Settings, scripted_openai: ScriptedOpenAI) -> AsyncIterator[Citewell]:
    model = ModelSettings(name="scripted", base_url=scripted_openai.base_url, model="any")
    async with open_citewell(settings.model_copy(update={"models": [model]})) as opened:
        for text in (*ENGLISH, COUNTERPART, VIETNAMESE, CHINESE):
            await opened.library.ingestor.ingest(Identity(), NewDocument(text=text))
        yield opened


@pytest.mark.parametrize("language", QUESTIONS)
async def test_evidence_in_the_questions_language_and_its_counterpart_reach_the_writer(
    mixed: Citewell, scripted_openai: ScriptedOpenAI, language: str
) -> None:
    question, own = QUESTIONS[language]
    prepared = {"intent": "content_query", "standalone_question": question, "needs_retrieval": True, "reason": "fact"}
    scripted_openai.script(say(json.dumps(prepared | {"search_queries": {"en": [WORDS]}})), to="decide_retrieval")
    asked = Asked(of=mixed.library.resources)
    await asked.ask(question, model="scripted", min_score=0.0, effort="thorough")
    (request,) = scripted_openai.asked("generate_answer")
    shown = "\n".join(shown_segments(request.text).values())
    assert own in shown
    assert COUNTERPART in shown
    assert [found.query for found in asked.told("sources_found")] == [question, WORDS]


async def test_a_question_in_the_librarys_main_language_is_searched_for_alone(
    mixed: Citewell, scripted_openai: ScriptedOpenAI
) -> None:
    asked = Asked(of=mixed.library.resources)
    await asked.ask("When does the workshop open?", model="scripted")
    assert scripted_openai.asked("decide_retrieval") == []
    assert [found.query for found in asked.told("sources_found")] == ["When does the workshop open?"]
