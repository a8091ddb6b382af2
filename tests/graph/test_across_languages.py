"""A question in another language than the library: searched for in both, answered or refused in its own."""

import json
from collections.abc import Sequence

import pytest

from evals.scripted_replies import shown_segments
from graph.evidence import Effort, Identity, Segment
from graph.ports import Families, Judge, LibraryLanguages, Resources
from tests.fakes import MemoryLibrary, WordJudge, segment
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


def modelled(
    server: ScriptedOpenAI, *languages: str, segments: Sequence[Segment] = (LEAVE, PORT), judge: Judge | None = None
) -> Asked:
    asked = modelled_session(server, judge)
    library = MemoryLibrary(segments)
    assert asked.of is not None
    families = asked.of.families
    return Asked(
        library=library,
        of=Resources(library, library, families, languages=written_in(*languages)),
    )


def prepared(**fields: object) -> str:
    row = {"intent": "content_query", "standalone_question": ASKED, "needs_retrieval": True, "reason": "a fact"}
    return json.dumps(row | fields)


async def test_a_model_words_the_search_in_the_librarys_language_too(scripted_openai: ScriptedOpenAI) -> None:
    scripted_openai.script(say(prepared(search_queries={"en": ["annual leave days employee"]})), to="decide_retrieval")
    scripted_openai.script(
        answer({"text": "Mỗi nhân viên được 25 ngày phép một năm.", "source_ids": ["handbook:0"]}), to="generate_answer"
    )
    asked = modelled(scripted_openai, "en")
    state = await asked.ask(ASKED, min_score=0.1)
    assert [found.query for found in asked.told("sources_found")] == [ASKED, "annual leave days employee"]
    assert state.tried == [ASKED, "annual leave days employee"]
    assert (state.language, state.standalone_question, state.outcome) == ("vi", ASKED, "answered")
    (request,) = scripted_openai.asked("decide_retrieval")
    assert "Other languages of the library: English (en)" in request.text
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


VIETNAMESE = segment("so-tay", 0, "Nhân viên được nghỉ phép năm 30 ngày nếu làm ở xưởng.", title="Sổ tay")
CHINESE = segment("shouce", 0, "工厂 员工 每年 有 三十 天 年假", title="手册")
ASKED_IN_CHINESE = "工厂 员工 每年 有 多少 天 年假"
MIXED = [LEAVE, PORT, VIETNAMESE, CHINESE]


@pytest.mark.parametrize(
    ("question", "own"), [(ASKED, "so-tay:0"), (ASKED_IN_CHINESE, "shouce:0")], ids=["vietnamese", "chinese"]
)
async def test_a_mixed_library_is_searched_in_the_questions_own_words_and_in_its_main_languages(
    scripted_openai: ScriptedOpenAI, question: str, own: str
) -> None:
    words = "annual leave days employee"
    scripted_openai.script(
        say(prepared(standalone_question=question, search_queries={"en": [words]})), to="decide_retrieval"
    )
    asked = modelled(scripted_openai, "en", segments=MIXED)
    await asked.ask(question)
    (request,) = scripted_openai.asked("generate_answer")
    assert set(shown_segments(request.text)) == {own, "handbook:0"}
    assert [(found.query, found.count) for found in asked.told("sources_found")] == [(question, 1), (words, 1)]


async def test_a_follow_up_too_is_searched_for_in_its_own_words(scripted_openai: ScriptedOpenAI) -> None:
    standalone = "Nhân viên ở xưởng được nghỉ phép năm bao nhiêu ngày?"
    asked = modelled(scripted_openai, "en", "vi", segments=MIXED)
    await asked.ask(ASKED)
    assert scripted_openai.asked("decide_retrieval") == []
    reply = prepared(standalone_question=standalone, search_queries={"en": ["annual leave days employee"]})
    scripted_openai.script(say(reply), to="decide_retrieval")
    await asked.ask("Thế còn nhân viên ở xưởng thì sao?")
    assert [found.query for found in asked.told("sources_found")] == [standalone, "annual leave days employee"]
    assert {"so-tay:0", "handbook:0"} <= set(shown_segments(scripted_openai.asked("generate_answer")[-1].text))


