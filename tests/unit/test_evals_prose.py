"""The rates of verdicts on a writer's own sentences, counted by hand on a set of five."""

import asyncio
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from evals.prose_claims import BATCH, AnyJudge, ProseClaim, load_prose, run_prose
from graph.errors import InvalidRequest, ModelUnavailable
from graph.evidence import ExamFigure, Verdict
from graph.ports import Judge, Judgement, OpenClaim
from graph.reasons import Reason
from graph.usage import Meter
from tools.claims.code_checker import CodeChecker

SOURCE = "The mill of Torburg was rebuilt in 1990. It grinds 40 tons of rye a year."
SHARED: dict[str, Any] = {"evidence": [SOURCE], "lang": "en", "title": "Mills", "question": "Which mill?"}
ROWS: list[dict[str, Any]] = [
    {**SHARED, "claim": "The mill of Torburg was rebuilt in 1990.", "supported": True, "kind": "near_verbatim"},
    {**SHARED, "claim": "Rebuilding of the mill took place in 1990.", "supported": True, "kind": "paraphrase"},
    {**SHARED, "claim": "The mill of Torburg was rebuilt in 1890.", "supported": False, "kind": "number_off"},
    {**SHARED, "claim": "The mill in Torburg was built new in 1990.", "supported": False, "kind": "entity"},
    {"evidence": SOURCE, "lang": "en", "claim": "It grinds 40 tons of rye a year.", "supported": True, "id": "x"},
]
EXAM = ExamFigure(language="en", right=39, of=40)


class RuleJudge:
    """A judge that says what a function says, with or without an exam."""

    name = "rule"
    version = "1"

    def __init__(self, say: Callable[[OpenClaim], Verdict | None], exam: ExamFigure | None = EXAM) -> None:
        self.batches: list[Sequence[OpenClaim]] = []
        self._say = say
        self._exam = exam

    async def judge(self, claims: Sequence[OpenClaim], *, meter: Meter) -> list[Judgement]:
        meter.call()
        self.batches.append(claims)
        verdicts = map(self._say, claims)
        return [Judgement(verdict, reason="" if verdict else "no verdict", exam=self._exam) for verdict in verdicts]


class AbsentJudge(RuleJudge):
    async def judge(self, claims: Sequence[OpenClaim], *, meter: Meter) -> list[Judgement]:
        raise ModelUnavailable("The model did not reply.")


def right(claim: OpenClaim) -> Verdict:
    return "supported" if any(row["supported"] for row in ROWS if row["claim"] == claim.claim) else "unsupported"


def claims() -> list[ProseClaim]:
    return [ProseClaim.model_validate(row) for row in ROWS]


def measured(judge: Judge | None = None, rows: Sequence[ProseClaim] | None = None) -> Any:
    return asyncio.run(run_prose(rows or claims(), CodeChecker(), judge))


def test_by_code_alone_true_and_false_claims_are_counted_apart() -> None:
    report = measured()
    assert {name: report[name] for name in report if name not in ("languages", "kinds")} == {
        "true": 3,
        "true_supported": 0.6667,
        "true_marked": 0.6667,
        "true_failed": 0.0,
        "false": 2,
        "false_supported": 0.0,
        "false_marked": 0.0,
        "false_caught": 0.0,
        "judge": None,
    }
    assert report["languages"].keys() == {"en"}
    assert report["kinds"].keys() == {"", "entity", "near_verbatim", "number_off", "paraphrase"}
    assert report["kinds"]["number_off"]["false_caught"] == 0.0
    assert report["kinds"]["number_off"]["true_failed"] is None


def test_a_judge_decides_what_code_leaves_open() -> None:
    judge = RuleJudge(right)
    report = measured(judge)
    assert (report["true_supported"], report["false_caught"]) == (1.0, 1.0)
    (asked,) = judge.batches
    assert [each.claim for each in asked] == [row["claim"] for row in ROWS]
    assert (asked[1].question, asked[1].entries[0].title) == ("Which mill?", "Mills")
    assert report["judge"] == {
        "name": "rule",
        "examined": True,
        "open": 5,
        "decided": 5,
        "left": {},
        "calls": 1,
        "tokens": 0,
    }


def test_a_judge_without_an_exam_moves_marks_and_proves_only_where_any_may() -> None:
    report = measured(RuleJudge(right, exam=None))
    assert (report["true_supported"], report["true_marked"], report["false_marked"]) == (0.6667, 1.0, 0.0)
    freed = measured(AnyJudge(RuleJudge(right, exam=None)))
    assert (freed["true_supported"], freed["judge"]["examined"]) == (1.0, False)


@pytest.mark.parametrize(
    ("judge", "reason"),
    [
        (RuleJudge(lambda _: None), "no verdict"),
        (AbsentJudge(right), f"The model did not reply. {Reason('not_judged')}"),
    ],
)
def test_what_a_judge_leaves_open_is_counted_with_its_reason(judge: RuleJudge, reason: str) -> None:
    report = measured(judge)
    assert (report["true_supported"], report["judge"]["left"]) == (0.6667, {reason: 3})


def test_neighbours_are_not_judged_together() -> None:
    judge = RuleJudge(right)
    rows = [
        claims()[1].model_copy(update={"claim": f"Rebuilding of the mill number {number} took place in 1990."})
        for number in range(1, 2 * BATCH + 1)
    ]
    measured(judge, rows)
    assert [len(batch) for batch in judge.batches] == [BATCH, BATCH]
    assert {"number 1 " in batch[0].claim or "number 2 " in batch[0].claim for batch in judge.batches} == {True}


def test_several_passages_are_segments_of_one_document() -> None:
    claim = ProseClaim(evidence=["One.", "Two."], claim="Two.", lang="en", supported=True, title="T", heading="H")
    first, second = claim.to_verify(7).segments
    assert (first.segment_id, second.segment_id) == ("7:0", "7:1")
    assert (second.start, second.end, second.title, second.heading) == (4, 8, "T", "H")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "holds no claim"),
        ("no json", "line 1 is not JSON"),
        (json.dumps({**ROWS[0], "claim": None}), "line 1: claim: Input should be a valid string"),
        (json.dumps(ROWS[0]) + "\n\n" + json.dumps({**ROWS[0], "evidence": [3]}), r"line 3: evidence\."),
        ("[]", "line 1: the line: Input should be a valid dictionary"),
    ],
)
def test_a_faulty_line_is_named_with_its_field(tmp_path: Path, text: str, fault: str) -> None:
    path = tmp_path / "claims.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidRequest, match=fault):
        load_prose(path)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match="can't be read"):
        load_prose(tmp_path / "claims.jsonl")
