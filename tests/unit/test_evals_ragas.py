"""A run in ragas' data set format, and its scores by ragas' own metrics, with a scripted model as the judge."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cli.eval import evaluate
from evals.ragas_metrics.ragas_catalogue import CATALOGUE, chosen_metrics, load_ragas, sample_of, write_samples
from evals.ragas_metrics.ragas_judge import judging_model, open_judge
from evals.ragas_metrics.ragas_scoring import MetricReport, RagasReport, is_whole, score_records
from evals.records import GoldSentence, Record
from graph.errors import ConfigurationError, InvalidRequest, UnknownModel
from graph.evidence import Failure
from tests import evals_records
from tests.evals_records import source
from tests.scripted_openai import Reply, ScriptedOpenAI, say, scripted_openai, status
from tools.settings import ModelSettings, Settings

__all__ = ["scripted_openai"]

PARIS = "Paris is the capital of France."
ZEBRAS = "Zebras graze on the savanna and sleep on their feet."
JUDGED = ["faithfulness", "context_precision", "context_recall", "response_groundedness"]


def gold(text: str = PARIS, document: str = "france", index: int = 0) -> GoldSentence:
    return evals_records.gold(text, document=document, index=index)


def record(case_id: str = "capital", **changes: Any) -> Record:
    """An answered question whose second source holds the evidence."""
    plain: dict[str, Any] = {
        "question": "What is the capital of France?",
        "standalone_question": "What is the capital of France?",
        "answers": ["Paris"],
        "evidence": [[gold()]],
        "sources": [source("animals", ZEBRAS), source("france", PARIS)],
        "answer": PARIS,
    }
    return evals_records.bare(case_id, **{**plain, **changes})


def abstained(case_id: str = "abstained") -> Record:
    return record(case_id, outcome="abstained", answer="I can't tell.", sources=[])


async def scored(*records: Record, metric: str) -> MetricReport:
    report = await score_records(records, chosen_metrics([metric], with_judge=False))
    return report["metrics"][metric]


async def judged(server: ScriptedOpenAI, *records: Record, metric: str) -> RagasReport:
    model = ModelSettings(name="judge", base_url=server.base_url, model="any")
    async with open_judge(model) as judge:
        chosen = chosen_metrics([metric], with_judge=True)
        return await score_records(records, chosen, judge=judge, judge_name=model.name, concurrency=1)


def replied(reply: dict[str, Any]) -> Reply:
    return say(json.dumps(reply))


def statements(*texts: str) -> Reply:
    return replied({"statements": list(texts)})


def verdicts(*values: int) -> Reply:
    return replied({"statements": [{"statement": "s", "reason": "r", "verdict": value} for value in values]})


def attributions(*values: int) -> Reply:
    return replied({"classifications": [{"statement": "s", "reason": "r", "attributed": value} for value in values]})


def useful(verdict: int) -> Reply:
    return replied({"reason": "r", "verdict": verdict})


def rated(rating: int) -> Reply:
    return replied({"rating": rating})


def values(report: MetricReport) -> list[float]:
    return [each["score"] for each in report["scores"]]


def test_ragas_is_imported_late_silently_untracked_and_leaves_nothing_in_the_home_folder(tmp_path: Path) -> None:
    code = """