async def test_a_follow_up_is_worded_in_every_other_language_of_the_library(scripted_openai: ScriptedOpenAI) -> None:
    standalone = "How many days of annual leave do employees of the workshop get?"
    queries = {"vi": ["nghỉ phép năm nhân viên xưởng"], "zh": "年假 工厂", "en": ["leave"], "fr": ["congé"]}
    scripted_openai.script(say(prepared(standalone_question=standalone, search_queries=queries)), to="decide_retrieval")
    asked = modelled(scripted_openai, "en", "vi", "zh", segments=MIXED)
    await asked.ask("How many days of annual leave does every employee get?")
    state = await asked.ask("And how many is it for employees of the workshop?")
    (request,) = scripted_openai.asked("decide_retrieval")
    assert list(request.schema["properties"]["search_queries"]["properties"]) == ["vi", "zh"]
    searched = [standalone, "nghỉ phép năm nhân viên xưởng", "年假 工厂"]
    assert [found.query for found in asked.told("sources_found")] == state.tried == searched


async def test_another_query_is_worded_in_both_languages_in_one_call(scripted_openai: ScriptedOpenAI) -> None:
    question = "Nghỉ mấy hôm?"
    scripted_openai.script(
        say(prepared(standalone_question=question, search_queries={"en": ["off"]})), to="decide_retrieval"
    )
    queries = {"en": "annual leave employee", "vi": "nghỉ phép năm nhân viên"}
    scripted_openai.script(say(json.dumps({"queries": queries, "reason": "formal words"})), to="rewrite_query")
    asked = modelled(scripted_openai, "en", segments=MIXED)
    state = await asked.ask(question, min_score=0.5)
    (request,) = scripted_openai.asked("rewrite_query")
    assert list(request.schema["properties"]["queries"]["properties"]) == ["en", "vi"]
    (request,) = scripted_openai.asked("generate_answer")
    assert set(shown_segments(request.text)) == {"so-tay:0", "handbook:0"}
    assert state.tried == [question, "off", "annual leave employee", "nghỉ phép năm nhân viên"]
    assert [found.query for found in asked.told("sources_found")] == state.tried


async def test_a_repair_is_written_from_what_both_wordings_found(scripted_openai: ScriptedOpenAI) -> None:
    scripted_openai.script(say(prepared(search_queries={"en": ["annual leave days employee"]})), to="decide_retrieval")
    wrong = LEAVE.text.replace("25", "26")
    scripted_openai.script(answer({"text": wrong, "source_ids": ["handbook:0"]}), to="generate_answer")
    asked = modelled(scripted_openai, "en", segments=MIXED, judge=WordJudge())
    await asked.ask(ASKED)
    (request,) = scripted_openai.asked("revise_sections")
    assert {"so-tay:0", "handbook:0"} <= set(shown_segments(request.text))


async def test_a_library_of_one_language_is_searched_as_it_was(scripted_openai: ScriptedOpenAI) -> None:
    asked = modelled(scripted_openai, "en")
    await asked.ask("How much annual leave?", min_score=1.0)
    await asked.ask("And how much of it for the night shift?", min_score=1.0)
    searched = [query.text for query in asked.library.queries]
    rewritten = "wording {} of {}"
    questions = ["How much annual leave?", "And how much of it for the night shift?"]
    assert searched == [text for each in questions for text in (each, rewritten.format(2, each))]
    schemas = [request.schema["properties"] for request in scripted_openai.requests if request.prompt != "title"]
    assert not any({"search_queries", "queries"} & set(each) for each in schemas)


async def test_a_long_selected_page_is_read_by_both_wordings(scripted_openai: ScriptedOpenAI) -> None:
    texts = [LEAVE.text, *["Mục này nói về chuyện khác. " * 4] * 9, VIETNAMESE.text]
    page = [segment("so-tay", index, text, start=1000 * index) for index, text in enumerate(texts)]
    scripted_openai.script(say(prepared(search_queries={"en": ["annual leave days employee"]})), to="decide_retrieval")
    asked = modelled(scripted_openai, "en", segments=page)
    await asked.ask(ASKED, pages=["so-tay"], page_tokens=256)
    (request,) = scripted_openai.asked("generate_answer")
    assert {"so-tay:0", "so-tay:10"} <= set(shown_segments(request.text))
    within = [found.query for found in asked.told("sources_found") if found.kind == "page"]
    assert within == [ASKED, "annual leave days employee"]


