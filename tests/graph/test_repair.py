"""Claims that fail: what is written again, what is taken, what is withdrawn, and that all of it ends."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import pytest

import prompts
from answers.checking import support_score
from graph.ports import DraftClosed, DraftOpened, DraftText, Revision
from graph.state import State
from graph.usage import Meter
from tests.fakes import (
    MemoryLibrary,
    MemoryMcp,
    MemoryWeb,
    ScriptedChecker,
    ScriptedFamily,
    ScriptedRewriter,
    WordJudge,
    quote,
    segment,
)
from tests.graph.asking import FOOD, LEAVE, PAY, Asked, proven
from tests.graph.wrong_answers import GOOD, IN_PART, QUESTION, RIGHT, WRONG, WRONG_TEXT, Unreachable, writer


def judged(family: ScriptedFamily, library: MemoryLibrary | None = None, **ports: Any) -> Asked:
    """Ask with a judge that costs no call."""
    return Asked(library or MemoryLibrary([LEAVE, PAY, FOOD]), family, ports={"judge": WordJudge(), **ports})


async def test_only_the_failed_section_is_written_again() -> None:
    session = judged(writer([RIGHT]))
    state = await session.ask(QUESTION)
    assert [section["text"] for section in state.sections] == [
        "Staff get 25 days of annual leave.",
        "Salaries are paid on the 28th.",
    ]
    assert (state.outcome, state.stop_reason, state.repairs) == ("answered", "answer_complete", 1)
    (faulty,) = session.family.faulty[0]
    assert (faulty.section_index, faulty.text) == (1, "Salaries are paid on the 21st.")
    (claim,) = faulty.claims
    assert claim.verdict == "contradicted"
    assert "21" in claim.reasons[0]
    (revised,) = session.told("section_revised")
    assert (revised.section_index, revised.text) == (1, "Salaries are paid on the 28th.")
    assert revised.claims[0]["citations"][0]["quote"] == "Salaries are paid on the 28th."


async def test_a_repair_searches_for_what_failed_and_says_so_without_a_model() -> None:
    session = judged(writer([RIGHT]))
    state = await session.ask(QUESTION)
    (rewritten,) = session.told("query_rewritten")
    assert rewritten.query == "Salaries are paid on the 21st."
    assert [query.text for query in session.library.queries] == [QUESTION, rewritten.query]
    assert state.spent["rewrite_query"]["calls"] == 0
    assert session.steps[-6:] == [
        "rewrite_query",
        "search_segments",
        "grade_segments",
        "generate_answer",
        "check_claims",
        "assess_quality",
    ]


async def test_what_a_repair_brings_is_appended_to_the_sources_and_graded_once() -> None:
    family = ScriptedFamily(
        drafts=[quote("The kitchen closes at ten.", "handbook:0")],
        revisions=[[Revision(0, "The kitchen closes at nine.", ("kitchen:0",))]],
    )
    session = judged(family)
    state = await session.ask("25 days of annual leave", min_score=0.5)
    assert [(row["index"], row["segment_id"]) for row in state.sources] == [(1, "handbook:0"), (2, "kitchen:0")]
    assert family.graded == [["handbook:0"], ["kitchen:0"]]
    assert proven(state) == [("kitchen:0", 0, 27, "supported")]


@pytest.mark.parametrize(
    "revision",
    [
        Revision(1, "Salaries are paid on the 22nd.", ("handbook:1",)),
        Revision(1, "Penguins live in Antarctica.", ("handbook:1",)),
        Revision(1, "On the 28th there is pay.", ()),
        Revision(1, "On the 28th there is pay.", ("invented:9",)),
        Revision(0, "Staff get 30 days of annual leave.", ("handbook:0",)),
        Revision(7, "Salaries are paid on the 28th.", ("handbook:1",)),
    ],
)
async def test_a_repair_that_does_not_raise_support_is_dropped(revision: Revision) -> None:
    session = judged(writer([revision]))
    state = await session.ask(QUESTION)
    assert state.sections[0]["text"] == "Staff get 25 days of annual leave."
    assert state.sections[1]["text"] == "", "nothing of it held, so it is withdrawn"
    (withdrawn,) = session.told("section_revised")
    assert (withdrawn.section_index, withdrawn.text, withdrawn.claims) == (1, "", [])


async def test_the_message_leaves_withdrawn_sections_out_and_renumbers_their_citations() -> None:
    drafts = [[*WRONG, *GOOD]]
    session = judged(ScriptedFamily(drafts=drafts))
    state = await session.ask(QUESTION)
    message = await session.message(state)
    assert message["answer"] == "Staff get 25 days of annual leave."
    assert [section["source_ids"] for section in message["sections"]] == [["handbook:0"]]
    assert [citation["section_index"] for citation in message["citations"]] == [0]
    assert [claim["section_index"] for claim in message["claims"]] == [0]
    assert message["assessment"]["supported"] is True


async def test_of_a_section_that_holds_in_part_the_part_stays() -> None:
    text = "Salaries are paid on the 28th. Salaries are paid on the 21st."
    session = judged(writer([], wrong=text))
    state = await session.ask(QUESTION)
    assert state.sections[1]["text"] == "Salaries are paid on the 28th."
    assert (state.outcome, state.stop_reason, state.withdrawn) == ("answered", "repairs_used_up", 1)
    (assessed,) = session.told("answer_assessed")
    assert assessed.supported is True
    assert assessed.claims == {"supported": 2, "contradicted": 0, "unsupported": 0, "unverified": 0}
    (correction,) = session.told("correction")
    assert [claim["text"] for claim in correction.claims] == ["Salaries are paid on the 21st."]
    assert correction.text == prompts.lines("en").withdrawn.format(claims="Salaries are paid on the 21st.")


async def test_an_answer_of_which_nothing_holds_becomes_an_honest_no() -> None:
    session = judged(ScriptedFamily(drafts=[WRONG]))
    state = await session.ask("salaries are paid")
    assert (state.outcome, state.stop_reason) == ("abstained", "claims_not_supported")
    assert state.claims == []
    message = await session.message(state)
    assert "library" in message["answer"]
    assert message["citations"] == []
    assert message["nearest"][0]["segment_id"] == "handbook:1"
    assert [event.section_index for event in session.told("section_finished")] == [0, 1]


async def test_what_an_answer_claims_never_goes_to_the_web() -> None:
    library = MemoryLibrary([LEAVE, PAY])
    web = MemoryWeb(library, [segment("site", 0, "Salaries are paid in cash somewhere.")])
    mcp = MemoryMcp(library)
    session = judged(writer([RIGHT]), library, web=web, mcp=mcp)
    state = await session.ask(QUESTION, web="also")
    assert state.repairs == 1
    assert web.queries == mcp.queries == [QUESTION]
    assert [query.text for query in library.queries] == [QUESTION, "Salaries are paid on the 21st."]


async def test_a_repair_of_what_the_web_alone_brought_works_with_the_sources_there_are() -> None:
    library = MemoryLibrary([])
    web = MemoryWeb(library, [PAY])
    family = ScriptedFamily(drafts=[WRONG], revisions=[[Revision(0, RIGHT.text, RIGHT.source_ids)]])
    session = judged(family, library, web=web)
    state = await session.ask("salaries are paid", search="off", web="also")
    assert (state.outcome, state.sections[0]["text"]) == ("answered", RIGHT.text)
    assert session.steps[-4:] == ["rewrite_query", "generate_answer", "check_claims", "assess_quality"]


async def test_a_run_that_broke_off_in_a_repair_is_resumed_in_it() -> None:
    class Breaking(ScriptedFamily):
        broken = False

        async def revise(self, question, faulty, sources, *, language, meter):
            if not self.broken:
                self.broken = True
                raise RuntimeError("the process died")
            return await super().revise(question, faulty, sources, language=language, meter=meter)

    drafts = [[*GOOD, *quote(WRONG_TEXT, "handbook:1")]]
    session = judged(Breaking(drafts=drafts, revisions=[[RIGHT]]))
    with pytest.raises(RuntimeError):
        await session.ask(QUESTION)
    resumed = await session.resume()
    assert session.steps == ["generate_answer", "check_claims", "assess_quality"]
    whole = await judged(writer([RIGHT])).ask(QUESTION)
    assert _without_times(resumed) == _without_times(whole)


class Opinion:
    """QualityAssessor of few words."""

    async def assess(self, question: str, answer: str, *, meter: Meter) -> float:
        meter.call()
        return 0.5


# Each finds nothing at first, then writes what does not hold and is not mended: question, query, draft, knobs.
THREE = [
    ("remuneration", "salaries are paid", quote(IN_PART, "handbook:1"), {"max_model_calls": 5}),
    (
        "holiday entitlement",
        "staff get days of annual leave.",
        quote("Staff get 25 days of annual leave. Staff get 30 days of annual leave.", "handbook:0"),
        {},
    ),
    ("catering", "the kitchen closes", quote("The kitchen closes at ten.", "kitchen:0"), {}),
]


async def test_three_questions_that_use_up_their_repairs_end_as_in_fresh_sessions() -> None:
    def session(numbers: Sequence[int]) -> Asked:
        family = (Unreachable if 0 in numbers else ScriptedFamily)(drafts=[THREE[n][2] for n in numbers])
        rewriter = ScriptedRewriter([THREE[n][1] for n in numbers])
        return judged(family, rewriter=rewriter, assessor=Opinion())

    async def ask(session: Asked, number: int) -> State:
        question, _, _, knobs = THREE[number]
        return await session.ask(question, min_score=0.5, assess_with_model=True, **knobs)

    together = session(range(3))
    ends = []
    for number in range(3):
        end, alone = await ask(together, number), await ask(session([number]), number)
        assert (end.rewrites, end.repairs) == (1, 1)
        assert _without_times(end) == _without_times(alone)
        ends.append((end.outcome, end.stop_reason, end.exhausted, bool(end.fallback)))
    assert ends == [
        ("answered", "budget_model_calls", "model_calls", True),
        ("answered", "repairs_used_up", "", False),
        ("abstained", "claims_not_supported", "", False),
    ]


def _without_times(state: State) -> dict[str, Any]:
    """Lay out every field of a state but what a session carries on and what a clock gives."""
    fields = asdict(state)
    for name in ("turns", "started_at"):
        del fields[name]
    for row in fields["spent"].values():
        del row["ms"]
    return fields


ADVERSARIES = {
    "always unsupported": (["unsupported one", "unsupported two"], [["unsupported again"], ["unsupported more"]]),
    "always worse": (["supported one", "contradicted two"], [["contradicted again"], ["unsupported more"]]),
    "always unverified": (["unverified one", "unverified two"], [["supported again"], ["supported more"]]),
    "better, then worse": (["contradicted one", "supported two"], [["unverified again"], ["contradicted more"]]),
    "withdraws": (["contradicted one", "supported two"], [[""], [""]]),
}


@pytest.mark.parametrize("name", ADVERSARIES)
@pytest.mark.parametrize("repairs", [0, 1, 2])
async def test_every_adversary_ends_within_its_bounds(name: str, repairs: int) -> None:
    first, again = ADVERSARIES[name]
    drafts = [part for text in first for part in (DraftOpened(), DraftText(text), DraftClosed(text, ("handbook:0",)))]
    revisions = [
        [Revision(index, text, ("handbook:0",) if text else ()) for index in (0, 1) for text in texts]
        for texts in again
    ]
    session = Asked(family=ScriptedFamily(drafts=[drafts], revisions=revisions), ports={"checker": ScriptedChecker()})
    state = await session.ask("annual leave", max_repairs=repairs)
    assert state.outcome in ("answered", "abstained")
    assert state.repairs <= repairs
    assert sum(row["calls"] for row in state.spent.values()) <= 8
    for index, text in enumerate(first):
        if text.startswith(("supported", "unverified")):
            assert state.sections[index]["text"] == text, "a verified section stays byte for byte"
    checked = [event.claims[0]["verdict"] for event in session.told("section_checked")]
    weight = {"supported": 1.0, "unverified": 0.5}
    before = sum(weight.get(verdict, 0.0) for verdict in checked) / len(checked)
    assert support_score(state.claims) >= before or state.outcome == "abstained"
