"""A run as LangSmith's own models take it: examples of a data set, and an experiment with its scores."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast
from uuid import uuid4

import pytest
from langsmith.schemas import Example, ExampleCreate, FeedbackCreate, Run
from typer.testing import CliRunner

from cli.eval import evaluate
from evals.langsmith import example_of, experiment_of
from evals.metrics.metric_groups import METRICS
from evals.records import Record
from evals.run_folder import Configuration, RunFolder
from tests.evals_records import FIRST_BOAT, failed, record, refused

ENDED = datetime(2026, 5, 4, 12, 30, tzinfo=UTC)
CONFIGURATION = cast(
    Configuration,
    {
        "data": {"name": "ferries", "digest": "0123456789abcdef", "documents": 3, "questions": 2},
        "options": {"model": "extractive"},
        "settings": {},
        "versions": {},
        "prompts": {},
    },
)
RECORDS = [
    record("q1", before=["Which islands have a ferry?"]),
    refused("q1", variant="removed", expected="abstained"),
    failed("q2", ms=400.0),
]


def rows() -> list[dict[str, Any]]:
    return [dict(row) for row in experiment_of("first", CONFIGURATION, RECORDS, ENDED)["results"]]


@pytest.mark.parametrize("each", RECORDS, ids=["answered", "removed", "failed"])
def test_an_example_is_one_of_langsmiths(each: Record) -> None:
    row = dict(example_of(each, CONFIGURATION))
    stored = Example(**{key: row[key] for key in ("id", "inputs", "outputs", "metadata")})
    created = ExampleCreate(reference_outputs=row.pop("outputs"), **row)

    assert set(row) < set(ExampleCreate.model_fields)
    assert created.id == stored.id
    assert created.split == each["variant"]
    assert stored.inputs is not None
    assert stored.inputs["question"] == each["question"]


def test_an_example_says_what_is_right() -> None:
    row = example_of(RECORDS[0], CONFIGURATION)

    assert row["inputs"]["asked_before"] == ["Which islands have a ferry?"]
    assert row["outputs"] == {
        "outcome": "answered",
        "answers": ["6:40"],
        "evidence": [[{"document": "ferry", "quote": FIRST_BOAT}]],
    }
    assert row["metadata"] == {"case_id": "q1", "variant": "asked", "language": "en", "kind": "answerable"}


def test_an_examples_id_is_that_of_its_question_and_not_of_the_run() -> None:
    ids = [example_of(each, CONFIGURATION)["id"] for each in RECORDS]
    again = example_of(record("q1", answer="Another.", ms=1.0), CONFIGURATION)["id"]
    other = cast(Configuration, {**CONFIGURATION, "data": {**CONFIGURATION["data"], "digest": "f"}})

    assert len(set(ids)) == 3
    assert again == ids[0]
    assert example_of(RECORDS[0], other)["id"] != ids[0]


def test_each_row_makes_a_run_and_its_feedback() -> None:
    for row in rows():
        run = Run(
            id=uuid4(),
            name=row["run_name"],
            run_type="chain",
            start_time=row["start_time"],
            end_time=row["end_time"],
            inputs=row["inputs"],
            outputs=row["actual_outputs"],
            error=row.get("error"),
            trace_id=uuid4(),
            reference_example_id=row["row_id"],
        )
        assert run.latency == row["run_metadata"]["ms"] / 1000
        for score in row["evaluation_scores"]:
            feedback = FeedbackCreate(id=uuid4(), run_id=run.id, trace_id=run.trace_id, **score)
            assert feedback.score == score["score"]


def test_rows_lie_within_the_experiments_time() -> None:
    experiment = experiment_of("first", CONFIGURATION, RECORDS, ENDED)
    first, last = experiment["experiment_start_time"], experiment["experiment_end_time"]

    assert last == ENDED.isoformat()
    assert all(first <= row["start_time"] <= row["end_time"] <= last for row in experiment["results"])


def test_a_row_shows_the_answer_its_proofs_and_what_is_wrong() -> None:
    answered, _, broken = rows()

    assert answered["actual_outputs"]["citations"] == [
        {"document": "ferry", "start": 0, "end": len(FIRST_BOAT), "quote": FIRST_BOAT}
    ]
    assert answered["run_metadata"]["mistakes"] == []
    assert "error" not in answered
    assert broken["error"].startswith("model_unavailable: ")


def test_rows_are_scored_by_the_measures_that_apply_to_one_question() -> None:
    answered, removed, _ = ({score["key"]: score["score"] for score in row["evaluation_scores"]} for row in rows())
    of_whole_runs = {m.name for m in METRICS if m.among or m.stratum or m.quantile is not None}

    assert answered["citation_recall"] == 1.0
    assert "citation_recall" not in removed
    assert removed["refused_when_not"] == 1.0
    assert not of_whole_runs & answered.keys()


def test_the_summary_has_the_figures_of_the_run() -> None:
    experiment = experiment_of("first", CONFIGURATION, RECORDS, ENDED)
    summary = {score["key"]: score["score"] for score in experiment["summary_experiment_scores"]}

    assert summary["abstention_accuracy"] == pytest.approx(2 / 3, abs=1e-4)
    assert summary["paired_balanced_accuracy"] == 1.0
    assert summary["failed_runs"] == pytest.approx(1 / 3, abs=1e-4)
    assert experiment["dataset_name"] == "ferries-0123456789abcdef"


def test_the_command_writes_both_files(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    folder.begin(CONFIGURATION)
    for each in RECORDS:
        folder.append(each)
    whole, examples = tmp_path / "experiment.json", tmp_path / "examples.jsonl"

    for file, more in ((whole, []), (examples, ["--format", "langsmith-examples"])):
        result = CliRunner().invoke(evaluate, ["export", str(folder.path), "--out", str(file), "--json", *more])
        assert result.exit_code == 0
        assert json.loads(result.stdout) == {"questions": 3, "file": str(file)}

    experiment = json.loads(whole.read_text(encoding="utf-8"))
    lines = [json.loads(line) for line in examples.read_text(encoding="utf-8").splitlines()]
    assert experiment["experiment_name"] == "run"
    assert [row["row_id"] for row in experiment["results"]] == [line["id"] for line in lines]
    assert [row["inputs"] for row in experiment["results"]] == [line["inputs"] for line in lines]


def test_a_folder_without_results_exports_nothing(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    folder.begin(CONFIGURATION)
    result = CliRunner().invoke(evaluate, ["export", str(folder.path), "--out", str(tmp_path / "out.json")])

    assert result.exit_code == 2
    assert not (tmp_path / "out.json").exists()
