"""What a run may spend, what it leaves out first, and the name of the cap in its stop reason."""

import time
from collections.abc import Sequence

import pytest

from graph.builder import meter_for
from graph.context import Context
from graph.errors import BudgetExhausted, ModelUnavailable
from graph.evidence import Spent
from graph.ports import Judgement, OpenClaim
from graph.state import State
from graph.usage import ALLOWANCES, Meter
from tests.fakes import ScriptedFamily, WordJudge, quote, spend_tokens
from tests.graph.asking import Asked


def calls(state: State) -> dict[str, int]:
    return {node: row["calls"] for node, row in state.spent.items() if row["calls"]}


class Opinion:
    """QualityAssessor that counts how often it is asked."""

    def __init__(self, *, fails: bool = False) -> None:
        self.asked = 0
        self._fails = fails

    async def assess(self, question: str, answer: str, *, meter: Meter) -> float:
        meter.call()
        self.asked += 1
        if self._fails:
            raise ModelUnavailable("no reply")
        return 0.75


async def test_the_happy_path_takes_three_calls_and_four_with_an_opinion() -> None:
    session = Asked(ports={"assessor": Opinion()})
    state = await session.ask("annual leave")
    assert calls(state) == {"decide_retrieval": 1, "grade_segments": 1, "generate_answer": 1}
    assert session.told("answer_assessed")[0].model_score is None
    state = await session.ask("annual leave", assess_with_model=True)
    assert sum(calls(state).values()) == 4
    assert session.told("answer_assessed")[0].model_score == 0.75


@pytest.mark.parametrize(
    ("cap", "spent", "reason"),
    [
        (8, {"decide_retrieval": 1, "grade_segments": 1, "generate_answer": 1, "assess_quality": 1}, "answer_complete"),
        (4, {"decide_retrieval": 1, "grade_segments": 1, "generate_answer": 1, "assess_quality": 1}, "answer_complete"),
        (3, {"decide_retrieval": 1, "grade_segments": 1, "generate_answer": 1}, "budget_model_calls"),
        (2, {"decide_retrieval": 1, "generate_answer": 1}, "budget_model_calls"),
        (1, {"generate_answer": 1}, "budget_model_calls"),
    ],
)
async def test_steps_are_left_out_in_their_order(cap: int, spent: dict[str, int], reason: str) -> None:
    session = Asked(ports={"assessor": Opinion()})
    state = await session.ask("annual leave", assess_with_model=True, max_model_calls=cap)
    assert (state.outcome, state.stop_reason) == ("answered", reason)
    assert calls(state) == spent
    said = [event.fallback for event in session.events if getattr(event, "fallback", None)]
    assert {failure["code"] for failure in said} == (set() if cap >= 4 else {"budget_exhausted"})


async def test_tokens_are_a_cap_too() -> None:
    class Wordy(ScriptedFamily):
        async def prepare(self, question, turns, **options):  # type: ignore[no-untyped-def]
            spend_tokens(options["meter"], 900)
            return await super().prepare(question, turns, **options)

    session = Asked(family=Wordy(), ports={"assessor": Opinion()})
    state = await session.ask("annual leave", max_tokens=1000, assess_with_model=True)
    assert state.stop_reason == "answer_complete"
    with pytest.raises(BudgetExhausted, match="tokens"):
        await session.ask("annual leave", max_tokens=900)


async def test_a_cap_that_cost_the_repair_is_named_by_the_refusal_too() -> None:
    family = ScriptedFamily(drafts=[quote("Salaries are paid on the 21st.", "handbook:1")])
    session = Asked(family=family, ports={"judge": WordJudge()})
    state = await session.ask("salaries are paid", max_model_calls=3)
    assert (state.outcome, state.stop_reason) == ("abstained", "budget_model_calls")
    refusal = session.told("section_started")[-1]
    assert refusal.fallback["code"] == "budget_exhausted"
    assert "not written again" in refusal.fallback["message"]


async def test_an_opinion_is_not_asked_for_where_a_step_that_matters_more_was_left_out() -> None:
    class Costly(WordJudge):
        async def judge(self, claims: Sequence[OpenClaim], *, meter: Meter) -> list[Judgement]:
            meter.exhaust("model_calls")
            return await super().judge(claims, meter=meter)

    opinion = Opinion()
    session = Asked(ports={"assessor": opinion, "judge": Costly()})
    state = await session.ask("annual leave", assess_with_model=True)
    assert (state.stop_reason, opinion.asked) == ("budget_model_calls", 0)
    assert session.told("answer_assessed")[0].fallback["code"] == "budget_exhausted"


async def test_an_opinion_that_fails_leaves_the_verdicts_and_says_so() -> None:
    session = Asked(ports={"assessor": Opinion(fails=True)})
    state = await session.ask("annual leave", assess_with_model=True)
    assert state.stop_reason == "answer_complete"
    (assessed,) = session.told("answer_assessed")
    assert (assessed.model_score, assessed.fallback["code"]) == (None, "model_unavailable")


async def test_the_seconds_of_preparing_count() -> None:
    class Clocked(ScriptedFamily):
        async def prepare(self, question, turns, **options):  # type: ignore[no-untyped-def]
            self.prepared_at = time.time()
            return await super().prepare(question, turns, **options)

    family = Clocked()
    state = await Asked(family=family).ask("annual leave")
    assert 0 < state.started_at <= family.prepared_at


def test_a_node_leaves_calls_to_those_that_matter_more() -> None:
    used = State(spent={"decide_retrieval": Spent(calls=2, tokens=50, ms=1.0)})
    assert meter_for("grade_segments", used, Context(max_model_calls=4)).calls_left == 1
    assert meter_for("generate_answer", used, Context(max_model_calls=4)).calls_left == 2
    assert meter_for("decide_retrieval", used, Context(max_model_calls=4)).calls_left == 3, (
        "the last run's account is gone"
    )
    assert meter_for("generate_answer", used, Context(max_tokens=80)).tokens_left == 30


def test_seconds_count_from_the_start_of_the_run() -> None:
    late = State(started_at=1.0)
    meter = meter_for("generate_answer", late, Context(max_seconds=60.0))
    assert meter.remaining() == 0.0
    with pytest.raises(BudgetExhausted, match="seconds"):
        meter.call()
    assert meter.exhausted == "seconds"
    first = meter_for("decide_retrieval", late, Context(max_seconds=60.0))
    assert first.seconds_left == 60.0 * ALLOWANCES["decide_retrieval"].share
    assert meter_for("generate_answer", late, Context(max_seconds=None)).remaining() is None


def test_retries_count() -> None:
    meter = Meter(calls_left=2)
    meter.call()
    meter.call()
    with pytest.raises(BudgetExhausted):
        meter.call()
    assert (meter.calls, meter.exhausted, meter.reached_cap()) == (2, "model_calls", "model_calls")