async def test_another_query_is_worded_in_the_librarys_language(scripted_openai: ScriptedOpenAI) -> None:
    scripted_openai.script(say(json.dumps({"query": "annual leave", "reason": "English"})), to="rewrite_query")
    scripted_openai.script(answer({"text": "25 ngày phép.", "source_ids": ["handbook:0"]}), to="generate_answer")
    asked = modelled(scripted_openai, "en")
    state = await asked.ask(ASKED, min_score=0.5, effort="fast")
    (request,) = scripted_openai.asked("rewrite_query")
    assert "Key words in English" in request.text
    assert state.tried == [ASKED, "annual leave"]
    assert state.outcome == "answered"


NONE = answer()
REWORDED = say(json.dumps({"queries": {"vi": "quyền nghỉ phép năm", "en": "annual leave employee"}, "reason": "both"}))


@pytest.mark.parametrize("effort", ["fast", "balanced"])
async def test_a_first_question_goes_to_the_other_languages_where_its_own_held_no_answer(
    scripted_openai: ScriptedOpenAI, effort: Effort
) -> None:
    found = answer({"text": "25 ngày phép.", "source_ids": ["handbook:0"]})
    scripted_openai.script(NONE, found, to="generate_answer")
    scripted_openai.script(REWORDED, to="rewrite_query")
    asked = modelled(scripted_openai, "vi", "en", segments=MIXED)
    state = await asked.ask(ASKED, effort=effort)
    prompts = [request.prompt for request in scripted_openai.requests]
    assert prompts == ["generate_answer", "rewrite_query", "generate_answer"]
    assert state.tried == [ASKED, "quyền nghỉ phép năm", "annual leave employee"]
    assert [found.query for found in asked.told("sources_found")] == state.tried
    first, second = (shown_segments(request.text) for request in scripted_openai.asked("generate_answer"))
    assert ("handbook:0" in first, "handbook:0" in second) == (False, True)
    assert list(second)[: len(first)] == list(first)
    assert (state.outcome, state.sections[0]["source_ids"]) == ("answered", ["handbook:0"])


async def test_nothing_is_written_anew_from_the_same_sources(scripted_openai: ScriptedOpenAI) -> None:
    scripted_openai.script(NONE, to="generate_answer")
    scripted_openai.script(REWORDED, to="rewrite_query")
    asked = modelled(scripted_openai, "vi", "en", segments=[VIETNAMESE])
    state = await asked.ask(ASKED)
    assert [request.prompt for request in scripted_openai.requests] == ["generate_answer", "rewrite_query"]
    assert (state.outcome, state.stop_reason) == ("abstained", "insufficient_evidence")


async def test_in_a_library_of_one_language_other_words_are_searched_for_before_a_refusal(
    scripted_openai: ScriptedOpenAI,
) -> None:
    question = "annual leave a year cancelled"
    scripted_openai.script(answer(), to="generate_answer")
    scripted_openai.script(say(json.dumps({"query": "max_connections option", "reason": "other"})), to="rewrite_query")
    asked = modelled(scripted_openai, "en")
    state = await asked.ask(question, min_score=0.1)
    (request,) = scripted_openai.asked("rewrite_query")
    assert request.text.endswith("Key words in English, as JSON:")
    assert [found.query for found in asked.told("sources_found")] == [question, "max_connections option"]
    assert (len(scripted_openai.asked("generate_answer")), state.outcome) == (2, "answered")


@pytest.mark.parametrize("limits", [{"max_rewrites": 0}, {"max_model_calls": 1}, {"max_model_calls": 2}])
async def test_no_answer_is_a_refusal_where_the_limits_leave_no_second_writing(
    scripted_openai: ScriptedOpenAI, limits: dict[str, int]
) -> None:
    scripted_openai.script(NONE, to="generate_answer")
    asked = modelled(scripted_openai, "vi", "en", segments=MIXED)
    state = await asked.ask(ASKED, **limits)
    assert [request.prompt for request in scripted_openai.requests] == ["generate_answer"]
    assert state.outcome == "abstained"


@pytest.fixture
def quoting() -> Families:
    return configured_families(Settings(_env_file=None))


def quoted(families: Families, *languages: str) -> Asked:
    library = MemoryLibrary([LEAVE, PORT])
    return Asked(
        library=library,
        of=Resources(library, library, families, languages=written_in(*languages)),
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
