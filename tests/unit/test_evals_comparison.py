"""Two runs compared: over the questions that both asked, measure by measure and question by question."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from cli.eval import evaluate
from evals.bootstrap import false_discovery_adjusted
from evals.metrics import Metric
from evals.records import Record
from evals.report.comparison_page import comparison_page
from evals.run_comparison import Comparison, Pairs, compare, metric_changes, question_changes
from evals.run_folder import RunFolder
from graph.errors import InvalidRequest
from tests.evals_records import FARE, citation, claim, failed, gold, record, refused

EVERY = [f"q{number:02}" for number in range(40)]


def compared(before: list[Record], after: list[Record], **changes: Any) -> Comparison:
    return compare(before, after, **{"names": ("before", "after"), "configuration": [], **changes})


def changes_of(before: list[Record], after: list[Record]) -> dict[str, Any]:
    return {change.name: change for change in compared(before, after).metrics}


def score(better: str) -> Metric:
    return Metric(
        name="score",
        title="Score",
        means="first digit of the answer",
        observe=lambda each: [float(each["answer"][0])],
        better=better,
    )


# Measures


def test_the_length_of_what_is_shown_is_said_beside_every_comparison() -> None:
    longer = f"{FARE} It is paid on board."
    comparison = compared([record(name) for name in EVERY], [record(name, answer=longer) for name in EVERY])
    assert comparison.lengths == (37, 48)
    assert "Characters shown: 37, then 48." in comparison_page(comparison)
    assert compared([refused("q1")], [refused("q1")]).lengths is None


def test_a_run_compared_with_itself_has_no_change() -> None:
    runs = [record(name) for name in EVERY[:20]] + [refused(name) for name in EVERY[20:]]
    comparison = compared(runs, list(reversed(runs)))

    assert comparison.shared == 40
    assert not comparison.questions
    assert {change.judgement for change in comparison.metrics} == {"no significant change"}
    assert not any(change.moved for change in comparison.metrics)
    assert {change.p_value for change in comparison.metrics} == {1.0}


def test_a_change_of_half_the_questions_is_found_and_is_for_the_worse() -> None:
    change = changes_of(
        [record(name) for name in EVERY], [record(name) if name < "q20" else refused(name) for name in EVERY]
    )["abstention_accuracy"]

    assert (change.before["mean"], change.after["mean"], change.difference["mean"]) == (1.0, 0.5, -0.5)
    assert change.difference["high"] < -0.3
    assert change.judgement == "worse"


def test_a_change_of_one_question_is_chance() -> None:
    change = changes_of([record(name) for name in EVERY], [*(record(name) for name in EVERY[1:]), refused("q00")])[
        "abstention_accuracy"
    ]

    assert change.difference["mean"] == -0.025
    assert change.moved
    assert change.judgement == "no significant change"


def test_a_change_shows_in_pairs_where_two_samples_would_not() -> None:
    """A small gain on each question, far under the spread between questions."""
    before = [record(name, ms=100.0 * place) for place, name in enumerate(EVERY, 1)]
    after = [record(name, ms=100.0 * place - 20.0) for place, name in enumerate(EVERY, 1)]
    change = changes_of(before, after)["ms"]

    assert change.before["low"] < change.after["mean"] < change.before["high"]
    assert change.judgement == "better"
    assert change.difference["low"] == change.difference["high"] == -20.0


def test_a_measure_of_strata_weighs_them_alike() -> None:
    """Nine of ten questions can be answered; refusing all of the tenth costs half of the balanced measure's stratum."""
    before = [record(name) for name in EVERY[:36]] + [refused(name, expected="abstained") for name in EVERY[36:]]
    after = [record(name) for name in EVERY[:36]] + [record(name, expected="abstained") for name in EVERY[36:]]
    changes = changes_of(before, after)

    assert changes["abstention_balanced_accuracy"].difference["mean"] == -0.5
    assert changes["abstention_accuracy"].difference["mean"] == -0.1


def test_which_way_is_better_is_the_measures_own() -> None:
    pairs = Pairs([record(name, answer="1") for name in EVERY], [record(name, answer="2") for name in EVERY])
    judged = {better: metric_changes(pairs, [score(better)])[0].judgement for better in ("higher", "lower", "neither")}

    assert judged == {"higher": "better", "lower": "worse", "neither": "changed"}


def test_a_measure_that_one_run_lacks_is_left_out() -> None:
    changes = changes_of([record(name) for name in EVERY], [refused(name) for name in EVERY])

    assert "citation_precision" not in changes
    assert changes["citation_f1_all"].difference["mean"] == -1.0


def test_p_values_are_corrected_for_false_discoveries() -> None:
    assert false_discovery_adjusted([0.01, 0.04, 0.03, 0.5]) == [0.04, 0.0533, 0.0533, 0.5]
    assert false_discovery_adjusted([]) == []


@given(st.lists(st.floats(0.001, 1.0), min_size=1, max_size=60))
def test_a_corrected_p_value_is_no_smaller_and_keeps_the_order(p_values: list[float]) -> None:
    adjusted = false_discovery_adjusted(p_values)
    order = sorted(range(len(p_values)), key=lambda place: p_values[place])

    assert all(p_value <= corrected + 0.0001 for p_value, corrected in zip(p_values, adjusted, strict=True))
    assert all(corrected <= 1.0 for corrected in adjusted)
    assert [adjusted[place] for place in order] == sorted(adjusted)


# Questions


def test_questions_of_one_run_alone_are_named_and_not_compared() -> None:
    comparison = compared([record("q1"), record("q2"), refused("q3", variant="removed")], [record("q1"), record("q4")])

    assert comparison.shared == 1
    assert comparison.only_before == ["q2", "q3 (removed)"]
    assert comparison.only_after == ["q4"]


