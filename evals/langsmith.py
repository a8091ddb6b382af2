"""Export of a run for LangSmith: examples of a data set, or a whole experiment with its scores.

The examples are those of ``Client.create_examples``, one JSON object per line. The experiment is the body of
LangSmith's ``datasets/upload-experiment`` route for experiments that were run elsewhere. Nothing is sent, and no
client is created. Shares are in [0, 1], times in ISO 8601, UTC.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Literal
from uuid import UUID, uuid5

from evals.error_analysis import errors_of
from evals.metrics import Metric
from evals.metrics.metric_groups import METRICS
from evals.records import Record, citations_of, record_key
from evals.run_folder import Configuration, RunFolder

Format = Literal["langsmith", "langsmith-examples"]

_NAMES = UUID("6a7c2f0e-0b5d-4f0c-9d0e-52f1f3a0c6b1")


def write_langsmith(folder: RunFolder, file: Path, format_: Format) -> int:
    """Write a run for LangSmith; return its number of questions. Raises InvalidRequest if the folder holds no run."""
    configuration = folder.configuration()
    ended, records = folder.ended(), sorted(folder.records(), key=record_key)
    if format_ == "langsmith":
        body = experiment_of(folder.name, configuration, records, ended)
        file.write_text(json.dumps(body, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    else:
        lines = [json.dumps(example_of(record, configuration), ensure_ascii=False) for record in records]
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return len(records)


def example_of(record: Record, configuration: Configuration) -> dict[str, Any]:
    """Return a question as an example of a data set. Its id depends only on the data set and the question."""
    data = configuration["data"]
    named = f"{data['name']}/{data['digest']}/{record['case_id']}/{record['variant']}"
    return dict(
        id=str(uuid5(_NAMES, named)),
        inputs={"question": record["question"], "asked_before": record["before"], "selected_pages": record["pages"]},
        outputs={
            "outcome": record["expected"],
            "answers": record["answers"],
            "evidence": [
                [{"document": sentence["document"], "quote": sentence["text"]} for sentence in chosen]
                for chosen in record["evidence"]
            ],
        },
        metadata={"case_id": record["case_id"], "variant": record["variant"], **record["tags"]},
        split=record["variant"],
    )


def experiment_of(
    name: str, configuration: Configuration, records: Sequence[Record], ended: datetime
) -> dict[str, Any]:
    """Return a run as an experiment.

    A record holds its run's duration but not its start, so all rows start with the experiment: the duration of the
    slowest run before ``ended``.
    """
    slowest = max((record["ms"] for record in records), default=0.0)
    started = ended - timedelta(milliseconds=slowest)
    data = configuration["data"]
    return dict(
        experiment_name=name,
        experiment_description=f"Citewell's answers to {data['name']} by {configuration['options']['model']}.",
        experiment_start_time=started.isoformat(),
        experiment_end_time=ended.isoformat(),
        dataset_name=f"{data['name']}-{data['digest']}",
        dataset_description=f"{data['questions']} questions of {data['documents']} documents.",
        experiment_metadata={**configuration},
        summary_experiment_scores=_summary(records),
        results=[_row(record, configuration, started) for record in records],
    )


def _summary(records: Sequence[Record]) -> list[dict[str, Any]]:
    found = [(metric, metric.measured(records)) for metric in METRICS]
    return [_feedback(metric, taken.mean) for metric, taken in found if taken is not None]


def _row(record: Record, configuration: Configuration, started: datetime) -> dict[str, Any]:
    example = example_of(record, configuration)
    row: dict[str, Any] = dict(
        row_id=example["id"],
        inputs=example["inputs"],
        expected_outputs=example["outputs"],
        actual_outputs={
            "outcome": record["outcome"],
            "answer": record["answer"],
            "citations": [_proof(citation) for citation in citations_of(record)],
        },
        evaluation_scores=_scores(record),
        start_time=started.isoformat(),
        end_time=(started + timedelta(milliseconds=record["ms"])).isoformat(),
        run_name=f"{record['case_id']} ({record['variant']})",
        run_metadata={
            **example["metadata"],
            "model": record["model"],
            "stop_reason": record["stop_reason"],
            "ms": record["ms"],
            "mistakes": [mistake.why for mistake in errors_of(record)],
        },
    )
    if record["error"] is not None:
        row["error"] = f"{record['error']['code']}: {record['error']['message']}"
    return row


def _proof(citation: Mapping[str, Any]) -> dict[str, Any]:
    return {key: citation[key] for key in ("document", "start", "end", "quote")}


def _scores(record: Record) -> list[dict[str, Any]]:
    """Return a row's scores by the measures that apply to single rows; the summary has those of the whole run."""
    return [
        _feedback(metric, sum(observed) / len(observed))
        for metric in METRICS
        if metric.among is None
        and metric.stratum is None
        and metric.quantile is None
        and (observed := metric.observe(record))
    ]


def _feedback(metric: Metric, score: float) -> dict[str, Any]:
    return dict(key=metric.name, score=round(score, 4), comment=metric.means, feedback_source={"type": "api"})
