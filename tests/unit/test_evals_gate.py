"""How the gate judges, what its scripted writer replies, and what it takes from the command line."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cli.command import Exit
from cli.eval import evaluate
from evals.dataset_store import document_ids
from evals.gate import gate_run
from evals.gate.gate_judging import GateJudgement, Threshold, judge, load_bounds, load_thresholds
from evals.gate.gate_metrics import caught_metrics
from evals.gate.gate_model import Cite, RecordedModel, RecordedReply, RecordedSection
from evals.gate.gate_run import MANUALS, RUNS, SCRIPTED, run_gate
from evals.gate_baseline import load_baseline, write_baseline
from evals.metrics import Metric
from evals.scripted_endpoint import ModelRequest
from graph.errors import InvalidRequest
from tests.conftest import NO_FILE
from tests.evals_records import citation, claim, record, section
from tests.gate_data import gate_data
from tools.llm.reply_schemas import grading_schema
from tools.settings import EXTRACTIVE, Settings

RIGHT = Metric("right", "Right", "questions answered rightly", lambda record: [])
WRONG = Metric("wrong", "Wrong", "questions answered wrongly", lambda record: [], better="lower")

UNBOUND = Threshold()


def of_questions(*values: float) -> dict[str, list[list[float]]]:
    return {f"q{number}": [[value]] for number, value in enumerate(values)}


def judged(metric: Metric, before: Any, after: Any, threshold: Threshold = UNBOUND) -> tuple[str, ...]:
    (found,) = judge(
        "run", {metric.name: metric}, {metric.name: after}, {metric.name: threshold}, {metric.name: before}
    )
    return found.faults


def test_a_measure_fails_where_it_fell_significantly() -> None:
    assert judged(RIGHT, of_questions(*[1.0] * 20), of_questions(*[1.0] * 12, *[0.0] * 8)) == (
        "fell by 0.400 (p 0.001)",
    )
    assert judged(WRONG, of_questions(*[0.0] * 20), of_questions(*[0.0] * 12, *[1.0] * 8)) == (
        "rose by 0.400 (p 0.001)",
    )


def test_a_measure_passes_where_it_rose_or_one_question_turned() -> None:
    assert judged(RIGHT, of_questions(*[1.0] * 12, *[0.0] * 8), of_questions(*[1.0] * 20)) == ()
    assert judged(RIGHT, of_questions(*[1.0] * 20), of_questions(*[1.0] * 19, 0.0)) == ()
    assert judged(RIGHT, of_questions(*[0.5] * 20), of_questions(*[0.495] * 20)) == ()


def test_questions_that_the_baseline_does_not_know_are_not_compared() -> None:
    added = {f"new{number}": [[0.0]] for number in range(20)}
    assert judged(RIGHT, of_questions(*[1.0] * 20), {**of_questions(*[1.0] * 20), **added}) == ()


def test_thresholds_hold_the_bounds_of_the_interval_and_the_figure() -> None:
    after = of_questions(*[1.0] * 18, 0.0, 0.0)
    assert judged(RIGHT, after, after, Threshold(least=0.85)) == ("lower bound below 0.85",)
    assert judged(RIGHT, after, after, Threshold(least=0.6)) == ()
    assert judged(RIGHT, after, after, Threshold(figure=0.9, least=0.6)) == ()
    assert judged(RIGHT, after, after, Threshold(figure=0.91)) == ("figure below 0.91",)
    assert judged(WRONG, after, after, Threshold(most=0.95)) == ("upper bound above 0.95",)


def test_a_measure_of_nothing_fails_where_there_was_something_to_measure() -> None:
    nothing: dict[str, list[list[float]]] = {"q0": [[]]}
    assert judged(RIGHT, of_questions(1.0), nothing) == ("nothing to measure",)
    assert judged(RIGHT, {}, nothing, Threshold(least=0.5)) == ("nothing to measure",)
    assert judged(RIGHT, {"q0": [[]], "q1": [[1.0]]}, nothing) == ()


def test_the_committed_baseline_keeps_the_committed_thresholds() -> None:
    metrics, baseline, thresholds = gate_data().metrics(), load_baseline(), load_thresholds()
    assert set(baseline) == set(thresholds) == set(RUNS)
    for run in RUNS:
        judgements = judge(run, metrics, baseline[run], thresholds[run], baseline[run])
        assert {each.metric.name: each.faults for each in judgements if each.faults} == {}


def test_a_baseline_is_read_as_it_was_written(tmp_path: Path) -> None:
    written = {"run": {"right": {"q1": [[1.0], []], "q2": [[], []]}, "wrong": {"q1": [[0.25]], "q2": [[0.0]]}}}
    write_baseline(written, tmp_path / "baseline.jsonl")
    assert load_baseline(tmp_path / "baseline.jsonl") == written


def question_of(case_id: str) -> str:
    return next(case.question for case in gate_data().golden.cases if case.case_id == case_id)


def cited_document() -> str:
    """Give the id of the document that the recorded reply to en-001 cites first."""
    data = gate_data()
    return document_ids(data.golden)[data.replies["en-001"].sections[0].cites[0].document]


def asked(name: str, text: str, **schema: Any) -> Any:
    form = {"json_schema": {"name": name, "schema": schema}}
    request = ModelRequest({"messages": [{"role": "user", "content": text}], "response_format": form})
    return json.loads(RecordedModel(gate_data().golden, gate_data().replies).reply(request))


def answer_prompt(question: str, *segments: str) -> str:
    return "Segments:\n\n# Guide\n{}\n\nQuestion: {}\n\nAnswer in English, as JSON:".format(
        "\n".join(segments), question
    )


def test_the_scripted_writer_cites_the_segment_that_holds_the_quote() -> None:
    document, question = cited_document(), question_of("en-001")
    (recorded,) = gate_data().replies["en-001"].sections
    other, right = (
        f"[SEG={document}:1] Nothing.",
        f"[SEG={document}:4] Ticket | Price\n{recorded.cites[0].quote}\n",
    )
    said = asked("answer", answer_prompt(question, other, right))
    assert said == {"sections": [{"text": recorded.text, "source_ids": [f"{document}:4"]}]}
    assert asked("answer", answer_prompt(question, other)) == {"sections": []}
    assert asked("answer", answer_prompt("Who is it?", right)) == {"sections": []}


def test_the_scripted_writer_repeats_what_it_is_to_correct() -> None:
    document, question = cited_document(), question_of("en-001")
    (recorded,) = gate_data().replies["en-001"].sections
    segment = f"[SEG={document}:4] {recorded.cites[0].quote}"
    prompt = f"{segment}\n\nQuestion: {question}\n\nSections to correct:\n\n[1] {recorded.text}\n- Failed: it."
    assert asked("revision", prompt) == {
        "sections": [{"section": 1, "text": recorded.text, "source_ids": [f"{document}:4"]}]
    }


def test_the_scripted_model_keeps_every_passage_and_asks_follow_ups_with_what_came_before() -> None:
    assert asked("grading", "", **grading_schema(3).schema) == {"relevant": [1, 2, 3]}
    follow_up = next(case for case in gate_data().golden.cases if case.before and "topic" not in case.tags)
    prepared = asked("preparation", f"Conversation: ...\n\nLast message:\n{follow_up.question}")
    assert prepared["standalone_question"] == f"{follow_up.before[-1]} {follow_up.question}"


def recorded(text: str, fault: Any, *cites: Cite) -> RecordedSection:
    return RecordedSection(text=text, cites=cites or (Cite(document="ferry", quote="It leaves at 6:40."),), fault=fault)


def test_what_was_caught_is_counted_by_fault() -> None:
    reply = RecordedReply(
        id="q1",
        sections=(
            recorded("It leaves at 7:40.", "wrong_number"),
            recorded("It is painted green.", "invented"),
            recorded("It leaves daily.", "unknown_id", Cite(id="none:1")),
            recorded("It leaves at 6:40.", None),
            recorded("It sails from Norholm.", "wrong_id"),
        ),
    )
    answered = record(
        written=[section(each.text, unknown_ids=int(each.fault == "unknown_id")) for each in reply.sections],
        claims=[
            claim("It leaves at 7:40.", verdict="unverified", mark="withheld"),
            claim("It is painted green.", verdict="unverified", mark="shown"),
            claim("It leaves at 6:40.", verdict="supported", mark="shown"),
            claim("It sails from Norholm.", verdict="supported", mark="shown"),
        ],
    )
    found = {metric.name: list(metric.observe(answered)) for metric in caught_metrics({"q1": reply})}
    assert found == {
        "caught": [1.0, 0.0, 1.0, 0.0],
        "caught_wrong_number": [1.0],
        "caught_invented": [0.0],
        "caught_wrong_id": [0.0],
        "caught_unknown_id": [1.0],
        "wrong_shown": [0.0, 1.0, 1.0],
        "wrong_proven": [0.0, 0.0, 1.0],
        "false_alarms": [0.0],
        "sections_written": [1.0, 1.0, 1.0, 1.0, 1.0],
    }
    moved = claim("It sails from Norholm.", citation(origin="matched"))
    withdrawn = record(written=answered["written"], claims=[moved])
    found = {metric.name: list(metric.observe(withdrawn)) for metric in caught_metrics({"q1": reply})}
    assert (found["caught"], found["false_alarms"]) == ([1.0, 1.0, 1.0, 1.0], [1.0])


def test_each_run_asks_its_own_questions() -> None:
    assert gate_data().of_run(EXTRACTIVE) == gate_data().golden
    assert {case.case_id for case in gate_data().of_run(SCRIPTED).cases} == set(gate_data().replies)
    assert gate_data().of_run(MANUALS) == gate_data().manuals


def test_our_own_manuals_are_of_every_format_and_language_and_ask_every_kind() -> None:
    manuals = gate_data().manuals
    assert sorted(Path(document.name).suffix for document in manuals.documents) == [".html", ".md", ".pdf", ".rst"]
    assert len(manuals.cases) == 60
    assert {case.tags["language"] for case in manuals.cases} == {"en", "vi", "zh"}
    assert {case.tags["kind"] for case in manuals.cases} == {
        *("code", "comparison", "crosslang", "definition", "followup", "howto"),
        *("list", "table", "unanswerable", "value", "why", "yesno"),
    }
    assert not manuals.lasting  # or a gate would leave its library behind
    for case in manuals.cases:
        assert (case.tags["kind"] == "unanswerable") == (case.expected == "abstained"), case.case_id
        assert bool(case.answers or case.all_of) == bool(case.passages), case.case_id
        assert bool(case.before) == (case.tags["kind"] == "followup"), case.case_id
    assert {each.document for case in manuals.cases for each in case.passages} == set(manuals.by_name)


async def test_the_gate_judges_no_run_but_its_own(tmp_path: Path) -> None:
    settings = Settings(**NO_FILE)
    (tmp_path / "results.jsonl").write_text("")
    with pytest.raises(InvalidRequest, match="out: "):
        await run_gate(settings, gate_data(), tmp_path)
    with pytest.raises(InvalidRequest, match=r"fault: .*'none'.* dropped_citations, "):
        await gate_run.judge_gate(settings, tmp_path / "new", fault="none")
    with pytest.raises(InvalidRequest, match="cannot become the baseline"):
        await gate_run.judge_gate(settings, tmp_path / "new", fault="stale_offsets", rewrites=True)


def test_the_command_shows_each_measure_and_ends_by_the_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    before, after = of_questions(*[1.0] * 20), of_questions(*[0.0] * 20)
    passing = judge(
        "extractive", {"right": RIGHT}, {"right": before}, {"right": Threshold(least=0.9)}, {"right": before}
    )
    failing = judge("scripted", {"wrong": WRONG}, {"wrong": before}, {"wrong": Threshold(most=0.1)}, {"wrong": after})

    def measured(*judgements: GateJudgement) -> None:
        async def judge_gate(*_: Any, **__: Any) -> list[GateJudgement]:
            return list(judgements)

        monkeypatch.setattr(gate_run, "judge_gate", judge_gate)

    measured(*passing)
    done = CliRunner().invoke(evaluate, ["gate"])
    assert done.exit_code == Exit.OK
    assert "right" in done.stdout
    measured(*passing, *failing)
    done = CliRunner().invoke(evaluate, ["gate", "--json"])
    assert done.exit_code == Exit.WORSE
    told = json.loads(done.stdout)
    assert told["passed"] is False
    assert [row["faults"] for row in told["measures"]] == [
        [],
        ["upper bound above 0.1", "rose by 1.000 (p 0.001)"],
    ]


def bounds_of(tmp_path: Path, text: str) -> dict[str, Threshold]:
    file = tmp_path / "bounds.toml"
    file.write_text(text, encoding="utf-8")
    return load_bounds(file, {"right": RIGHT, "wrong": WRONG})


def test_bounds_of_ones_own_are_read_by_measure(tmp_path: Path) -> None:
    found = bounds_of(tmp_path, "right = { least = 0.8, figure = 0.9 }\n\n[wrong]\nmost = 0.1\n")
    assert found == {"right": Threshold(least=0.8, figure=0.9), "wrong": Threshold(most=0.1)}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("righd = { least = 0.8 }", "no measure 'righd'"),
        ("right = 0.8", "right: it: "),
        ("right = { lest = 0.8 }", "right: lest: "),
        ("right = { least = 'high' }", "right: least: "),
        ("right = {}", "right has no figure"),
        ("right: 0.8", "is not TOML"),
        ("", "names no measure"),
    ],
)
def test_a_fault_in_ones_own_bounds_is_named(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(InvalidRequest, match="--thresholds: .*" + told) as raised:
        bounds_of(tmp_path, text)
    assert raised.value.suggestion


def test_bounds_that_are_not_there_are_told(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match="cannot be read"):
        load_bounds(tmp_path / "gone.toml", {})


@pytest.mark.parametrize(
    "options",
    [
        ["--path", "mine"],
        ["--thresholds", "bounds.toml"],
        ["--path", "mine", "--thresholds", "bounds.toml", "--write-baseline"],
        ["--planted"],
    ],
)
def test_options_of_another_gate_are_refused(options: list[str]) -> None:
    assert CliRunner().invoke(evaluate, ["gate", *options]).exit_code == Exit.USAGE
