"""Verification of other people's claims: verdicts by code and judge, by what is cited first, within limits."""

import asyncio
from collections.abc import Callable, Sequence

import pytest

from answers.claim_evidence import MOST_COMMON, MOST_SEARCHES, GivenEvidence, LibraryEvidence
from answers.verification import MOST_BYTES, MOST_CLAIMS, Verification, verify_answer, verify_claims
from answers.verifier import Verifier
from graph.errors import InvalidRequest, ModelUnavailable
from graph.evidence import ExamFigure, Hit, Identity, Verdict
from graph.ports import Judge, Judgement, OpenClaim, SearchQuery, SearchResult
from graph.reasons import Reason
from graph.usage import Meter
from tests.fakes import MemoryLibrary, segment, spend_tokens
from tools.claims.code_checker import CodeChecker
from tools.library.given_texts import GivenText, given_segments

HANDBOOK = "# Leave\n\nEvery employee gets 25 days of annual leave a year. Unused leave lapses in March."
TRAVEL = "Second class is booked for trains. The notice period is three months."
EXAM = ExamFigure(language="en", right=39, of=40)
REWORDED = "Whoever works here may take 25 days off, as annual leave, each year."

Say = Callable[[OpenClaim], Verdict | None]


class ScriptedJudge:
    """A judge that has passed its exam, and says what a function says."""

    name = "scripted"
    version = "1"

    def __init__(self, say: Say, exam: ExamFigure | None = EXAM) -> None:
        self._say = say
        self._exam = exam
        self.batches: list[Sequence[OpenClaim]] = []

    async def judge(self, claims: Sequence[OpenClaim], *, meter: Meter) -> list[Judgement]:
        meter.call()
        spend_tokens(meter, 42)
        self.batches.append(claims)
        return [Judgement(self._say(claim), reason="as it says", exam=self._exam) for claim in claims]


class AbsentJudge(ScriptedJudge):
    """A judge whose endpoint does not answer."""

    async def judge(self, claims: Sequence[OpenClaim], *, meter: Meter) -> list[Judgement]:
        raise ModelUnavailable("The model did not reply.")


def given_evidence(*texts: str) -> GivenEvidence:
    return GivenEvidence(given_segments([GivenText(text) for text in texts]))


def verifier(judge: Judge | None = None, *, calls: int = 8) -> Verifier:
    return Verifier(CodeChecker(), judge, Meter(calls_left=calls))


def answered(answer: str, *texts: str, judge: Judge | None = None, question: str = "", calls: int = 8) -> Verification:
    found = asyncio.run(verify_answer(answer, given_evidence(*texts), verifier(judge, calls=calls), question))
    for claim in found["claims"]:
        assert answer[claim["start"] : claim["end"]] == claim["text"]
        for quote in claim["citations"]:
            assert quote["source"] is not None
            assert texts[quote["source"] - 1][quote["start"] : quote["end"]] == quote["quote"]
    assert sum(found["totals"].values()) == len(found["claims"])
    return found


def test_what_is_unverified_passes_unless_asked_strictly() -> None:
    claims = ["Unused leave lapses in March.", "Whoever leaves leave unused until March has none of it."]

    def passed(claims: Sequence[str], judge: Judge | None = None, *, strict: bool = False) -> bool:
        evidence = given_evidence(HANDBOOK)
        return asyncio.run(verify_claims(claims, evidence, verifier(judge), "", strict=strict))["passed"]

    assert passed(claims)
    assert not passed(claims, strict=True)
    assert passed(claims, ScriptedJudge(lambda _: "supported"), strict=True)
    assert not passed(claims, ScriptedJudge(lambda _: "unsupported"))
    assert passed(claims[:1], strict=True)


def test_each_claim_of_an_answer_has_a_verdict_and_exact_quotes() -> None:
    found = answered("Unused leave lapses in March. Unused leave lapses in April.", HANDBOOK, TRAVEL)
    first, second = found["claims"]
    assert (first["verdict"], first["by"], first["citations"][0]["quote"]) == (
        "supported",
        "text",
        "Unused leave lapses in March.",
    )
    assert (second["verdict"], second["reasons"]) == ("unverified", [Reason("differs", "March", "April")])
    assert (first["cited"], first["cited_ok"]) == ([], None)
    assert found["judge"] is None


