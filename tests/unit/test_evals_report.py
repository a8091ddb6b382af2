"""A run's report: it says what went wrong and why, stands alone, and shows no text of others as markup."""

import base64
import hashlib
import json
import re
from datetime import UTC, datetime
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cli.console import show_groups
from cli.eval import evaluate
from evals.error_analysis import TITLES
from evals.evaluation import all_figures
from evals.metrics import Figure
from evals.metrics.metric_groups import BY_NAME
from evals.records import Record
from evals.report.html_markup import element
from evals.report.report_figures import Baseline, committed_baseline, read_baseline
from evals.report.run_page import Run, report_page, write_report
from evals.run_folder import Configuration, RunFolder
from graph.errors import InvalidRequest
from tests.evals_records import FARE, citation, claim, failed, gold, record, refused, retrieved

ATTACK = "</style></script><script>alert(1)</script><img src=x onerror=alert(2)>\"'&"
WITHOUT_END = {"meta", "input", "br"}


class Page(HTMLParser):
    """What a browser would make of a page: its tags with their attributes, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.styles: dict[str, list[str]] = {"style": [], "script": []}
        self._open: list[str] = []
        self.feed(html)
        self.close()
        assert not self._open, f"never closed: {self._open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in WITHOUT_END:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        inside = self._open[-1] if self._open else ""
        self.styles.get(inside, self.texts).append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())


def configuration(**changes: Any) -> Configuration:
    plain: dict[str, Any] = {
        "data": {"name": "ferries", "digest": "0123456789abcdef", "documents": 3, "questions": 2},
        "options": {"model": "extractive", "top_k": 10},
        "settings": {"embedding": {"model": "static"}},
        "versions": {"python": "3.11.7", "citewell": "0.1.0"},
        "prompts": {"generate_answer": "abc123"},
    }
    return Configuration(**{**plain, **changes})


def run_of(*records: Record, **changes: Any) -> Run:
    ended = datetime(2026, 5, 4, 12, 30, tzinfo=UTC)
    return Run(
        "first", configuration=configuration(**changes), records=records, metrics=all_figures(records), ended=ended
    )


def page_of(*records: Record, baseline: Baseline | None = None) -> Page:
    return Page(report_page(run_of(*records), baseline))


def run_folder(path: Path, *records: Record) -> RunFolder:
    folder = RunFolder(path)
    folder.begin(configuration())
    for each in records:
        folder.append(each)
    folder.write_metrics(all_figures(records))
    return folder


# The page


def test_the_page_says_what_was_run_and_what_went_wrong() -> None:
    page = page_of(record("q1"), refused("q2", question="Is there a night boat?"), failed("q3"))

    assert "ferries, extractive" in page.text
    assert re.search(r"3 questions .* 3 documents\. 1 right\. .* 04 May 2026 at 12:30 UTC", page.text)
    assert f"{TITLES['refused']} (1)" in page.text
    assert "Is there a night boat?" in page.text
    assert "model_unavailable: " in page.text
    assert "generate_answer abc123" in page.text
    assert "embedding.model static" in page.text


def test_a_mistaken_answer_is_shown_with_its_quotes_verdicts_and_evidence() -> None:
    page = page_of(
        record(
            before=["Which islands have a ferry?"],
            standalone_question="When does the first ferry of Askvik leave?",
            retrieved=retrieved("museum", "ferry"),
            first_claims=[claim("It leaves at 5:00.", verdict="unsupported")],
            claims=[claim(FARE, citation(FARE, sentences=[1]), verdict="unverified", reasons=("no word of it",))],
        )
    )

    for text in (
        "Asked before Which islands have a ferry?",
        "Understood as When does the first ferry of Askvik leave?",
        "An answer that contains “6:40”.",
        "Gold evidence The first boat leaves Askvik at 6:40. ferry gold",
        "museum (0.90) ferry (0.80) gold",
        f"{FARE} unverified no word of it {FARE} ferry",
        "As first written It leaves at 5:00. unsupported",
    ):
        assert text in page.text


def test_scores_by_ragas_are_shown_where_the_run_has_them(tmp_path: Path) -> None:
    folder = run_folder(tmp_path, record("q1"), record("q2"))
    figure = {"mean": 0.625, "low": 0.5, "high": 0.75, "n": 2}
    scored = {"figure": figure, "left_out": {"an answer": 1}, "failed": [], "scores": [{}, {}]}
    unscored = {"figure": None, "left_out": {}, "failed": [{}], "scores": []}
    report = {"ragas": "0.4.3", "judge": None, "metrics": {"chrf_score": scored, "string_present": unscored}}
    (tmp_path / "ragas.json").write_text(json.dumps(report), encoding="utf-8")
    write_report(folder)
    page = Page(folder.report.read_text(encoding="utf-8"))

    assert "ragas 0.4.3, judge: none" in page.text
    assert "chrf_score 0.625 0.500 – 0.750 2 0 1" in page.text
    assert "string_present – 0 1 0" in page.text
    assert "Scores by ragas" not in page_of(record("q1")).text


def test_a_run_without_mistakes_says_so() -> None:
    page = page_of(record("q1"), record("q2"))

    assert "Nothing went wrong." in page.text
    assert not page.all("form")


def test_the_page_stands_alone_and_lets_nothing_else_run() -> None:
    page = page_of(record("q1"), refused("q2"))

    assert not [tag for tag, _ in page.tags if tag in {"link", "img", "iframe", "object", "embed", "base"}]
    for _, attributes in page.tags:
        assert not {"src", "style", "action", "srcset"} & attributes.keys()
        assert not [name for name in attributes if name.startswith("on")]
        assert (attributes.get("href") or "#").startswith("#")
    for text in ("".join(page.styles["style"]), "".join(page.styles["script"])):
        assert "url(" not in text
        assert "http" not in text
    (policy,) = [each["content"] for each in page.all("meta") if each.get("http-equiv") == "Content-Security-Policy"]
    assert policy is not None
    assert policy.startswith("default-src 'none'; ")
    for kind in ("style", "script"):
        digest = base64.b64encode(hashlib.sha256("".join(page.styles[kind]).encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy


def test_no_text_of_data_documents_or_models_becomes_markup() -> None:
    bad = citation(ATTACK, document=ATTACK, exact=False, sentences=[9])
    hostile = record(
        ATTACK,
        question=ATTACK,
        before=[ATTACK],
        pages=[ATTACK],
        standalone_question=ATTACK + "?",
        tags={"language": ATTACK, "kind": ATTACK, "x onload=alert(3) ": ATTACK},
        answers=[ATTACK],
        evidence=[[gold(ATTACK, document=ATTACK)]],
        retrieved=retrieved(ATTACK),
        first_claims=[claim(ATTACK + "!")],
        claims=[claim(ATTACK, bad, verdict="contradicted", reasons=(ATTACK,))],
        spent={ATTACK: {"calls": 1, "tokens": 1, "ms": 1.0}},
    )
    broken = failed("q2", error={"code": ATTACK, "message": ATTACK}, tags={"language": "b", "kind": "b"})
    run = run_of(hostile, broken, refused("q3", answer=ATTACK), settings={ATTACK: ATTACK})
    page = Page(report_page(run, Baseline(name=ATTACK, means={})))

    assert len(page.all("script")) == 1
    assert len(page.all("style")) == 1
    assert not page.all("img")
    assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on")]
    assert page.text.count("<script>alert(1)</script>") > 15


def test_control_characters_are_shown_and_not_passed_on() -> None:
    assert element("p", "a\x00b\x1bc\nd") == "<p>a␀b␛c\nd</p>"


def test_the_page_can_be_read_without_seeing_it() -> None:
    page = page_of(record("q1"), refused("q2"), failed("q3"))

    assert page.all("html")[0]["lang"] == "en"
    assert len(page.all("h1")) == 1
    assert all(each.get("role") == "img" for each in page.all("svg"))
    ids = {attributes["id"] for _, attributes in page.tags if "id" in attributes}
    assert {each["href"] for each in page.all("a")} <= {f"#{id_}" for id_ in ids}
    assert len(page.all("caption")) == len(page.all("table"))
    assert {each.get("scope") for each in page.all("th")} == {"col", "row"}
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch(r"h\d", tag)]
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_every_chart_says_in_words_what_it_shows() -> None:
    html = report_page(run_of(record("q1"), refused("q2")))

    assert html.count("<svg") == len(re.findall(r"<svg[^>]*><title>[^<]+</title>", html)) > 10


def test_questions_can_be_chosen_by_why_language_and_kind() -> None:
    page = page_of(
        refused("q1", tags={"language": "vi", "kind": "follow up"}),
        record("q2", variant="removed", expected="abstained", tags={"language": "zh", "kind": "answerable"}),
    )

    assert [each["name"] for each in page.all("select")] == ["why", "language", "kind"]
    cards = [attributes for _, attributes in page.tags if "data-card" in attributes]
    assert [(each["data-why"], each["data-language"], each["data-kind"]) for each in cards] == [
        ("refused", "vi", "follow up"),
        ("answered_without_evidence", "zh", "answerable"),
    ]
    options = {each["value"] for each in page.all("option")}
    assert options == {"", "refused", "answered_without_evidence", "vi", "zh", "follow up", "answerable"}


def test_long_lists_are_folded() -> None:
    page = page_of(*(refused(f"q{number:02}") for number in range(20)))

    assert "12 more questions" in page.text
    assert len([1 for _, attributes in page.tags if "data-card" in attributes]) == 20


def test_figures_are_shown_by_the_values_of_tags() -> None:
    page = page_of(record("q1"), record("q2", tags={"language": "vi", "kind": "answerable"}))

    assert "By language" in page.text
    assert "By kind" not in page.text


def test_the_outcomes_are_counted_against_what_was_expected() -> None:
    page = page_of(record("q1"), refused("q2"), refused("q1", variant="removed", expected="abstained"), failed("q3"))

    assert "Expected answered abstained failed an answer 1 1 1 " in page.text
    assert "were removed 0 1 0" in page.text


# The baseline


def test_stated_chances_are_shown_beside_what_was_right() -> None:
    wrong = record("q3", claims=[claim(FARE, citation(FARE, sentences=[1]))], answerhood=0.9)
    page = page_of(record("q1", answerhood=0.92), record("q2", answerhood=0.55), wrong)

    assert re.search(r"3 answers .* 0\.667 .* 0\.790 ", page.text)
    assert "Right less stated" in page.text
    assert "Right less stated" not in page_of(record("q1")).text


def test_a_baseline_stands_beside_each_figure_that_it_has(tmp_path: Path) -> None:
    (tmp_path / "figures.json").write_text(json.dumps({"all": {"citation_recall": {"mean": 0.5}}}))
    baseline = read_baseline(tmp_path / "figures.json")
    html = report_page(run_of(record("q1"), record("q2")), baseline)

    assert "baseline 0.500" in Page(html).text
    assert "marks the baseline: figures.json." in Page(html).text
    assert html.count('class="baseline"') == 1


def test_a_run_folder_is_a_baseline(tmp_path: Path) -> None:
    baseline = read_baseline(run_folder(tmp_path / "before", record("q1")).path)

    assert baseline.name == "before"
    assert baseline.means["citation_recall"] == 1.0


@pytest.mark.parametrize("content", ["[]", "no json", '{"all": [1]}', '{"all": {"recall": 1}}', "{}"])
def test_what_is_no_baseline_is_refused(tmp_path: Path, content: str) -> None:
    file = tmp_path / "figures.json"
    file.write_text(content)

    with pytest.raises(InvalidRequest, match=r"figures\.json"):
        read_baseline(file)


def test_the_gate_holds_figures_of_its_own_runs_alone() -> None:
    golden = configuration(data={"name": "golden", "digest": "0", "documents": 1, "questions": 1})
    held = committed_baseline(golden)

    assert held is not None
    assert held.means["id_validity"] == 1.0
    assert committed_baseline(configuration()) is None
    ours = configuration(data={"name": "manual_gate", "digest": "0", "documents": 4, "questions": 60})
    held = committed_baseline(ours)
    assert held is not None
    assert "right" in held.means
    assert committed_baseline(configuration(data=ours["data"], options={"model": "mine"})) is None


# The files and the command


def test_the_report_is_written_beside_the_results(tmp_path: Path) -> None:
    folder = run_folder(tmp_path / "run", record("q1"), refused("q2"))
    write_report(folder)

    assert "1 right" in Page(folder.report.read_text(encoding="utf-8")).text


def test_a_report_is_written_again_beside_another_baseline(tmp_path: Path) -> None:
    run_folder(tmp_path / "before", record("q1"))
    after = run_folder(tmp_path / "after", record("q1"), refused("q2"))
    result = CliRunner().invoke(evaluate, ["report", str(after.path), "--baseline", str(tmp_path / "before"), "--json"])

    assert result.exit_code == 0
    assert json.loads(result.stdout) == {"report": str(after.report)}
    assert "marks the baseline: before." in Page(after.report.read_text(encoding="utf-8")).text


def test_a_folder_without_a_run_has_no_report(tmp_path: Path) -> None:
    result = CliRunner().invoke(evaluate, ["report", str(tmp_path), "--json"])

    assert result.exit_code == 2


def test_a_run_without_results_has_no_figures_and_gets_none(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "probe")
    folder.begin(configuration())
    result = CliRunner().invoke(evaluate, ["report", str(folder.path), "--json"])

    assert result.exit_code == 2
    assert "holds no results" in json.loads(result.stdout)["error"]["message"]
    assert [file.name for file in folder.path.iterdir()] == ["configuration.json"]


def test_a_terminal_shows_some_measures_by_the_values_of_a_tag(capsys: pytest.CaptureFixture[str]) -> None:
    figure = Figure(mean=0.5, low=0.4, high=0.6, n=8)
    show_groups("kind", {"list": {"right": figure}, "unanswerable": {"refused_when_not": figure}}, list(BY_NAME))
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert rows == [["kind: list", "0.500", "–"], ["kind: unanswerable", "–", "0.500"]]
