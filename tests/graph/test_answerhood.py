"""How likely an answer answers the question: estimated when its sources are graded, and told apart from support."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

import pytest

from graph.evidence import Hit
from graph.ports import Draft, Grading
from graph.usage import Meter
from tests.fakes import ScriptedFamily
from tests.graph.asking import Asked
from tests.graph.test_budget import Opinion


class Estimating(ScriptedFamily):
    """A family whose grader estimates the chance of an answer, and whose writer may break off once."""

    chances: Sequence[float | None] = ()
    breaks = False

    async def grade(self, question: str, candidates: Sequence[Hit], *, meter: Meter) -> Grading:
        grading = await super().grade(question, candidates, meter=meter)
        return replace(grading, answerable=self.chances[len(self.graded) - 1])

    async def write(
        self, question: str, sources: Sequence[Hit], *, language: str, meter: Meter
    ) -> AsyncIterator[Draft]:
        if self.breaks:
            self.breaks = False
            raise RuntimeError("the process died")
        async for draft in super().write(question, sources, language=language, meter=meter):
            yield draft


def estimating(*chances: float | None, breaks: bool = False) -> Estimating:
    family = Estimating()
    family.chances, family.breaks = chances, breaks
    return family


async def test_the_graders_chance_is_told_beside_support_and_is_each_runs_own() -> None:
    session = Asked(family=estimating(0.83123, None))
    first = await session.ask("annual leave")
    [assessed] = session.told("answer_assessed")
    assert (assessed.answerhood, assessed.supported) == (0.8312, True)
    assert (await session.message(first))["assessment"]["answerhood"] == 0.8312
    second = await session.ask("salaries are paid")
    assert (second.answerhood, session.told("answer_assessed")[0].answerhood) == (None, None)


async def test_a_run_that_broke_off_still_knows_the_chance_when_it_is_resumed() -> None:
    session = Asked(family=estimating(0.6, breaks=True))
    with pytest.raises(RuntimeError):
        await session.ask("annual leave")
    await session.resume()
    assert session.steps[0] == "generate_answer"
    assert session.told("answer_assessed")[0].answerhood == 0.6


async def test_where_no_grader_estimates_it_a_models_opinion_is_told_if_it_is_asked() -> None:
    session = Asked(ports={"assessor": Opinion()})
    await session.ask("annual leave")
    assert session.told("answer_assessed")[0].answerhood is None
    await session.ask("annual leave", assess_with_model=True)
    assert session.told("answer_assessed")[0].answerhood == 0.75
    session = Asked(family=estimating(0.6), ports={"assessor": Opinion()})
    await session.ask("annual leave", assess_with_model=True)
    [assessed] = session.told("answer_assessed")
    assert (assessed.answerhood, assessed.model_score) == (0.6, 0.75)
