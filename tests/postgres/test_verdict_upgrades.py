"""What a judge said before its exam, settled in stored messages once the exam is over."""

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest

from graph.evidence import Citation, CodeFinding, Identity, JudgeMark, Origin, SectionClaim
from graph.reasons import Reason, why
from tests.judging import RuleJudge, coin, knows, small_exam
from tests.postgres.conversing import ME, store_turn
from tools.judges.exam_marking import LanguageResult
from tools.judges.exam_store import ExamStore, exam_key
from tools.judges.examiner import Examiner
from tools.judges.sequential_testing import Share
from tools.runs.notifications import Notifications, PostgresCarrier
from tools.runs.verdict_upgrades import SessionEvents, VerdictUpgrades
from tools.sessions.session_store import Sessions
from tools.settings import JudgeSettings
from tools.storage.database import Database
from tools.storage.tenants import Workspaces

EXAM = small_exam("en", "vi", each=20)
MANUAL = JudgeSettings(exam="manual")


def claim(
    says: str,
    *,
    section: int = 0,
    language: str = "en",
    probability: float | None = None,
    origin: Origin = "cited",
    **of_mark: Any,
) -> SectionClaim:
    """Return a claim as it is stored that the judge named rule has judged before its exam."""
    verdict = "unverified" if says == "supported" else says
    said = why("In its own words.")
    citation = Citation(
        segment_id="d:0", document_id="d", segment_index=0, page_idx=None, start=0, end=4, quote="Four", origin=origin,
        verdict=verdict, source_index=1, section_index=section,
    )  # fmt: skip
    mark = JudgeMark(
        model="rule", exam=None, says=says, version="1", language=language, probability=probability, **of_mark
    )
    return SectionClaim(
        start=0, end=4, text="Four", verdict=verdict, reasons=[said[0]["text"]], why=said, citations=[citation],
        by="judge", judge=mark, mark="shown" if says == "supported" else "withheld", section_index=section,
    )  # fmt: skip


def body(*claims: SectionClaim) -> dict[str, Any]:
    """Return the body of a message with a claim a section."""
    counts = {"supported": 0, "contradicted": 0, "unsupported": 0, "unverified": 0}
    for each in claims:
        counts[each["verdict"]] += 1
    assessment = {
        "supported": False, "utility": 0.5, "claims": counts, "reason": "", "model_score": None,
        "why": [{"code": "assessed", "parts": [*counts.values(), 1.0], "text": ""}],
    }  # fmt: skip
    sections = [{"text": "Four", "source_ids": ["d:0"]} for _ in claims]
    return {
        "answer": "Four", "sections": sections, "claims": list(claims), "sources": [], "assessment": assessment,
        "citations": [citation for each in claims for citation in each["citations"]], "spent": {},
    }  # fmt: skip


@pytest.fixture
def sessions(database: Database) -> Sessions:
    return Sessions(database, Workspaces(database))


@pytest.fixture
def upgrades(database: Database) -> VerdictUpgrades:
    return VerdictUpgrades(database, load=lambda: EXAM)


@pytest.fixture
async def session_id(sessions: Sessions) -> str:
    return (await sessions.create(ME)).session_id


def examiner(database: Database, upgrades: VerdictUpgrades) -> Examiner:
    return Examiner(ExamStore(database), MANUAL, after_exam=upgrades.run, load=lambda: EXAM)


async def stored(sessions: Sessions, session_id: str) -> dict[str, Any]:
    return (await sessions.get(ME, session_id)).messages[-1].body


def verdicts(message: dict[str, Any]) -> list[tuple[str, str]]:
    return [(each["verdict"], each["mark"]) for each in message["claims"]]


