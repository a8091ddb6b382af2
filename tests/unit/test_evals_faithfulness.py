"""Citation faithfulness: which sentences carry a mark, and what tells whether their passages bear them."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from evals.evaluation import write_figures
from evals.faithfulness_judging import judge_sentences
from evals.metrics.faithfulness_metrics import FAITHFULNESS, faithfulness_of, headline
from evals.prose_claims import AnyJudge
from evals.records import Record
from evals.run_folder import RunFolder
from graph.errors import ModelUnavailable
from graph.ports import Judgement, OpenClaim
from graph.usage import Meter
from tests.evals_records import FARE, FIRST_BOAT, citation, claim, gold, record, refused, section

ON_FARE = citation(FARE, sentences=[1], start=38, end=64)


def said(text: str, *citations: Any, answer: str = "", case_id: str = "q1", **changes: Any) -> Record:
    """An answer of one sentence in a model's own words, on the gold passage unless told otherwise."""
    stated = claim(text, *citations, verdict="unverified", **changes)
    return record(case_id, family="llm", answer=answer or text, claims=[stated])


def observed(found: Record) -> dict[str, list[float]]:
    return {metric.name: list(metric.observe(found)) for metric in FAITHFULNESS}


def faithful(found: Record) -> list[float]:
    return observed(found)["citation_faithfulness"]


@pytest.mark.parametrize(
    ("found", "told"),
    [
        (record(), [1.0]),  # copied
        (record(expected="abstained", evidence=[], answers=[]), [1.0]),  # copied, whatever was asked
        (said("At 6:40 the first one sails."), [1.0]),
        (said("At 6:40 the first one sails.", ON_FARE), [0.0]),  # true, on a passage that does not say it
        (said("The first one sails at 7:15."), [0.0]),  # a lie on the evidence
        (said("It sails from Askvik.", answer="At 6:40. It sails from Askvik."), []),  # one more fact: nobody knows
        (said("Tickets are sold on board.", ON_FARE), []),
        (said("The first one sails at 7:15.", mark="withheld"), []),  # no mark, nothing to bear
    ],
)
def test_what_gold_and_words_tell(found: Record, told: list[float]) -> None:
    assert faithful(found) == told


def test_gold_alone_tells_nothing_of_words_where_no_answer_is_known() -> None:
    assert faithful({**said("The first one sails at 7:15."), "answers": []}) == []


def test_a_label_of_the_set_comes_first_and_a_judge_before_gold() -> None:
    lie, true = "The first one sails at 7:15.", "At 6:40 the first one sails."
    labelled = {**said(lie), "planted": [{"text": f"**{lie}**", "faithful": True}]}

    assert faithful(labelled) == [1.0]
    assert faithful(said(true, faithful=False)) == [0.0]
    assert faithfulness_of([labelled, said(true, faithful=False), record(), said(lie)], "other") == {
        "marked": 4,
        "told": 4,
        "borne": 2,
        "by": {"label": 1, "judge": 1, "words": 1, "gold": 1},
        "judge": "other",
    }


def test_an_honest_and_a_lying_model_are_told_apart_where_citation_precision_is_the_same() -> None:
    honest = [said("At 6:40 the first one sails.", case_id=f"q{number}") for number in range(12)]
    lying = [*honest[:10], said("It sails at 7:15.", case_id="q10"), said("No boat leaves.", case_id="q11")]

    assert [faithfulness_of(run)["borne"] for run in (honest, lying)] == [12, 10]


def test_planted_sentences_are_counted_where_they_were_written() -> None:
    planted = [
        {"text": "It is painted green.", "faithful": False},
        {"text": "It has a bar.", "faithful": False},
        {"text": "It leaves Askvik early.", "faithful": True},
        {"text": "Nobody wrote this.", "faithful": False},
    ]
    found = record(
        planted=planted,
        written=[section(each["text"]) for each in planted[:3]],
        claims=[
            claim("It is painted green.", mark="shown", verdict="unverified"),
            claim("It has a bar.", mark="withheld", verdict="unverified"),
            claim("It leaves Askvik early.", mark="shown", verdict="unverified"),
        ],
    )

    assert observed(found) == {
        "citation_faithfulness": [0.0, 1.0],
        "sentences_marked": [1.0, 0.0, 1.0],
        "false_planted_marked": [1.0, 0.0],
        "true_planted_marked": [1.0],
    }


class Naysayer:
    """A judge that finds nothing borne."""

    name = "naysayer"
    version = "1"

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def judge(self, claims: Sequence[OpenClaim], *, meter: Meter) -> list[Judgement]:
        self.asked += [each.claim for each in claims]
        return [Judgement("unsupported") for _ in claims]


def test_a_judge_of_the_evaluation_is_asked_once_of_what_nothing_else_tells(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    parts: Any = {"data": {"name": "x", "documents": 1}, "options": {"model": "m"}, "settings": {}}
    folder.begin({**parts, "versions": {}, "prompts": {}})
    more = "It sails from Askvik."
    for each in (record("copied"), said(more, answer=f"At 6:40. {more}", case_id="more"), refused("no")):
        folder.append(each)
    before = write_figures(folder)
    judge = Naysayer()
    for _ in range(2):
        asyncio.run(judge_sentences(folder, AnyJudge(judge)))
    after = write_figures(folder)

    assert judge.asked == [more]
    assert before["faithfulness"] == {
        "marked": 2,
        "told": 1,
        "borne": 1,
        "by": {"label": 0, "judge": 0, "words": 1, "gold": 0},
        "judge": None,
    }
    assert (after["faithfulness"]["told"], after["faithfulness"]["judge"]) == (2, "naysayer")
    assert after["all"]["citation_faithfulness"]["mean"] == 0.5
    page = folder.report.read_text(encoding="utf-8")
    assert headline(after["faithfulness"], after["all"]["citation_faithfulness"]) in page


def test_a_judge_that_says_nothing_is_an_error(tmp_path: Path) -> None:
    class Silent(Naysayer):
        async def judge(self, claims: Sequence[OpenClaim], *, meter: Meter) -> list[Judgement]:
            raise ModelUnavailable("Nobody is there.")

    folder = RunFolder(tmp_path)
    folder.append(said("It sails from Askvik."))
    with pytest.raises(ModelUnavailable, match="Nobody is there"):
        asyncio.run(judge_sentences(folder, AnyJudge(Silent())))
    assert faithfulness_of(folder.records())["by"]["judge"] == 0


def test_an_accepted_sentence_bears_an_answer_too() -> None:
    found = said("At 6:40 the first one sails.", ON_FARE)

    assert faithful({**found, "accepted": [gold(FARE, index=1)]}) == [1.0]
    assert FIRST_BOAT not in FARE
