"""Exams of judges in a deployment: stored, taken once, in the background, and never by two processes."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextvars import ContextVar
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from graph.errors import ModelRefused, ModelReplyInvalid, ModelUnavailable
from graph.ports import CitedEntry, Judgement, OpenClaim
from graph.reasons import why
from graph.usage import Meter
from tests.judging import NO, WORDS, YES, RuleJudge, knows, small_exam
from tests.scripted_openai import Hold, Reply, ScriptedOpenAI, scripted_openai
from tools.judges.exam import Exam, Sitting, examine
from tools.judges.exam_marking import Spent
from tools.judges.exam_store import ExamStore, exam_key
from tools.judges.examined_judge import ExaminedJudge
from tools.judges.examiner import Examiner, ExamInProgress, without_background_exam
from tools.process.library import open_library
from tools.settings import JudgeSettings, ModelSettings, Settings
from tools.storage.database import Database

__all__ = ["scripted_openai"]

EXAM = small_exam("en", "vi", each=20)
ENGLISH = OpenClaim(WORDS["en"].format(4), (CitedEntry("4"),))
VIETNAMESE = OpenClaim(WORDS["vi"].format(4), (CitedEntry("4"),))
FRENCH = OpenClaim("Le bateau part à quatre heures et il est à quai.", (CitedEntry("4"),))
AUTO, MANUAL = JudgeSettings(exam="auto"), JudgeSettings(exam="manual")


@pytest.fixture
def store(database: Database) -> ExamStore:
    return ExamStore(database)


@pytest.fixture
async def examiner(store: ExamStore) -> AsyncIterator[Examiner]:
    opened = Examiner(store, MANUAL, load=lambda: EXAM)
    yield opened
    await opened.close()


@pytest.fixture
async def automatic(store: ExamStore) -> AsyncIterator[Examiner]:
    opened = Examiner(store, AUTO, load=lambda: EXAM)
    yield opened
    await opened.close()


async def ask(examiner: Examiner, judge: RuleJudge, *claims: OpenClaim) -> list[Judgement]:
    return await ExaminedJudge(judge, examiner).judge(claims, meter=Meter())


async def missing(examiner: Examiner, judge: RuleJudge, language: str = "en") -> str:
    """Have the exam started where it is due, as a question does, and say why there is no result."""
    standing = await examiner.standing(judge, language, command="citewell judge exam")
    assert standing.passed is standing.failed is None
    return standing.reason


async def background(name: str) -> None:
    """Wait for the exam of a judge in the background."""
    for task in exams(name):
        await asyncio.wait([task])
        await asyncio.sleep(0)  # its callback


def exams(name: str) -> list[asyncio.Task[object]]:
    """Return the exams of a judge in the background."""
    return [task for task in asyncio.all_tasks() if task.get_name().startswith(f"citewell-exam-{name}-")]


async def test_a_result_is_read_as_it_was_stored(store: ExamStore) -> None:
    judge = RuleJudge(knows(EXAM))
    key = exam_key(judge, EXAM)
    assert await store.read(key) is None
    taken = {code: await examine(judge, EXAM, code) for code in EXAM.languages}
    sitting = Sitting({"vi-0": Judgement("supported", 0.75), "vi-1": Judgement(None)}, Spent(1, 100, 0.5))
    await store.keep(key, "vi", sitting)
    await store.record(key, taken["en"])
    begun = await store.read(key)
    assert begun is not None
    assert begun.sittings == {"vi": sitting}
    await store.record(key, replace(taken["vi"], threshold=0.25))
    stored = await store.read(key)
    assert stored is not None
    assert stored.languages == {"en": taken["en"], "vi": replace(taken["vi"], threshold=0.25)}
    assert stored.sittings == {}
    assert stored.finished_at is not None
    assert stored.finished_at >= stored.started_at


async def test_a_judge_that_passed_has_a_say_with_its_figure(examiner: Examiner) -> None:
    judge = RuleJudge(knows(EXAM))
    await examiner.take(judge, ["en"])
    (judgement,) = await ask(examiner, judge, ENGLISH)
    assert judgement.verdict == "supported"
    assert judgement.exam == {"language": "en", "right": 20, "of": 20}


async def test_without_an_exam_a_judge_is_asked_and_the_reason_names_the_command(examiner: Examiner) -> None:
    judge = RuleJudge(knows(EXAM))
    (judgement,) = await ExaminedJudge(judge, examiner, "citewell judge exam --model small").judge(
        [ENGLISH], meter=(meter := Meter())
    )
    assert (judgement.verdict, judgement.exam) == ("supported", None)
    unexamined, missing = why(judgement.reason)
    assert (unexamined["code"], unexamined["parts"]) == ("judged_unexamined", ["rule"])
    assert (missing["code"], missing["parts"][0]) == ("no_judge", "English")
    assert "citewell judge exam --model small" in judgement.reason
    assert (judge.batches, meter.calls) == ([[ENGLISH]], 1)


async def test_in_a_language_without_claims_who_passed_in_two_has_a_say_and_says_so(examiner: Examiner) -> None:
    judge = RuleJudge(knows(EXAM))
    await examiner.take(judge, ["vi"])
    assert (await ask(examiner, judge, FRENCH))[0].exam is None
    await examiner.take(judge, ["en"])
    judge.rule = lambda claim: YES
    (french,) = await ask(examiner, judge, FRENCH)
    assert french.verdict == "supported"
    assert french.exam is not None
    assert french.exam["language"] in ("en", "vi")
    assert why(french.reason)[-1]["parts"] == ["French", "English and Vietnamese"]


async def test_in_a_language_without_claims_who_failed_in_two_has_none(examiner: Examiner) -> None:
    judge = RuleJudge(lambda claim: YES)
    await examiner.take(judge, EXAM.languages)
    standing = await examiner.standing(judge, "fr", command="citewell judge exam")
    assert standing.failed is not None
    assert "failed in English and Vietnamese" in standing.reason


async def test_a_question_in_a_language_without_claims_starts_the_exam_in_two_others(automatic: Examiner) -> None:
    judge = RuleJudge(knows(EXAM))
    await ask(automatic, judge, FRENCH)
    await background("rule")
    assert len(judge.asked) == 1 + len(EXAM.claims)
    judge.rule = lambda claim: YES
    assert (await ask(automatic, judge, FRENCH))[0].verdict == "supported"


async def test_a_judge_that_failed_has_no_say_and_the_reason_says_by_what(examiner: Examiner) -> None:
    judge = RuleJudge(lambda claim: YES)
    await examiner.take(judge, ["en"])
    judge.batches.clear()
    (judgement,) = await ask(examiner, judge, ENGLISH)
    assert judgement.verdict is None
    assert "rule failed it; it called" in judgement.reason
    assert judge.batches == []


async def test_each_language_counts_alone(examiner: Examiner) -> None:
    english = {claim.claim.claim for claim in EXAM.of("en") if claim.supported}
    judge = RuleJudge(lambda claim: YES if claim.claim in english or "phà" in claim.claim else NO)
    await examiner.take(judge, EXAM.languages)
    vietnamese, passed = await ask(examiner, judge, VIETNAMESE, ENGLISH)
    assert vietnamese.verdict is None
    assert "Vietnamese: rule failed it" in vietnamese.reason
    assert passed.verdict == "supported"
    assert judge.batches[-1] == [ENGLISH]


async def test_the_threshold_of_the_exam_holds_for_verdicts(examiner: Examiner) -> None:
    right = {claim.claim.claim for claim in EXAM.claims if claim.supported}
    judge = RuleJudge(lambda claim: Judgement("supported", 0.8 if claim.claim in right else 0.6))
    await examiner.take(judge, ["en"])
    judge.rule = lambda claim: Judgement("supported", 0.79 if claim == ENGLISH else 0.8)
    below, above = await ask(examiner, judge, ENGLISH, replace(ENGLISH, before="Before."))
    assert (below.verdict, above.verdict) == ("unsupported", "supported")
    assert "0.79, is below the 0.80" in below.reason
    assert below.exam is not None


async def test_a_verdict_too_few_is_an_unreadable_reply(examiner: Examiner) -> None:
    judge = RuleJudge(knows(EXAM))
    await examiner.take(judge, ["en"])

    async def short(claims: object, *, meter: Meter) -> list[Judgement]:
        return []

    judge.judge = short  # type: ignore[method-assign, assignment]
    with pytest.raises(ModelReplyInvalid, match=r"0 verdicts for 1 claim\b"):
        await ask(examiner, judge, ENGLISH)


@pytest.mark.parametrize("changed", ["name", "version", "exam"])
async def test_another_model_prompt_or_exam_needs_a_new_exam(store: ExamStore, changed: str) -> None:
    first = Examiner(store, MANUAL, load=lambda: EXAM)
    await first.take(RuleJudge(knows(EXAM)), EXAM.languages)
    judge = RuleJudge(knows(EXAM), **({changed: "other"} if changed != "exam" else {}))
    exam = Exam(EXAM.claims, "other") if changed == "exam" else EXAM
    second = Examiner(store, MANUAL, load=lambda: exam)
    (judgement,) = await ask(second, judge, ENGLISH)
    assert judgement.exam is None
    (same,) = await ask(second, RuleJudge(knows(EXAM)), ENGLISH)
    assert (same.exam is None) == (changed == "exam")


async def test_only_missing_languages_are_taken_unless_asked_again(examiner: Examiner) -> None:
    judge = RuleJudge(knows(EXAM))
    await examiner.take(judge, ["en"])
    assert len(judge.asked) == 20
    steps: list[tuple[int, int]] = []
    results = await examiner.take(judge, EXAM.languages, progress=lambda done, of: steps.append((done, of)))
    assert set(results) == {"en", "vi"}
    assert len(judge.asked) == 40
    assert steps[-1] == (40, 40)
    await examiner.take(judge, ["en"], again=True)
    assert len(judge.asked) == 60


async def test_the_first_question_starts_the_exam_once_and_says_what_it_costs(
    automatic: Examiner, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "citewell.judges")
    judge = RuleJudge(knows(EXAM), gate=asyncio.Event())
    asked = await asyncio.gather(*(ask(automatic, judge, VIETNAMESE, ENGLISH) for _ in range(5)))
    for vietnamese, english in asked:
        assert vietnamese.exam is english.exam is None
        assert "(20 claims in about 2 calls, " in vietnamese.reason
    judge.gate.set()  # type: ignore[union-attr]
    await background("rule")
    assert len(judge.asked) == 10 + len(EXAM.claims)
    starts = [record.getMessage() for record in caplog.records if "takes its exam" in record.getMessage()]
    assert len(starts) == 2  # one a language that was asked
    assert [each.verdict for each in await ask(automatic, judge, VIETNAMESE, ENGLISH)] == ["supported", "supported"]


async def test_the_exam_is_not_charged_to_the_run(automatic: Examiner) -> None:
    judge = RuleJudge(knows(EXAM))
    meter = Meter(calls_left=1)
    await ExaminedJudge(judge, automatic).judge([ENGLISH], meter=meter)
    await background("rule")
    assert (meter.calls, meter.tokens) == (1, judge.tokens)
    assert len(judge.asked) == 1 + len(EXAM.of("en"))  # and no other language


async def test_the_exam_knows_nothing_of_the_run_that_starts_it(automatic: Examiner) -> None:
    of_run: ContextVar[str] = ContextVar("of_run", default="none")
    seen: set[str] = set()

    def note(claim: OpenClaim) -> Judgement:
        seen.add(of_run.get())
        return NO

    token = of_run.set("a run")
    await missing(automatic, RuleJudge(note))
    of_run.reset(token)
    await background("rule")
    assert seen == {"none"}


async def test_an_exam_that_ends_early_is_no_failed_one_waits_ten_minutes_and_goes_on(
    automatic: Examiner, store: ExamStore, database: Database
) -> None:
    judge = RuleJudge(knows(EXAM), failure=ModelUnavailable("The endpoint is down."), fails_after=1)
    await missing(automatic, judge)
    await background("rule")
    stored = await store.read(exam_key(judge, EXAM))
    assert stored is not None
    assert (stored.languages, stored.trouble) == ({}, "The endpoint is down.")
    assert len(stored.sittings["en"].judgements) == 10
    judge.failure = None
    assert "(The endpoint is down)" in await missing(automatic, judge)
    assert exams("rule") == []
    async with database.connection() as connection:
        await connection.execute("UPDATE judge_exams SET trouble_at = now() - interval '10 minutes'")
    later = Examiner(store, AUTO, load=lambda: EXAM)
    assert "is taking it now" in await missing(later, judge)
    assert exams("rule") != []
    await background("rule")
    assert (await ask(later, judge, ENGLISH))[0].verdict == "supported"
    asked = [claim.claim for claim in judge.asked if claim != ENGLISH]
    assert len(asked) == len(set(asked)) == 20  # nothing is paid for twice
    stored = await store.read(exam_key(judge, EXAM))
    assert stored is not None
    assert (stored.trouble, stored.sittings) == (None, {})
    await later.close()


async def test_a_judge_that_breaks_its_port_ends_the_exam_and_no_question(
    automatic: Examiner, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(claim: OpenClaim) -> Judgement:
        raise ValueError("no such claim")

    judge = RuleJudge(broken)
    await missing(automatic, judge)
    await background("rule")
    assert "ended early (ValueError: no such claim)" in await missing(automatic, judge)
    assert [record for record in caplog.records if record.exc_info and "ended early" in record.getMessage()]


async def test_one_of_two_processes_takes_an_exam(store: ExamStore, automatic: Examiner) -> None:
    judge = RuleJudge(knows(EXAM), gate=asyncio.Event())
    await ask(automatic, judge, ENGLISH)
    await judge.reached.wait()
    other, theirs = Examiner(store, AUTO, load=lambda: EXAM, cache_seconds=0), RuleJudge(knows(EXAM))
    with pytest.raises(ExamInProgress, match="Another process"):
        await other.take(theirs, ["en"])
    assert "is taking it now" in await missing(other, theirs)
    assert judge.gate is not None
    judge.gate.set()
    await asyncio.gather(*exams("rule"), return_exceptions=True)
    assert theirs.batches == []
    assert (await ask(other, theirs, ENGLISH))[0].verdict == "supported"
    await other.close()


async def test_a_shutdown_stops_an_exam_and_the_next_process_takes_it(store: ExamStore) -> None:
    first = Examiner(store, AUTO, load=lambda: EXAM)
    judge = RuleJudge(knows(EXAM), gate=asyncio.Event())
    await ask(first, judge, ENGLISH)
    await judge.reached.wait()
    await first.close()
    assert exams("rule") == []
    second = Examiner(store, AUTO, load=lambda: EXAM)
    eager = RuleJudge(knows(EXAM))
    await ask(second, eager, ENGLISH)
    await background("rule")
    assert (await ask(second, eager, ENGLISH))[0].verdict == "supported"
    await second.close()


@pytest.mark.parametrize(
    ("failure", "told"),
    [
        (ModelRefused("The key is refused."), "The key is refused"),
        (RuntimeError("It broke\0."), "RuntimeError: It broke"),
    ],
)
async def test_what_ends_an_exam_early_is_stored(
    examiner: Examiner, store: ExamStore, failure: Exception, told: str
) -> None:
    judge = RuleJudge(knows(EXAM), failure=failure)
    with pytest.raises(type(failure)):
        await examiner.take(judge, ["en"])
    stored = await store.read(exam_key(judge, EXAM))
    assert stored is not None
    assert stored.languages == {}
    assert stored.trouble_at is not None
    assert datetime.now(UTC) - stored.trouble_at < timedelta(minutes=1)
    assert f"({told}); `citewell judge exam --language en` " in await missing(examiner, judge)


async def test_every_judge_of_a_library_is_held_to_its_exam_and_closes_with_it(
    settings: Settings, scripted_openai: ScriptedOpenAI
) -> None:
    hold = Hold()
    scripted_openai.script(Reply(steps=[hold]), to="judge_claims")
    model = ModelSettings(name="scripted", base_url=scripted_openai.base_url, model="any")
    configured = settings.model_copy(update={"models": [model], "judge": AUTO})
    async with open_library(configured) as library:
        judge = library.families("scripted").judge
        assert isinstance(judge, ExaminedJudge)
        assert library.families("scripted").judge is judge
        standing = await judge.examiner.standing(judge.raw, "en", command=judge.command)
        assert "(32 claims in about 2 calls" in standing.reason
        await asyncio.to_thread(hold.wait_reached)
    assert [task.get_name() for task in asyncio.all_tasks() if "exam" in task.get_name()] == []
    (asked,) = scripted_openai.requests
    assert await asyncio.to_thread(asked.wait_disconnected)
    async with open_library(without_background_exam(configured)) as library:
        judge = library.families("scripted").judge
        assert isinstance(judge, ExaminedJudge)
        standing = await judge.examiner.standing(judge.raw, "en", command=judge.command)
        assert "`citewell judge exam --model scripted --language en` " in standing.reason
    assert len(scripted_openai.requests) == 1


async def test_a_judge_with_an_endpoint_of_its_own_is_examined_without_naming_a_model(
    settings: Settings, scripted_openai: ScriptedOpenAI
) -> None:
    own = JudgeSettings(exam="manual", base_url=scripted_openai.base_url, model="small-judge")
    async with open_library(settings.model_copy(update={"judge": own})) as library:
        judge = library.families("extractive").judge
        assert judge is not None
        (judgement,) = await judge.judge([ENGLISH], meter=Meter())
    assert "small-judge " in judgement.reason
    assert "`citewell judge exam --language en` " in judgement.reason