import sys
def refuse(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo"):
        raise AssertionError(event, arguments)
sys.addaudithook(refuse)
import cli.eval, evals.ragas_metrics.ragas_scoring
from evals.ragas_metrics.ragas_catalogue import load_ragas
assert "ragas" not in sys.modules
found = load_ragas()
from ragas._analytics import LLMUsageEvent, do_not_track
assert do_not_track()
LLMUsageEvent(provider="any", llm_type="any")
print(found.version)
"""
    environment = {**os.environ, "HOME": str(tmp_path), "RAGAS_DO_NOT_TRACK": "false"}
    environment.pop("XDG_DATA_HOME", None)
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "0.4.3\n", "")
    assert list(tmp_path.rglob("*")) == []


def test_ragas_is_pinned_for_development_and_no_dependency_of_the_runtime() -> None:
    locks = Path(__file__).resolve().parents[2] / "requirements"
    assert "\nragas==0.4.3 " in (locks / "dev.txt").read_text(encoding="utf-8")
    assert "\nragas==" not in (locks / "runtime.txt").read_text(encoding="utf-8")


def test_without_the_extra_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    load_ragas.cache_clear()
    monkeypatch.setitem(sys.modules, "ragas", None)
    with pytest.raises(ConfigurationError) as raised:
        load_ragas()
    assert "citewell[ragas]" in raised.value.advice


def test_a_record_becomes_a_sample_with_contexts_and_their_documents_side_by_side() -> None:
    assert sample_of(record()) == {
        "user_input": "What is the capital of France?",
        "retrieved_contexts": [ZEBRAS, PARIS],
        "retrieved_context_ids": ["animals", "france"],
        "response": PARIS,
        "reference": "Paris",
        "reference_contexts": [PARIS],
        "reference_context_ids": ["france"],
    }


def test_gold_sentences_of_one_document_are_one_reference_context() -> None:
    both = [gold(), gold("It lies on the Seine.", index=1), gold(ZEBRAS, "animals")]
    sample = sample_of(record(evidence=[both, [gold()]]))
    assert sample["reference_contexts"] == [f"{PARIS} It lies on the Seine.", ZEBRAS]
    assert sample["reference_context_ids"] == ["france", "animals"]


def test_an_abstention_has_no_response_and_an_unanswerable_question_no_reference() -> None:
    assert "response" not in sample_of(abstained())
    removed = sample_of(record(variant="removed", expected="abstained"))
    assert {"reference", "reference_contexts", "reference_context_ids"}.isdisjoint(removed)


def test_a_question_of_a_conversation_is_exported_standalone() -> None:
    asked = record(question="And of France?", before=["What is the capital of Spain?"])
    assert sample_of(asked)["user_input"] == "What is the capital of France?"


def test_the_export_is_read_by_ragas_and_comes_back_the_same(tmp_path: Path) -> None:
    load_ragas()
    from ragas import EvaluationDataset

    failed = record("failed", outcome="failed", error=Failure(code="internal", message="It broke.", suggestion=""))
    vietnamese = record(
        "vi", answer="Thủ đô là Paris.", answers=["Paris"], sources=[source("法国", "巴黎是法国的首都。")]
    )
    kept = [record(), abstained(), vietnamese]
    file = tmp_path / "samples.jsonl"
    assert write_samples(file, [*kept, failed]) == 3
    data = EvaluationDataset.from_jsonl(file)
    assert data.to_list() == [sample_of(each) for each in kept]
    data.to_jsonl(file)
    assert EvaluationDataset.from_jsonl(file).to_list() == data.to_list()


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("id_based_context_precision", 1 / 2),  # one of two documents is gold
        ("id_based_context_recall", 1.0),
        ("non_llm_context_precision_with_reference", 1 / 2),  # the gold text is second: (1/2) / 1
        ("non_llm_context_recall", 1.0),
        ("exact_match", 0.0),
        ("string_present", 1.0),
        ("non_llm_string_similarity", 5 / 31),  # 26 of 31 characters are added to the reference
    ],
)
async def test_metrics_without_a_model_give_what_a_hand_computes(metric: str, expected: float) -> None:
    report = await scored(record(), metric=metric)
    assert values(report) == [pytest.approx(expected)]
    assert report["figure"] is not None
    assert report["figure"]["mean"] == pytest.approx(expected, abs=1e-4)


async def test_character_n_grams_are_all_shared_or_none() -> None:
    report = await scored(record("same", answer="Paris"), record("other", answer="Wuhu"), metric="chrf_score")
    assert values(report) == [0.0, 1.0]  # by the questions' ids
    assert report["figure"] is not None
    assert (report["figure"]["mean"], report["figure"]["n"]) == (0.5, 2)
    assert 0 <= report["figure"]["low"] < 0.5 < report["figure"]["high"] <= 1


async def test_an_answer_without_quoted_words_is_left_out_of_the_alignment_of_quotes() -> None:
    quoting = record("quoting", answer='It is "the capital of France", not "the capital of Spain".')
    chinese = record("chinese", answer="“巴黎是法国的首都”。")
    report = await scored(quoting, record(), chinese, metric="quoted_spans_alignment")
    assert values(report) == [0.5]
    assert report["left_out"] == {"anything to score": 2}


async def test_questions_that_lack_what_a_metric_needs_are_left_out_and_counted() -> None:
    report = await scored(record(), abstained(), metric="string_present")
    assert (values(report), report["left_out"]) == ([1.0], {"response": 1})


async def test_an_abstention_without_sources_recalled_nothing() -> None:
    assert values(await scored(abstained(), metric="id_based_context_recall")) == [0.0]


async def test_a_failed_run_is_told_and_no_metric_then_has_a_mean() -> None:
    failed = record("failed", outcome="failed", error=Failure(code="internal", message="It broke.", suggestion=""))
    report = await score_records([record(), failed], chosen_metrics(["exact_match"], with_judge=False))
    assert report["failed_runs"] == [{"case_id": "failed", "variant": "asked", "reason": "It broke."}]
    assert report["metrics"]["exact_match"]["figure"] is None
    assert report["questions"] == 2
    assert not is_whole(report)


@pytest.mark.parametrize(
    ("metric", "replies", "expected"),
    [
        ("faithfulness", [statements("a", "b", "c", "d"), verdicts(1, 1, 0, 1)], 3 / 4),
        ("context_precision", [useful(0), useful(1)], 1 / 2),
        ("context_precision", [useful(1), useful(0)], 1.0),
        ("context_recall", [attributions(1, 0, 1)], 2 / 3),
        ("response_groundedness", [rated(2), rated(1)], 3 / 4),
    ],
)
async def test_judged_metrics_give_what_the_verdicts_say(
    scripted_openai: ScriptedOpenAI, metric: str, replies: list[Reply], expected: float
) -> None:
    scripted_openai.script(*replies)
    report = await judged(scripted_openai, record(), metric=metric)
    assert values(report["metrics"][metric]) == [pytest.approx(expected)]
    assert is_whole(report)
    assert report["judge"] == "judge"
    assert len(scripted_openai.requests) == len(replies)
    assert all(PARIS in exchange.text or ZEBRAS in exchange.text for exchange in scripted_openai.requests)


async def test_a_judge_is_asked_again_where_its_reply_does_not_fit(scripted_openai: ScriptedOpenAI) -> None:
    scripted_openai.script(say("Certainly!"), attributions(1))
    report = await judged(scripted_openai, record(), metric="context_recall")
    assert values(report["metrics"]["context_recall"]) == [1.0]


@pytest.mark.parametrize(
    ("metric", "replies", "reason"),
    [
        ("faithfulness", [statements()], "no number"),
        ("faithfulness", [statements("a"), verdicts()], "0 verdicts on 1 statements"),
        ("faithfulness", [statements("a", "b"), verdicts(1)], "1 verdicts on 2 statements"),
        ("faithfulness", [statements("a"), verdicts(7)], "verdict of 7"),
        ("context_precision", [useful(1), say("No."), say("No.")], "JSON"),
        ("context_recall", [attributions()], "no number"),
        ("context_recall", [attributions(2, 0)], "attributed of 2"),
        ("response_groundedness", [rated(2), rated(9), rated(9)], "no number"),
        ("response_groundedness", [rated(2), *[say("No.")] * 4], "JSON"),
        *((metric, [status(401, "bad key")], "bad key") for metric in JUDGED[:3]),
        ("response_groundedness", [status(401, "bad key")] * 4, "bad key"),
    ],
)
async def test_what_is_no_number_is_an_error_that_names_its_question(
    scripted_openai: ScriptedOpenAI, metric: str, replies: list[Reply], reason: str
) -> None:
    scripted_openai.script(*replies)
    report = await judged(scripted_openai, record(), metric=metric)
    [fault] = report["metrics"][metric]["failed"]
    assert fault["case_id"] == "capital"
    assert reason in fault["reason"]
    assert not is_whole(report)


async def test_one_failure_leaves_a_metric_without_a_mean(scripted_openai: ScriptedOpenAI) -> None:
    scripted_openai.script(attributions(1), attributions())
    report = await judged(scripted_openai, record("first"), record("second"), metric="context_recall")
    recall = report["metrics"]["context_recall"]
    assert recall["figure"] is None
    assert [each["case_id"] for each in recall["scores"]] == ["first"]
    assert [each["case_id"] for each in recall["failed"]] == ["second"]


def test_metrics_are_named_as_ragas_names_them() -> None:
    assert [metric.name for metric in chosen_metrics([], with_judge=True)] == list(CATALOGUE)
    assert {metric.name for metric in chosen_metrics([], with_judge=False)} == {*CATALOGUE} - {*JUDGED}
    with pytest.raises(InvalidRequest, match="'bleu_score'"):
        chosen_metrics(["bleu_score"], with_judge=True)
    with pytest.raises(InvalidRequest, match="--model"):
        chosen_metrics(["faithfulness"], with_judge=False)


def test_a_judge_is_a_configured_model() -> None:
    model = ModelSettings(name="judge", base_url="http://127.0.0.1:1/v1", model="any")
    settings = Settings(_env_file=None, models=[model])
    assert judging_model(settings, "judge") == model
    with pytest.raises(UnknownModel, match="there are: judge"):
        judging_model(settings, "extractive")


class TestCommand:
    """``citewell eval ragas``."""

    @pytest.fixture
    def run_folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        monkeypatch.chdir(tmp_path)
        folder = tmp_path / "run"
        folder.mkdir()
        (folder / "configuration.json").write_text("{}", encoding="utf-8")
        lines = [json.dumps(each) for each in (record(), abstained())]
        (folder / "results.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        return folder

    def test_scores_are_printed_and_written_beside_the_run(self, run_folder: Path) -> None:
        done = CliRunner().invoke(evaluate, ["ragas", str(run_folder), "--metrics", "string_present, exact_match"])
        assert done.exit_code == 0
        assert "string_present\t1.000\t1.000 - 1.000\t1\t0\t1 without response" in done.stdout
        written = json.loads((run_folder / "ragas.json").read_text(encoding="utf-8"))
        assert written["metrics"]["exact_match"]["figure"]["mean"] == 0.0

    def test_a_failed_judgement_ends_with_a_code_and_prints_no_mean(
        self, run_folder: Path, scripted_openai: ScriptedOpenAI, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        models = [{"name": "judge", "base_url": scripted_openai.base_url, "model": "any"}]
        monkeypatch.setenv("CITEWELL_MODELS", json.dumps(models))
        scripted_openai.script(attributions())
        asked = ["ragas", str(run_folder), "--metrics", "context_recall", "--model", "judge"]
        done = CliRunner().invoke(evaluate, asked)
        assert done.exit_code == 5
        assert "context_recall\t-\t\t0\t1\t" in done.stdout
        assert "1 of 1 question" in done.stderr
        assert "capital (asked): " in done.stderr

    def test_an_export_alone_scores_nothing(self, run_folder: Path) -> None:
        file = run_folder / "samples.jsonl"
        done = CliRunner().invoke(evaluate, ["ragas", str(run_folder), "--export", str(file), "--json"])
        assert json.loads(done.stdout) == {"samples": 2, "file": str(file)}
        assert len(file.read_text(encoding="utf-8").splitlines()) == 2
        assert not (run_folder / "ragas.json").exists()

    def test_a_folder_without_a_run_is_refused(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        done = CliRunner().invoke(evaluate, ["ragas", str(tmp_path), "--json"])
        assert done.exit_code == 2
        assert "holds no run" in json.loads(done.stdout)["error"]["message"]
