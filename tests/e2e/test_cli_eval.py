"""The command that evaluates, as its users run it: over questions of their own, with a model that is there or not."""

import json
import re
from pathlib import Path

import pytest

from cli.command import Exit
from tests.e2e.conftest import Home, Writer
from tests.scripted_openai import ScriptedOpenAI, say

FERRY = {"name": "ferry", "title": "Ferry", "text": "The first boat leaves Askvik at 6:40. A single fare is 12 kroner."}
QUESTION = {
    "id": "first-boat",
    "question": "When does the first boat leave Askvik?",
    "answers": ["6:40"],
    "evidence": [[{"document": "ferry", "quote": "The first boat leaves Askvik at 6:40."}]],
    "paired": True,
}
NOBODY_THERE = json.dumps([{"name": "gone", "base_url": "http://127.0.0.1:9/v1", "model": "any"}])


@pytest.fixture
def questions(write: Writer) -> Path:
    """A folder of one question over one document."""
    write("ferries/documents.jsonl", json.dumps(FERRY) + "\n")
    return write("ferries/questions.jsonl", json.dumps(QUESTION) + "\n").parent


def test_a_run_shows_its_figures_and_what_they_rest_on(home: Home, questions: Path) -> None:
    done = home.citewell("eval", "run", "own", "--path", str(questions), "--removed", "--out", "ferry-run")
    assert done.code == Exit.OK
    assert "abstention_accuracy\t1.000\t1.000 - 1.000\t1\n" in done.out
    told = " ".join(done.err.split())
    assert "AUROC " in told
    assert "ferry-run/report.html" in told
    assert {file.name for file in (home.folder / "ferry-run").iterdir()} == {
        "configuration.json",
        "metrics.json",
        "report.html",
        "results.jsonl",
    }


def test_a_run_of_one_s_own_is_scored_by_ragas_with_any_endpoint_as_judge_and_the_report_shows_it(
    home: Home, questions: Path, scripted_openai: ScriptedOpenAI
) -> None:
    run = home.folder / "scored-run"
    assert home.citewell("eval", "run", "own", "--path", str(questions), "--out", str(run)).code == Exit.OK
    report = run / "report.html"
    assert "context_recall" not in report.read_text(encoding="utf-8")
    judge = json.dumps([{"name": "judge", "base_url": scripted_openai.base_url, "model": "any"}])
    scripted_openai.script(say(json.dumps({"classifications": [{"statement": "6:40", "reason": "", "attributed": 1}]})))
    asked = ("eval", "ragas", str(run), "--metrics", "string_present,context_recall", "--model", "judge")
    done = home.citewell(*asked, CITEWELL_MODELS=judge)
    assert (done.code, done.err) == (Exit.OK, "")
    assert "context_recall\t1.000\t" in done.out
    shown = report.read_text(encoding="utf-8")
    assert "judge: judge" in shown
    assert {"string_present", "context_recall"} <= set(re.findall(r"[a-z]+_[a-z]+", shown))


def test_files_that_cannot_be_written_are_named(home: Home, questions: Path) -> None:
    nowhere = home.folder / "a file"
    nowhere.write_text("not a folder")
    run = home.folder / "runs" / "to-write"
    refused = home.citewell("eval", "run", "own", "--path", str(questions), "--out", str(nowhere / "run"))
    assert (refused.code, "cannot be made" in refused.err) == (Exit.USAGE, True)
    assert home.citewell("eval", "run", "own", "--path", str(questions), "--out", str(run)).code == Exit.OK
    for command in (
        ["compare", str(run), str(run), "--html", str(nowhere / "x.html")],
        ["export", str(run), "--out", str(nowhere / "x.json")],
        ["ragas", str(run), "--export", str(nowhere / "x.jsonl")],
    ):
        refused = home.citewell("eval", *command)
        assert (refused.code, "cannot be written" in refused.err) == (Exit.USAGE, True), command


def test_a_run_of_which_every_question_failed_says_why_and_ends_with_a_code(home: Home, questions: Path) -> None:
    asked = ("eval", "run", "own", "--path", str(questions), "--model", "gone", "--out", "gone-run")
    done = home.citewell(*asked, CITEWELL_MODELS=NOBODY_THERE)
    assert done.code == Exit.UNAVAILABLE
    told = " ".join(done.err.split())
    assert "1 of 1 runs failed: first-boat: " in told
    assert "--out gone-run" in told


def test_prose_is_measured_by_code_alone_and_says_so(home: Home, write: Writer) -> None:
    row = {"lang": "en", "evidence": FERRY["text"], "claim": "A single fare is 12 kroner.", "supported": True}
    write("prose.jsonl", json.dumps(row) + "\n")
    done = home.citewell("eval", "prose", "--path", "prose.jsonl")
    assert done.code == Exit.OK
    assert "all\ttrue_supported\t1.000\t0.207 - 1.000\t1\n" in done.out
    assert "false_supported" not in done.out
    assert "By code alone" in done.err
    told = home.citewell("eval", "prose", "--path", "prose.jsonl", "--json").json
    assert (told["true_supported"], told["false_supported"], told["judge"]) == (1.0, None, None)


def test_any_judge_may_be_measured_and_one_without_an_exam_decides_nothing(
    home: Home, write: Writer, scripted_openai: ScriptedOpenAI
) -> None:
    row = {"lang": "en", "evidence": FERRY["text"], "claim": "You pay 12 kroner for a single fare.", "supported": True}
    write("prose.jsonl", json.dumps(row) + "\n")
    models = json.dumps([{"name": "scripted", "base_url": scripted_openai.base_url, "model": "any"}])
    asked = ("eval", "prose", "--path", "prose.jsonl", "--judge", "scripted", "--json")
    freed = home.citewell(*asked, "--any-judge", CITEWELL_MODELS=models)
    assert (freed.code, freed.json["true_supported"]) == (Exit.OK, 1.0)
    assert (freed.json["judge"]["name"], freed.json["judge"]["examined"]) == ("any", False)
    held = home.citewell(*asked, CITEWELL_MODELS=models)
    assert (held.code, held.json["true_supported"], held.json["judge"]["examined"]) == (Exit.OK, 0.0, False)
    assert len(scripted_openai.asked("judge_claims")) == 2


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--judge", "extractive"], "--judge: the model 'extractive'"),
        (["--judge", "nobody", "--any-judge"], "is named 'nobody'"),
        (["--any-judge"], "--any-judge: "),
        (["--path", "nowhere.jsonl"], "--path: nowhere.jsonl"),
    ],
)
def test_a_measurement_of_prose_that_cannot_be_made_is_told(
    home: Home, write: Writer, options: list[str], told: str
) -> None:
    row = {"lang": "en", "evidence": FERRY["text"], "claim": "A single fare is 12 kroner.", "supported": True}
    write("prose.jsonl", json.dumps(row) + "\n")
    done = home.citewell("eval", "prose", "--path", "prose.jsonl", *options, "--json")
    assert (done.code, told in done.json["error"]["message"]) == (Exit.USAGE, True)