def test_what_a_claim_cites_is_told_apart_from_what_bears_it() -> None:
    answer = (
        "Unused leave lapses in March [1]. The notice period is three months [1], [2]. "
        "Second class is booked for trains. [1] The notice period is three months. [7]"
    )
    cited, both, elsewhere, nowhere = answered(answer, HANDBOOK, TRAVEL)["claims"]
    assert cited["cited"] == [{"mark": "[1]", "source": 1, "segment_id": None}]
    assert (cited["verdict"], cited["cited_ok"]) == ("supported", True)
    assert (both["verdict"], both["cited_ok"]) == ("supported", True)
    assert (elsewhere["verdict"], elsewhere["cited_ok"]) == ("supported", False)
    assert [quote["source"] for quote in elsewhere["citations"]] == [2]
    assert nowhere["cited"] == [{"mark": "[7]", "source": None, "segment_id": None}]
    assert (nowhere["verdict"], nowhere["cited_ok"]) == ("supported", False)


def test_the_cited_source_is_quoted_where_two_say_the_same() -> None:
    (claim,) = answered("Unused leave lapses in March. [2]", HANDBOOK, HANDBOOK)["claims"]
    assert [quote["source"] for quote in claim["citations"]] == [2]


def test_a_judge_decides_what_code_leaves_open_and_is_named() -> None:
    judge = ScriptedJudge(lambda claim: "contradicted" if "April" in claim.claim else "supported")
    found = answered(f"{REWORDED} Unused leave lapses in April.", HANDBOOK, judge=judge, question="How much leave?")
    open_claim, near_copy = found["claims"]
    assert (open_claim["verdict"], open_claim["by"], open_claim["judge"]["model"]) == ("supported", "judge", "scripted")
    assert (near_copy["verdict"], near_copy["by"]) == ("contradicted", "judge")
    assert near_copy["reasons"] == [Reason("differs", "March", "April"), "as it says"]
    ((asked, _),) = judge.batches
    assert (asked.claim, asked.question) == (REWORDED, "How much leave?")
    assert found["spent"]["judge_claims"]["calls"] == 1
    assert found["spent"]["judge_claims"]["tokens"] == 42
    assert found["judge"] == "scripted"


def test_before_its_exam_a_judge_takes_marks_away_and_proves_nothing() -> None:
    judge = ScriptedJudge(lambda claim: "unsupported" if "buses" in claim.claim else "supported", exam=None)
    found = answered(f"{REWORDED} Unused leave lapses on buses.", HANDBOOK, judge=judge)
    assert [(claim["verdict"], claim["mark"], claim["judge"]["says"]) for claim in found["claims"]] == [
        ("unverified", "shown", "supported"),
        ("unsupported", "withheld", "unsupported"),
    ]
    assert not found["passed"]


def test_a_judge_reads_what_is_cited_first_and_the_rest_only_where_that_is_not_enough() -> None:
    judge = ScriptedJudge(
        lambda claim: "supported" if any("25 days" in each.text for each in claim.entries) else "unsupported"
    )
    right, wrong = answered(f"{REWORDED} [1]\n\n{REWORDED} [2]", HANDBOOK, TRAVEL, judge=judge)["claims"]
    assert (right["verdict"], right["cited_ok"]) == ("supported", True)
    assert (wrong["verdict"], wrong["cited_ok"]) == ("supported", False)
    assert [len(batch) for batch in judge.batches] == [2, 1]


def test_what_a_cited_source_contradicts_stays_so_where_nobody_can_decide_by_the_rest() -> None:
    judge = ScriptedJudge(lambda claim: "contradicted" if len(claim.entries) == 1 else None)
    (claim,) = answered(f"{REWORDED} [2]", HANDBOOK, TRAVEL, judge=judge)["claims"]
    assert (claim["verdict"], claim["cited_ok"]) == ("contradicted", False)


def test_a_judge_that_cannot_be_asked_is_reported_and_leaves_the_verdicts_of_code() -> None:
    for judge, calls, code in ((AbsentJudge(lambda _: None), 8, "model_unavailable"), (None, 0, "budget_exhausted")):
        found = answered(REWORDED, HANDBOOK, judge=judge or ScriptedJudge(lambda _: "supported"), calls=calls)
        assert found["claims"][0]["verdict"] == "unverified"
        assert found["fallback"] is not None
        assert found["fallback"]["code"] == code


def test_claims_are_verified_one_by_one_with_the_worst_verdict_of_their_sentences() -> None:
    claims = [
        "Unused leave lapses in March. Second class is booked for trains.",
        "Second class is booked for trains. Unused leave lapses in April.",
        "```\nan open fence",
        "Second class is booked for trains",
        "...",
    ]
    found = asyncio.run(verify_claims(claims, given_evidence(HANDBOOK, TRAVEL), verifier(), ""))["claims"]
    assert [(claim["start"], claim["text"]) for claim in found] == [(0, text) for text in claims]
    assert [claim["verdict"] for claim in found][:2] == ["supported", "unverified"]
    assert found[3]["verdict"] == "supported"
    assert {quote["source"] for quote in found[0]["citations"]} == {1, 2}
    assert "cited" not in found[0]


