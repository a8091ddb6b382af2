"""A family that only quotes says so where it is asked for more, in the asker's language, and how a model is added."""

from collections.abc import Sequence

import pytest

import prompts
from answers.answerhood import answerhood_of
from graph.evidence import Segment
from graph.ports import Resources
from tests.fakes import MemoryLibrary, segment
from tests.graph.asking import Asked
from tools.claims.code_checker import CodeChecker
from tools.extractive.extractive_family import extractive_family

LEAVE = segment("handbook", 0, "Staff get 25 days of annual leave a year. Unused days expire in March.")
FOOD = segment("kitchen", 0, "The kitchen closes at nine.")
MEETING = segment("minutes", 0, "The committee held 6 meetings in 2025 altogether.")
PHÉP = segment("so-tay", 0, "Nhân viên được nghỉ phép năm 30 ngày nếu làm ở xưởng.")
URLAUB = segment("handbuch", 0, "Alle Angestellten haben 30 Tage Urlaub im Jahr.")
JIA = segment("shouce", 0, "工厂 员工 每年 有 三十 天 年假。")
LIBRARY = (LEAVE, FOOD, MEETING, PHÉP, URLAUB, JIA)
# Of one word of a library each: they may be quoted, or refused, but never answered.
WORK = {
    "en": "Please sum up the annual leave that staff get",
    "vi": "tóm tắt giúp tôi quy định nhân viên được nghỉ phép năm",
    "zh": "请 总结 一下 工厂 员工 年假",
    "de": "Fasse bitte zusammen, wie viele Tage Urlaub Angestellte haben",
}
UNKNOWN = "Which colour is the annual sauna?"


def session(segments: Sequence[Segment] = LIBRARY, *, refuse_below: float = 0.4) -> Asked:
    library = MemoryLibrary(segments)
    family = extractive_family(checker=CodeChecker(), refuse_below=refuse_below)
    return Asked(library, of=Resources(library, library, lambda model, *, thinking=False: family))


@pytest.mark.parametrize(("language", "question"), WORK.items())
async def test_quotes_that_are_not_what_was_asked_for_stand_between_two_notices(language: str, question: str) -> None:
    asked = session(refuse_below=0.0)
    state = await asked.ask(question, min_score=0.01)
    message = await asked.message(state)
    assert state.outcome == "answered"
    notices = [section.get("notice") for section in message["sections"]]
    assert (notices[0], notices[-1], set(notices[1:-1])) == ("quotes_only", "add_model", {None})
    lines = prompts.lines(language)
    assert message["sections"][0]["text"].startswith(lines.quotes_only)
    assert message["sections"][-1]["text"] == lines.add_model
    assert all(section.get("grounded", True) for section in message["sections"])
    quoted = [index for index, section in enumerate(message["sections"]) if "notice" not in section]
    assert quoted
    assert {claim["section_index"] for claim in message["claims"]} == set(quoted)
    decided = asked.told("retrieval_decided")[0]
    assert [each["code"] for each in decided.fallback["why"]] == ["beyond_quotes"]


async def test_what_is_quoted_is_never_told_to_answer_a_request() -> None:
    question = "How many days of annual leave do staff get a year?"
    sure = await session().ask(question, min_score=0.01)
    asked_for_more = await session().ask(f"Please sum up: {question}", min_score=0.01)
    assert sure.assessment is not None
    assert asked_for_more.assessment is not None
    assert answerhood_of(sure.assessment["answerhood"]) == "answers"
    assert answerhood_of(asked_for_more.assessment["answerhood"]) == "nearest"


@pytest.mark.parametrize(("language", "question"), WORK.items())
async def test_a_refused_request_says_that_only_quotes_can_be_had(language: str, question: str) -> None:
    state = await session(refuse_below=1.1).ask(question, min_score=0.01)
    assert state.refusal is not None
    assert (state.outcome, state.refusal["notices"]) == ("abstained", ["quotes_only", "add_model"])
    lines, text = prompts.lines(language), state.sections[-1]["text"]
    assert text.startswith(lines.quotes_only)
    assert text.endswith(lines.add_model)
    assert lines.not_in_library not in text


async def test_a_request_that_nothing_is_found_for_is_told_too() -> None:
    state = await session().ask("Übersetze diesen Absatz ins Englische", min_score=0.9)
    assert state.refusal is not None
    assert (state.language, state.refusal["notices"]) == ("de", ["quotes_only", "add_model"])


async def test_a_refusal_says_how_a_model_is_added_once_in_a_session() -> None:
    asked = session()
    told = [(await asked.ask(UNKNOWN, min_score=0.01)).refusal for _ in range(2)]
    assert [refusal and refusal.get("notices") for refusal in told] == [["add_model"], None]


async def test_a_request_after_a_refusal_is_still_told_that_only_quotes_can_be_had() -> None:
    asked = session(refuse_below=1.1)
    await asked.ask(UNKNOWN, min_score=0.01)
    state = await asked.ask(WORK["en"], min_score=0.01)
    assert state.refusal is not None
    assert state.refusal["notices"] == ["quotes_only"]


async def test_a_total_that_a_passage_says_is_an_answer() -> None:
    asked = session()
    state = await asked.ask("How many meetings did the committee hold in 2025 altogether?", min_score=0.01)
    assert state.outcome == "answered"
    assert not any("notice" in section for section in state.sections)


async def test_a_total_that_no_passage_surely_says_is_told_to_be_no_count() -> None:
    state = await session(refuse_below=0.0).ask("How many days of leave are there altogether in March?", min_score=0.01)
    assert state.sections[0].get("notice") == "quotes_only"


async def test_a_model_is_told_nothing_of_it() -> None:
    state = await Asked().ask("Summarise which colour the sauna has", min_score=0.01)
    assert state.refusal is None or "notices" not in state.refusal
    assert not any("notice" in section for section in state.sections)