async def test_a_passed_exam_proves_what_the_judge_supported_and_keeps_what_it_doubted(
    database: Database, upgrades: VerdictUpgrades, sessions: Sessions, session_id: str
) -> None:
    vietnamese = claim("supported", section=2, language="vi")
    await store_turn(
        database, session_id, "Q", "Four", body=body(claim("supported"), claim("contradicted", section=1), vietnamese)
    )
    assert verdicts(await stored(sessions, session_id))[0] == ("unverified", "shown")  # and it is kept for readings
    await examiner(database, upgrades).take(RuleJudge(knows(EXAM)), ["en"])
    message = await stored(sessions, session_id)
    assert verdicts(message) == [("supported", "shown"), ("contradicted", "withheld"), ("unverified", "shown")]
    exam = {"language": "en", "right": 20, "of": 20}
    assert [each["judge"]["exam"] for each in message["claims"]] == [exam, exam, None]
    assert [each["verdict"] for each in message["citations"]] == ["supported", "contradicted", "unverified"]
    assert message["claims"][0]["citations"][0]["verdict"] == "supported"
    assert [len(section["marks"]) for section in message["sections"]] == [1, 0, 1]
    assert message["assessment"]["claims"] == {"supported": 1, "contradicted": 1, "unsupported": 0, "unverified": 1}
    assert message["assessment"]["supported"] is False
    assert message["claims"][1]["reasons"] == ["In its own words."]
    await examiner(database, upgrades).take(RuleJudge(knows(EXAM)), ["vi"])
    assert verdicts(await stored(sessions, session_id))[2] == ("supported", "shown")
    assert await upgrades.run() == 0


async def test_a_failed_exam_takes_the_judges_say_away(
    database: Database, upgrades: VerdictUpgrades, sessions: Sessions, session_id: str
) -> None:
    doubted = claim("supported", section=2, doubted=True)
    await store_turn(
        database, session_id, "Q", "Four", body=body(claim("supported"), claim("unsupported", section=1), doubted)
    )
    await examiner(database, upgrades).take(RuleJudge(coin), ["en"])
    message = await stored(sessions, session_id)
    assert verdicts(message) == [("unverified", "shown"), ("unverified", "shown"), ("unverified", "withheld")]
    assert not any("judge" in each or "by" in each for each in message["claims"])
    assert {each["why"][-1]["code"] for each in message["claims"]} == {"no_judge"}
    assert message["assessment"]["claims"]["unverified"] == 3


async def test_after_a_failed_exam_a_claim_is_as_code_left_it(
    database: Database, upgrades: VerdictUpgrades, sessions: Sessions, session_id: str
) -> None:
    copied = CodeFinding(verdict="supported", doubted=False, why=[])
    unknown = CodeFinding(verdict="unverified", doubted=True, why=why(Reason("number_not_found", "30")))
    open_ = CodeFinding(verdict="unverified", doubted=False, why=[])
    claims = (
        claim("unsupported", code=copied),
        claim("unsupported", section=1, code=unknown),
        claim("supported", section=2, code=open_, origin="matched"),
    )
    await store_turn(database, session_id, "Q", "Four", body=body(*claims))
    await examiner(database, upgrades).take(RuleJudge(coin), ["en"])
    message = await stored(sessions, session_id)
    assert verdicts(message) == [("supported", "shown"), ("unverified", "withheld"), ("unverified", "withheld")]
    assert [each.get("by") for each in message["claims"]] == ["text", None, None]
    codes = [[each["code"] for each in claim["why"]] for claim in message["claims"]]
    assert codes == [["no_judge"], ["number_not_found", "no_judge"], ["no_judge"]]
    assert [each["verdict"] for each in message["citations"]] == ["supported", "unverified", "unverified"]
    assert message["assessment"]["supported"] is True
    assert message["assessment"]["utility"] == 0.3333  # neither doubt counts for anything


async def test_an_answer_with_an_open_doubt_is_not_supported(
    database: Database, upgrades: VerdictUpgrades, sessions: Sessions, session_id: str
) -> None:
    doubted = claim("unsupported", section=1, language="vi")
    await store_turn(database, session_id, "Q", "Four", body=body(claim("supported"), doubted))
    await examiner(database, upgrades).take(RuleJudge(knows(EXAM)), ["en"])
    message = await stored(sessions, session_id)
    assert verdicts(message) == [("supported", "shown"), ("unsupported", "withheld")]
    assert (message["assessment"]["supported"], message["assessment"]["utility"]) == (False, 0.5)