def test_of_many_segments_each_claim_is_checked_against_the_nearest() -> None:
    rooms = [f"Room {at} of the lodge holds {at + 2} beds." for at in range(MOST_COMMON + 10)]
    evidence = given_evidence(*rooms)
    assert evidence.common is None
    found = asyncio.run(verify_answer(f"{rooms[38]} Room 37 of the lodge holds 4 beds. [1]", evidence, verifier(), ""))
    first, second = found["claims"]
    assert (first["verdict"], first["citations"][0]["source"]) == ("supported", 39)
    assert second["verdict"] != "supported"
    assert second["cited_ok"] is not True


class CountedSearch(MemoryLibrary):
    """A library that finds the handbook for everything, and counts its searches."""

    searches = 0

    async def search(self, query: SearchQuery) -> SearchResult:
        self.searches += 1
        return SearchResult((Hit(self.handbook, 0.9),), degraded="words only" if self.searches == 1 else None)

    handbook = segment("handbook", 0, HANDBOOK, title="Handbook")


def test_in_the_library_each_claim_is_searched_for_up_to_a_limit() -> None:
    library = CountedSearch([CountedSearch.handbook])
    evidence = LibraryEvidence(library, library, Identity())
    claims = ["Unused leave lapses in March."] * (MOST_SEARCHES + 1)
    found = asyncio.run(verify_claims(claims, evidence, verifier(), ""))
    assert library.searches == MOST_SEARCHES
    (quote,) = found["claims"][0]["citations"]
    assert (quote["source"], quote["document_id"], quote["segment_id"]) == (None, "handbook", "handbook:0")
    assert quote["quote"] == HANDBOOK[quote["start"] : quote["end"]]
    last = found["claims"][-1]
    assert last["verdict"] == "unverified"
    assert last["reasons"] == [Reason("not_searched")]
    assert found["degraded"] == "words only"


def test_in_the_library_a_mark_may_name_a_segment() -> None:
    library = CountedSearch([CountedSearch.handbook])
    evidence = LibraryEvidence(library, library, Identity())
    answer = "Unused leave lapses in March [SEG=handbook:0]. Unused leave lapses in March [SEG=gone:1]. It lapses. [1]"
    named, gone, number = asyncio.run(verify_answer(answer, evidence, verifier(), ""))["claims"]
    assert (named["cited"][0]["segment_id"], named["cited_ok"]) == ("handbook:0", True)
    assert (gone["verdict"], gone["cited_ok"]) == ("supported", False)
    assert number["cited_ok"] is None


def test_without_a_second_left_nothing_is_searched_for() -> None:
    library = CountedSearch([CountedSearch.handbook])
    meter = Meter(seconds_left=0.0)
    evidence = LibraryEvidence(library, library, Identity())
    found = asyncio.run(verify_claims(["It rains."], evidence, Verifier(CodeChecker(), None, meter), ""))
    assert (library.searches, found["claims"][0]["verdict"]) == (0, "unverified")


def test_where_nothing_is_found_a_claim_is_unverified_and_says_so() -> None:
    library = MemoryLibrary([])
    evidence = LibraryEvidence(library, library, Identity())
    (claim,) = asyncio.run(verify_claims(["It rains."], evidence, verifier(), ""))["claims"]
    assert (claim["verdict"], claim["reasons"]) == ("unverified", [Reason("nothing_found")])


@pytest.mark.parametrize(
    ("claims", "fault"),
    [
        (["It rains."] * (MOST_CLAIMS + 1), "claims: there are 201"),
        (["a" * MOST_BYTES, "b"], "claims: 100,001 bytes"),
        (["It rains.", " "], "claims: a blank text"),
    ],
)
def test_a_limit_on_claims_names_the_field(claims: list[str], fault: str) -> None:
    with pytest.raises(InvalidRequest, match=fault):
        asyncio.run(verify_claims(claims, given_evidence(HANDBOOK), verifier(), ""))


def test_an_answer_may_have_so_many_claims() -> None:
    with pytest.raises(InvalidRequest, match="answer: it has 201 claims"):
        answered("It rains here on most days. " * (MOST_CLAIMS + 1), HANDBOOK)
