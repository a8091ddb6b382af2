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

from cli.eval import evaluate
from evals.configuration import Configuration
from evals.evaluation import all_figures
from evals.metrics.catalogue import BY_NAME, KEY_FIGURES, METRICS
from evals.mistakes import is_right, mistakes_of
from evals.records import Record
from evals.report.baseline import Baseline, committed_baseline, read_baseline
from evals.report.charts import Bin, even_ticks, histogram, interval_bar
from evals.report.markup import Markup, element
from evals.report.numbers import shown, signed
from evals.report.page import Run, report_page, write_report
from evals.run_folder import RunFolder
from graph.errors import InvalidRequest
from tests.evals_records import FARE, citation, claim, failed, gold, record, refused, retrieved, section

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
    return Configuration(**{**plain, **changes})  # type: ignore[typeddict-item]


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


def kinds(record: Record) -> list[str]:
    return [mistake.kind for mistake in mistakes_of(record)]


# Mistakes


def test_a_right_answer_and_a_right_refusal_have_no_mistake() -> None:
    assert kinds(record()) == []
    assert kinds(refused(expected="abstained", variant="removed")) == []
    assert is_right(record())
    assert is_right(refused(expected="abstained", evidence=[], answers=[]))


def test_a_refusal_of_an_answerable_question_tells_where_the_evidence_ranked() -> None:
    found = refused(retrieved=retrieved("museum", "ferry"))

    assert kinds(found) == ["refused"]
    assert (
        mistakes_of(found)[0].why == "It was refused (nothing relevant). The search had ranked a gold document 2 of 2."
    )
    assert not is_right(found)


def test_a_gold_document_that_was_not_retrieved_is_named() -> None:
    found = refused(retrieved=retrieved("museum", "bakery"))

    assert kinds(found) == ["refused", "gold_not_retrieved"]
    assert mistakes_of(found)[1].why == "ferry: not among the 2 documents that the search brought."


def test_an_answer_without_evidence_in_the_library_is_wrong_in_both_variants() -> None:
    for variant, why in (("asked", "no document has the answer"), ("removed", "were removed")):
        found = record(expected="abstained", variant=variant)
        assert kinds(found) == ["answered_without_evidence"]
        assert why in mistakes_of(found)[0].why


def test_quotes_that_are_not_gold_count_and_are_told_from_a_late_one() -> None:
    other = citation(FARE, sentences=[1])
    late = record(claims=[claim(FARE, other), claim()])
    never = record(claims=[claim(FARE, other)])

    assert kinds(late) == ["first_quote_not_gold"]
    assert mistakes_of(late)[0].why == "Quote 2 of 2 is the first that holds gold evidence."
    assert is_right(late)
    assert kinds(never) == ["no_gold_quoted"]
    assert not is_right(never)


def test_an_accepted_sentence_is_as_good_as_gold() -> None:
    assert kinds(record(accepted=[gold(FARE, index=1)], claims=[claim(FARE, citation(FARE, sentences=[1]))])) == []


def test_an_answer_that_quotes_nothing_is_wrong() -> None:
    found = record(claims=[{**claim(), "citations": []}])

    assert [mistake.why for mistake in mistakes_of(found)] == ["The answer quotes nothing."]


def test_quotes_that_are_not_exact_or_were_never_offered_are_wrong() -> None:
    found = record(claims=[claim("x", citation(exact=False), citation(offered=False))])

    assert kinds(found) == ["citation_not_exact", "citation_not_offered"]
    assert not is_right(found)


def test_an_invented_id_is_told_and_leaves_the_rest_right() -> None:
    found = record(sections=[section(unknown_ids=2)])

    assert [mistake.why for mistake in mistakes_of(found)] == [
        "2 of the ids that the answer was written with name no source."
    ]
    assert is_right(found)


def test_a_claim_that_failed_is_given_with_its_reasons() -> None:
    found = record(claims=[claim(), claim("It is 13 kroner.", verdict="contradicted", reasons=("12, not 13",))])

    assert [mistake.why for mistake in mistakes_of(found)] == ["“It is 13 kroner.” is contradicted: 12, not 13."]