def test_a_question_with_other_words_or_evidence_is_another_question() -> None:
    before = [record("q1"), record("q2"), record("q3")]
    after = [record("q1"), record("q2", question="And the last?"), record("q3", evidence=[[gold(FARE, index=1)]])]
    comparison = compared(before, after)

    assert comparison.shared == 1
    assert comparison.otherwise == ["q2", "q3"]


def test_runs_without_a_common_question_are_refused() -> None:
    with pytest.raises(InvalidRequest, match="before and after"):
        compared([record("q1")], [record("q2")])


def test_what_became_of_each_question_is_told_the_worst_first() -> None:
    elsewhere = citation(FARE, start=38, end=64, sentences=[1])
    before = [refused("q1"), record("q2"), record("q3"), refused("q4"), record("q5")]
    after = [
        record("q1"),
        refused("q2"),
        record("q3", claims=[claim(), claim(FARE, elsewhere)]),
        failed("q4"),
        record("q5", ms=900.0),
    ]
    changes = question_changes(Pairs(before, after))

    assert [(each.case_id, each.turn, each.before, each.after) for each in changes] == [
        ("q2", "right to wrong", "answered, 1 passage", "abstained"),
        ("q1", "wrong to right", "abstained", "answered, 1 passage"),
        ("q4", "other outcome", "abstained", "failed"),
        ("q3", "other citations", "answered, 1 passage", "answered, 2 passages"),
    ]
    assert ["1 of 3" in said for said in changes[0].why] == [True]
    assert changes[1].why == []


def test_the_same_quotes_from_segments_cut_otherwise_are_no_change() -> None:
    after = record("q1", claims=[claim("Reworded.", citation(segment_id="ferry:7"))])

    assert question_changes(Pairs([record("q1")], [after])) == []


# The page and the command


def run_folder(path: Path, *records: Record, **options: Any) -> Path:
    folder = RunFolder(path)
    folder.begin(
        {
            "data": {"name": "ferries", "digest": "0", "documents": 1, "questions": 3},
            "options": {"model": "extractive", **options},
            "settings": {},
            "versions": {},
            "prompts": {},
        }
    )
    for each in records:
        folder.append(each)
    return path


def test_the_page_shows_what_moved_and_escapes_what_others_wrote() -> None:
    attack = "</script><script>alert(1)</script>"
    comparison = compared(
        [record("q1", question=attack), record("q2")],
        [refused("q1", question=attack, stop_reason=attack), record("q2")],
        names=("before", attack),
        configuration=[f"options.model: {attack} / b"],
    )
    page = comparison_page(comparison)

    assert page.count("<script>") == 1
    assert "Turned wrong (1)" in page
    assert "No change at all" in page
    assert "2 questions compared." in page


def test_the_command_compares_two_folders(tmp_path: Path) -> None:
    before = run_folder(tmp_path / "before", record("q1"), record("q2"))
    after = run_folder(tmp_path / "after", record("q1"), refused("q2"), refused("q3"), top_k=5)
    page = tmp_path / "comparison.html"
    result = CliRunner().invoke(evaluate, ["compare", str(before), str(after), "--json", "--html", str(page)])
    found = json.loads(result.stdout)

    assert result.exit_code == 9
    assert (found["turned_wrong"], found["worse"]) == (1, [])
    assert found["configuration"] == ["options.top_k: None / 5"]
    assert found["shared"] == 2
    assert found["only_after"] == ["q3"]
    assert [each["turn"] for each in found["questions"]] == ["right to wrong"]
    assert {"name", "before", "after", "difference", "p_value", "adjusted", "judgement"} <= found["metrics"][0].keys()
    assert "before and after" in page.read_text(encoding="utf-8")


def test_the_command_prints_what_moved_in_rows(tmp_path: Path) -> None:
    before = run_folder(tmp_path / "before", record("q1"), record("q2"))
    after = run_folder(tmp_path / "after", record("q1"), refused("q2"))
    result = CliRunner().invoke(evaluate, ["compare", str(before), str(after)])
    rows = [line.split("\t") for line in result.stdout.splitlines()]

    assert ["Abstention accuracy", "1.000 → 0.500", "−1.000 to 0.000", "–"] in rows
    assert ["q2", "right to wrong", "answered, 1 passage", "abstained"] in rows
    assert not [row for row in rows if row[0] == "Recall at 1"]
    assert "2 questions compared." in result.stderr


def test_the_command_ends_by_the_outcome(tmp_path: Path) -> None:
    right = run_folder(tmp_path / "right", *(record(name, ms=10.0) for name in EVERY))
    slower = run_folder(tmp_path / "slower", *(record(name, ms=90.0) for name in EVERY))
    worse = run_folder(tmp_path / "worse", *(refused(name) for name in EVERY))

    def code(*arguments: Path | str) -> int:
        return CliRunner().invoke(evaluate, ["compare", *map(str, arguments)]).exit_code

    assert code(right, slower) == code(worse, right) == 0
    assert code(right, worse) == code(right, worse, "--turned-wrong", "40") == 9


def test_a_lie_in_place_of_an_answer_turns_it_wrong() -> None:
    lie = record("q1", family="llm", answer="At 7:15.", claims=[claim("At 7:15.", verdict="unverified")])
    (change,) = question_changes(Pairs([record("q1")], [lie]))

    assert change.turn == "right to wrong"


def test_a_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    before = run_folder(tmp_path / "before", record("q1"))
    result = CliRunner().invoke(evaluate, ["compare", str(before), str(tmp_path / "nothing")])

    assert result.exit_code == 2
    assert "holds no run" in result.stderr