async def test_support_below_the_threshold_of_the_exam_is_none(
    database: Database, upgrades: VerdictUpgrades, sessions: Sessions, session_id: str
) -> None:
    probable = [claim("supported", section=at, probability=value) for at, value in enumerate((0.9, 0.6, None))]
    _, answer = await store_turn(database, session_id, "Q", "Four", body=body(*probable))
    none, all_ = Share(0, 12), Share(12, 12)
    passed = LanguageResult("en", 0.8, none, all_, Share(24, 24), none, 3, 9000, 4.0, datetime.now(UTC))
    await ExamStore(database).record(exam_key(RuleJudge(coin), EXAM), passed)
    assert await upgrades.of_message(answer)  # as its run does that ends behind the exam
    assert not await upgrades.of_message(answer)
    message = await stored(sessions, session_id)
    assert verdicts(message) == [("supported", "shown"), ("unsupported", "withheld"), ("unverified", "shown")]
    assert [each["why"][-1]["code"] for each in message["claims"][1:]] == ["below_threshold", "no_probability"]


async def test_two_languages_passed_settle_a_third_without_claims(
    database: Database, upgrades: VerdictUpgrades, sessions: Sessions, session_id: str
) -> None:
    await store_turn(database, session_id, "Q", "Four", body=body(claim("supported", language="nl")))
    taking = examiner(database, upgrades)
    await taking.take(RuleJudge(knows(EXAM)), ["en"])
    assert verdicts(await stored(sessions, session_id)) == [("unverified", "shown")]
    await taking.take(RuleJudge(knows(EXAM)), ["vi"])
    message = await stored(sessions, session_id)
    assert verdicts(message) == [("supported", "shown")]
    assert message["claims"][0]["why"][-1]["code"] == "judged_elsewhere"


async def test_processes_that_settle_at_once_change_each_message_once(
    database: Database, upgrades: VerdictUpgrades, sessions: Sessions, session_id: str
) -> None:
    for number in range(60):
        await store_turn(database, session_id, f"Q{number}", "Four", body=body(claim("supported")))
    await store_turn(database, session_id, "Q", "Four", body={**body(claim("supported")), "claims": []})
    none, all_ = Share(0, 12), Share(12, 12)
    passed = LanguageResult("en", None, none, all_, Share(24, 24), none, 3, 9000, 4.0, datetime.now(UTC))
    await ExamStore(database).record(exam_key(RuleJudge(coin), EXAM), passed)
    settled = await asyncio.gather(*(VerdictUpgrades(database, load=lambda: EXAM).run() for _ in range(4)))
    assert sum(settled) == 60
    for message in (await sessions.get(ME, session_id)).messages:
        assert all(each["verdict"] == "supported" for each in message.body.get("claims", []))


async def test_who_follows_the_session_is_told_and_who_comes_later_too(
    database: Database, upgrades: VerdictUpgrades, sessions: Sessions, session_id: str
) -> None:
    notifications = Notifications(PostgresCarrier(database.url))
    events = SessionEvents(database, sessions, notifications)
    assert not await events.waits(ME, session_id)
    _, answer = await store_turn(database, session_id, "Q", "Four", body=body(claim("supported")))
    assert await events.waits(ME, session_id)
    bounded = SessionEvents(database, sessions, notifications, at_most=0.0)
    assert [event async for event in bounded.follow(ME, session_id)] == []  # an exam that nobody takes holds nobody
    following = events.follow(ME, session_id)
    first = asyncio.ensure_future(anext(following))
    await examiner(database, upgrades).take(RuleJudge(knows(EXAM)), ["en"])
    told = await first
    assert (told.type, told.session_id, told.message_id) == ("verdicts_upgraded", session_id, answer)
    assert [each["verdict"] for each in told.claims] == ["supported"]
    assert [event async for event in following] == []  # nothing else waits
    assert [event async for event in events.follow(ME, session_id)] == [told]
    assert not await events.waits(ME, session_id, datetime.fromisoformat(told.at))
    with pytest.raises(Exception, match="no session"):
        await events.waits(Identity(user="ann"), session_id)
    await notifications.close()
