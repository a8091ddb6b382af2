"""A question in another language than the library: searched for in the library's, answered or refused in its own."""

import json

import pytest

from answers.checking import question_coverage
from graph.evidence import Identity
from graph.ports import Families, LibraryLanguages, Resources
from tests.fakes import MemoryLibrary, segment
from tests.graph.asking import Asked
from tests.graph.modelled import session as modelled_session
from tests.scripted_openai import ScriptedOpenAI, answer, say, scripted_openai
from tools.backends.backend_registry import configured_families
from tools.settings import Settings

__all__ = ["scripted_openai"]

LEAVE = segment("handbook", 0, "Every employee gets 25 days of annual leave a year.", title="Handbook")
PORT = segment("manual", 0, "The option max_connections is 100 unless it is set.", title="Manual")
ASKED = "Nhân viên được nghỉ phép năm bao nhiêu ngày?"


def written_in(*languages: str) -> LibraryLanguages:
    async def read(identity: Identity) -> tuple[str, ...]:
        return languages

    return read


def modelled(server: ScriptedOpenAI, *languages: str) -> Asked:
    asked = modelled_session(server)
    library = MemoryLibrary([LEAVE, PORT])
    assert asked.of is not None
    families = asked.of.families
    return Asked(
        library=library,
        of=Resources(library, library, families, question_coverage, languages=written_in(*languages)),
    )


def prepared(**fields: object) -> str:
    row = {"intent": "content_query", "standalone_question": ASKED, "needs_retrieval": True, "reason": "a fact"}
    return json.dumps(row | fields)


async def test_a_model_words_the_search_in_the_librarys_language(scripted_openai: ScriptedOpenAI) -> None:
    scripted_openai.script(say(prepared(search_query="annual leave days employee")), to="decide_retrieval")
    scripted_openai.script(
        answer({"text": "Mỗi nhân viên được 25 ngày phép một năm.", "source_ids": ["handbook:0"]}), to="generate_answer"
    )
    asked = modelled(scripted_openai, "en")
    state = await asked.ask(ASKED, min_score=0.1)
    (found,) = asked.told("sources_found")
    assert found.query == "annual leave days employee"
    assert (state.language, state.standalone_question, state.outcome) == ("vi", ASKED, "answered")
    (request,) = scripted_openai.asked("decide_retrieval")
    assert "The search: in English" in request.text
    (request,) = scripted_openai.asked("generate_answer")
    assert "Answer in Vietnamese" in request.text
    assert ASKED in request.text


@pytest.mark.parametrize(("question", "languages"), [(ASKED, ("vi", "en")), (ASKED, ()), ("max_connections", ("zh",))])
async def test_a_question_that_the_library_may_hold_as_it_is_takes_no_call(
    scripted_openai: ScriptedOpenAI, question: str, languages: tuple[str, ...]
) -> None:
    asked = modelled(scripted_openai, *languages)
    await asked.ask(question, min_score=1.0, max_rewrites=0)
    assert scripted_openai.asked("decide_retrieval") == []
    (found,) = asked.told("sources_found")
    assert found.query == question


async def test_another_query_is_worded_in_the_librarys_language(scripted_openai: ScriptedOpenAI) -> None:
    scripted_openai.script(say(json.dumps({"query": "annual leave", "reason": "English"})), to="rewrite_query")
    scripted_openai.script(answer({"text": "25 ngày phép.", "source_ids": ["handbook:0"]}), to="generate_answer")
    asked = modelled(scripted_openai, "en")
    state = await asked.ask(ASKED, min_score=0.5, effort="fast")
    (request,) = scripted_openai.asked("rewrite_query")
    assert "Key words in English" in request.text
    assert state.tried == [ASKED, "annual leave"]
    assert state.outcome == "answered"


@pytest.fixture
def quoting() -> Families:
    return configured_families(Settings(_env_file=None))


def quoted(families: Families, *languages: str) -> Asked:
    library = MemoryLibrary([LEAVE, PORT])
    return Asked(
        library=library,
        of=Resources(library, library, families, question_coverage, languages=written_in(*languages)),
    )


async def test_without_a_model_names_numbers_and_code_are_searched_for(quoting: Families) -> None:
    asked = quoted(quoting, "en")
    state = await asked.ask("Giá trị mặc định của max_connections là gì?", min_score=0.9)
    assert state.tried == ["Giá trị mặc định của max_connections là gì?", "max_connections"]
    assert [row["segment_id"] for row in state.sources] == ["manual:0"]


@pytest.mark.parametrize(
    ("question", "languages", "said"),
    [
        (ASKED, ("en",), "Thư viện được viết bằng tiếng Anh,"),
        ("员工每年有多少天年假？", ("en", "vi"), "资料库的文档是英语和越南语的，"),
        (
            "How many days of annual leave does the staff get?",
            ("zh", "vi", "ja"),
            "in Chinese, Vietnamese and Japanese,",
        ),
    ],
)
async def test_a_refusal_names_the_librarys_languages_in_the_askers(
    quoting: Families, question: str, languages: tuple[str, ...], said: str
) -> None:
    state = await quoted(quoting, *languages).ask(question, min_score=1.0)
    assert state.outcome == "abstained"
    assert said in state.sections[-1]["text"]


@pytest.mark.parametrize(("question", "languages"), [(ASKED, ("vi", "en")), (ASKED, ()), ("work_mem", ("vi",))])
async def test_a_refusal_in_a_language_of_the_library_names_none(
    quoting: Families, question: str, languages: tuple[str, ...]
) -> None:
    state = await quoted(quoting, *languages).ask(question, min_score=1.0)
    text = state.sections[-1]["text"]
    assert "tiếng" not in text
    assert "library is in" not in text