def test_a_missing_gold_answer_is_no_wrong_proof() -> None:
    found = record(answers=["7:15", "quarter past seven"])

    assert [mistake.why for mistake in mistakes_of(found)] == [
        "The answer does not hold “7:15” or “quarter past seven”."
    ]
    assert is_right(found)


def test_a_failed_run_says_its_error_and_a_cancelled_one_its_reason() -> None:
    assert mistakes_of(failed())[0].why == "model_unavailable: The model did not answer."
    assert kinds(refused(outcome="cancelled", stop_reason="server_stopped")) == ["run_failed"]


# The page


def test_the_page_says_what_was_run_and_what_went_wrong() -> None:
    page = page_of(record("q1"), refused("q2", question="Is there a night boat?"), failed("q3"))

    assert "ferries, extractive" in page.text
    assert "3 questions asked of 3 documents. 1 came out right. Ended on 04 May 2026 at 12:30 UTC." in page.text
    assert "Refused, though it can be answered (1)" in page.text
    assert "Is there a night boat?" in page.text
    assert "model_unavailable: The model did not answer." in page.text
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
        "An answer that holds “6:40”.",
        "Gold evidence The first boat leaves Askvik at 6:40. ferry gold",
        "museum (0.90) ferry (0.80) gold",
        f"{FARE} unverified no word of it {FARE} ferry",
        "As first written It leaves at 5:00. unsupported",
    ):
        assert text in page.text


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

    assert "Expected answered abstained failed an answer 1 1 1 a refusal: the documents were removed 0 1 0" in page.text


# The baseline


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


# Parts


def test_every_measure_has_a_place_in_the_report() -> None:
    assert set(BY_NAME) == {metric.name for metric in METRICS}
    assert set(KEY_FIGURES) <= set(BY_NAME)


def test_text_is_escaped_and_markup_is_not() -> None:
    assert element("p", "a < b", element("b", "&"), None, class_="x", hidden=True, title=None, data_x='"') == (
        '<p class="x" hidden data-x="&quot;">a &lt; b<b>&amp;</b></p>'
    )
    assert isinstance(element("br"), Markup)


def test_bars_keep_to_their_scale() -> None:
    bar = interval_bar({"mean": 0.5, "low": 0.25, "high": 1.5, "n": 4}, most=1.0, says="half", baseline=2.0)

    assert 'class="bar" x="0" y="4" width="120.0"' in bar
    assert 'x1="60.0" x2="240.0"' in bar
    assert 'class="baseline" x1="240.0"' in bar
    assert 'width="0.0"' in interval_bar({"mean": 0.0, "low": 0.0, "high": 0.0, "n": 4}, most=0.0, says="none")


def test_a_histogram_draws_each_count_in_proportion() -> None:
    chart = histogram([Bin("a", "of a", 4), Bin("b", "of b", 2), Bin("c", "of c", 0)], title="Counts", says="4, 2, 0")
    heights = [float(height) for height in re.findall(r' height="([\d.]+)" rx', chart)]

    assert heights[0] == 2 * heights[1]
    assert heights[2] == 0
    assert "<title>of a: 4</title>" in chart


def test_ticks_name_the_ends_of_even_parts() -> None:
    assert even_ticks(200.0, 4) == {"0": 0.0, "50": 0.25, "100": 0.5, "150": 0.75, "200": 1.0}


def test_numbers_are_written_by_their_unit() -> None:
    assert [shown(0.5, "share"), shown(2.5, "count"), shown(1234.0, "count")] == ["0.500", "2.50", "1,234"]
    assert [shown(12.4, "ms"), shown(1500.0, "ms")] == ["12 ms", "1.50 s"]
    assert [signed(0.1, "share"), signed(-3.0, "ms"), signed(-0.0001, "share")] == ["+0.100", "−3 ms", "0.000"]


# The files and the command


def test_the_report_is_written_beside_the_results(tmp_path: Path) -> None:
    folder = run_folder(tmp_path / "run", record("q1"), refused("q2"))
    write_report(folder)

    assert "1 came out right" in Page(folder.report.read_text(encoding="utf-8")).text


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
