"""Passages: what is read of files and questions, when a shown one is right, and what makes an answer right."""

import json
from pathlib import Path
from typing import Any

import pytest

from evals.cases import DataSet
from evals.dataset_store import stored_data_set
from evals.evaluation import run_data_set
from evals.gold_passages import quote_hits
from evals.metrics.passage_metrics import (
    PASSAGES,
    characters_shown,
    gold_shown,
    is_right,
    shown_passages,
    shows_gold,
)
from evals.records import GoldPassage, NearestPassage, Record
from evals.report.report_failures import expected
from evals.run_folder import RunOptions
from evals.sets import load_data_set
from graph.entrypoint import open_citewell
from graph.errors import InvalidRequest
from graph.evidence import CitationContext
from tests.evals_records import FARE, citation, claim, failed, gold, record, refused, retrieved, section, source
from tests.unit.made_data_sets import KILN, write, write_lines, write_manuals
from tests.unit.pdf_files import pdf
from tools.settings import Settings

PASSAGE = "The kiln cools for nine hours before its door is opened."


def passage(text: str = PASSAGE, document: str = "ferry", *, alternative: bool = False) -> GoldPassage:
    return GoldPassage(document=document, text=text, alternative=alternative)


def asked(*passages: GoldPassage, **changes: Any) -> Record:
    """A question that was answered with the first passage as its quote."""
    quoted = claim(PASSAGE, citation(PASSAGE))
    plain: dict[str, Any] = {
        "evidence": [],
        "passages": list(passages or (passage(),)),
        "answers": ["nine hours"],
        "answer": PASSAGE,
        "written": [section(PASSAGE)],
        "first_claims": [quoted],
        "claims": [quoted],
        "sources": [source(text=f"{PASSAGE} Then it is swept.")],
    }
    return record(**{**plain, **changes})


@pytest.mark.parametrize(
    "quote",
    [
        f"Mind the heat. {PASSAGE.upper()} Then it is swept.",
        "The kiln  cools\nfor nine hours before its door",
        "Before its door is opened the kiln cools nine full hours.",
    ],
    ids=["holds it", "is most of it", "holds three quarters of its words"],
)
def test_a_quote_hits_a_passage(quote: str) -> None:
    assert quote_hits(quote, PASSAGE)


@pytest.mark.parametrize("quote", ["", "The kiln cools", "The kiln has a door that is opened from the left.", "..."])
def test_a_quote_of_little_of_a_passage_does_not_hit_it(quote: str) -> None:
    assert not quote_hits(quote, PASSAGE)


def test_notation_entities_and_the_spaces_of_markup_make_no_difference() -> None:
    assert quote_hits("Use “a –b” & c : more", 'use "a -b" &amp; c: more')
    assert quote_hits("见/etc/hosts 文件，即可。", "见 /etc/hosts文件,即可。")
    assert quote_hits("Nine hours [1, 2], then it opens [ref:3][^a] [citation needed].", "Nine hours, then it opens.")


def test_chinese_is_compared_by_pairs_of_characters() -> None:
    assert quote_hits("窑炉冷却九个小时之后开门", "窑炉冷却九个小时后开门")
    assert not quote_hits("门开后九时小个却冷炉窑", "窑炉冷却九个小时后开门")


def test_an_answer_is_right_where_it_says_all_that_is_asked_and_a_quote_hits() -> None:
    assert is_right(asked())
    assert not is_right(asked(answers=["ten hours"]))
    assert is_right(asked(answer="As quoted."))  # the passage is shown too
    assert is_right(asked(all_of=[["nine", "9"], ["door"]]))
    assert not is_right(asked(all_of=[["nine", "9"], ["window"]]))
    assert not is_right(asked(passage(document="bakery")))
    assert not is_right(asked(outcome="abstained"))


def test_an_alternative_passage_stands_for_one_that_is_not_hit() -> None:
    elsewhere = passage("The door opens to the left.", "bakery")
    assert gold_shown(asked(passage(), elsewhere)) == 0.5
    assert gold_shown(asked(elsewhere, passage(alternative=True))) == 1.0
    assert gold_shown(asked(passage(), passage(alternative=True))) == 1.0
    assert gold_shown(asked(elsewhere)) == 0.0


HEADER = CitationContext(role="header", start=4, end=15, text="Step | Hours")
ROW = "Cooling | nine hours"


def test_what_is_shown_around_a_passage_counts_as_shown() -> None:
    row = citation(ROW, start=40, end=60, heading_path=["Firing", "Times"], context=[HEADER])
    shown = asked(
        passage(f"{HEADER['text']}\n{ROW}"), answer=ROW, claims=[claim(ROW, row)], all_of=[["hours"], ["firing"]]
    )
    assert [each.whole for each in shown_passages(shown)] == [f"Firing\nTimes\nStep | Hours\n{ROW}"]
    assert is_right(shown)
    assert characters_shown(shown) == len(f"{ROW}FiringTimesStep | Hours")
    assert characters_shown({**shown, "answer": f"| Step | Hours |\n{ROW}"}) == len(
        f"| Step | Hours |\n{ROW}FiringTimes"
    )
    assert not is_right({**shown, "claims": [claim(ROW, citation(ROW, start=40, end=60))]})


def test_the_first_passages_are_counted_in_the_order_shown_each_place_once() -> None:
    other, again = citation("Mind the heat.", start=90, end=104), citation("Mind the heat.", start=90, end=104)
    late = asked(claims=[claim("a", other), claim("b", again), claim(PASSAGE, citation(PASSAGE))])
    assert [each.text for each in shown_passages(late)] == ["Mind the heat.", PASSAGE]
    assert [shows_gold(late, most=most) for most in (1, 2, 3)] == [False, True, True]


def test_sentences_are_gold_where_they_are_the_evidence() -> None:
    assert is_right(record())
    both = [[gold(), gold(FARE, index=1)]]
    assert shows_gold(record(evidence=both))
    assert gold_shown(record(evidence=both)) == 0.5
    assert gold_shown(record(evidence=[*both, [gold()]])) == 1.0  # the better of two alternatives


def test_a_refusal_that_shows_the_gold_passage_as_nearest_is_counted_apart() -> None:
    measure = next(metric for metric in PASSAGES if metric.name == "nearest_gold")
    near = NearestPassage(document="ferry", start=0, text=PASSAGE)
    gone = refused(passages=[passage()], nearest=[near], evidence=[])
    assert list(measure.observe(gone)) == [1.0]
    assert not is_right(gone)
    assert list(measure.observe(refused(passages=[passage()], evidence=[]))) == [0.0]
    assert list(measure.observe(refused(nearest=[near], evidence=[], expected="abstained"))) == []


def test_the_search_is_measured_by_the_segments_that_hold_gold() -> None:
    measures = {metric.name: metric for metric in PASSAGES}
    found = [{**each, "gold": place == 1} for place, each in enumerate(retrieved("ferry", "bakery"))]
    for name, value in (("found_gold_at_1", 0.0), ("found_gold_at_3", 1.0), ("found_gold_at_10", 1.0)):
        assert list(measures[name].observe(asked(retrieved=found))) == [value]
        assert list(measures[name].observe(asked())) == []  # a record from before that was told


def test_the_measures_count_refused_and_failed_questions_and_leave_out_others() -> None:
    measures = {metric.name: metric for metric in PASSAGES}
    wrong = asked(passage("The door opens to the left."))
    gone = [refused(passages=[passage()], sources=[]), failed(passages=[passage()])]
    for name in ("right", "passage_gold_at_1", "passage_gold_at_3", "passage_recall"):
        assert [list(measures[name].observe(each)) for each in (asked(), wrong, *gone)] == [[1.0], [0.0], [0.0], [0.0]]
    assert [list(measures["passage_precision"].observe(each)) for each in (asked(), wrong, *gone)] == [[1], [0], [], []]
    for name in ("characters_shown", "passages_per_answer"):
        assert [len(measures[name].observe(each)) for each in (asked(), wrong, *gone)] == [1, 1, 0, 0]
    unknown = record(expected="abstained", evidence=[], answers=[])
    assert {metric.name for metric in PASSAGES if metric.observe(unknown)} == {
        "characters_shown",
        "passages_per_answer",
    }


def test_the_report_shows_the_passages_and_those_that_may_stand_for_them() -> None:
    markup = str(expected(asked(passage(), passage("Left.", "bakery", alternative=True))))
    assert markup.index("Gold passages") < markup.index(PASSAGE) < markup.index("alternatives") < markup.index("Left.")
    assert "Gold passages" not in str(expected(record()))


@pytest.fixture
def manuals(tmp_path: Path) -> DataSet:
    return load_data_set("manuals", write_manuals(tmp_path))


def test_every_manual_is_read_from_its_own_bytes(manuals: DataSet, tmp_path: Path) -> None:
    assert [document.name for document in manuals.documents][:2] == ["glaze/index.rst", "kiln/firing.html"]
    assert not [document.name for document in manuals.documents if document.name.endswith(".css")]
    firing = manuals.by_name["kiln/firing.html"]
    assert firing.data == (tmp_path / "kiln" / "firing.html").read_bytes()
    assert "<p>" not in firing.text
    assert KILN in firing.text


def test_questions_keep_their_history_groups_and_alternatives(manuals: DataSet) -> None:
    first, second, third = manuals.cases
    assert (first.expected, first.answers, first.tags) == ("answered", ("nine",), {"language": "en", "kind": "value"})
    assert [(each.document, each.alternative) for each in first.passages] == [
        ("kiln/firing.html", False),
        ("glaze/index.rst", True),
    ]
    assert (second.before, second.all_of) == (
        (first.question,),
        (("left",), ("door", "gate")),
    )
    assert (third.expected, third.passages) == ("abstained", ())


def test_a_pdf_is_a_manual_too(tmp_path: Path) -> None:
    folder = write_manuals(tmp_path)
    (folder / "kiln" / "parts.pdf").write_bytes(pdf([["The kiln has nine bricks."]]))
    assert "nine bricks" in load_data_set("manuals", folder).by_name["kiln/parts.pdf"].text


def test_a_markdown_file_is_a_manual_too(tmp_path: Path) -> None:
    folder = write_manuals(tmp_path)
    write(folder / "kiln" / "faq.md", "# Questions\n\n**May I open it?** Not before it is cold.\n")
    assert "May I open it? Not before" in load_data_set("manuals", folder).by_name["kiln/faq.md"].text


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"evidence": [{"file": "kiln/gone.html", "text": KILN}]}, r"line 1: evidence.file: .*kiln/gone.html"),
        ({"evidence": [{"file": "kiln/firing.html", "text": "Zebras graze."}]}, "line 1: evidence.text: .*Zebras"),
        ({"kind": ""}, "line 1: kind: "),
        ({"all_of": [[]]}, r"line 1: all_of\.0: "),
    ],
)
def test_a_question_that_its_manuals_do_not_bear_out_is_refused(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    folder = write_manuals(tmp_path)
    first = json.loads((folder / "questions.jsonl").read_text(encoding="utf-8").split("\n")[0])
    write_lines(folder / "questions.jsonl", [{**first, **changes}])
    with pytest.raises(InvalidRequest, match=message):
        load_data_set("manuals", folder)


def test_a_company_keeps_files_of_any_format_below_docs_beside_its_questions(tmp_path: Path) -> None:
    write(tmp_path / "README.md", "# About this set\n")
    write(tmp_path / "docs" / "tariff.csv", "Route,Fare\nAskvik,12 kroner\n")
    write(tmp_path / "docs" / "mail" / "thread.eml", "Subject: Boats\nFrom: a@example.org\n\nThe boat is repaired.\n")
    asked_of = {"id": "a", "question": "What is the fare to Askvik?", "lang": "en", "kind": "table", "answers": ["12"]}
    write_lines(
        tmp_path / "questions.jsonl", [{**asked_of, "evidence": [{"file": "tariff.csv", "text": "Askvik | 12 kroner"}]}]
    )
    data = load_data_set("company", tmp_path)
    assert [document.name for document in data.documents] == ["tariff.csv", "mail/thread.eml"]
    assert "The boat is repaired." in data.by_name["mail/thread.eml"].text
    assert (data.name, data.lasting, data.cases[0].tags["kind"]) == ("company", False, "table")


def test_a_folder_without_questions_or_documents_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "questions.jsonl", "")
    with pytest.raises(InvalidRequest, match="holds no question"):
        load_data_set("manuals", tmp_path)
    question = {"id": "a", "question": "b", "lang": "en", "kind": "value", "evidence": [], "answers": []}
    write_lines(tmp_path / "questions.jsonl", [question])
    with pytest.raises(InvalidRequest, match="holds no document"):
        load_data_set("manuals", tmp_path)


async def test_the_library_of_manuals_stays_and_is_not_stored_again(manuals: DataSet, settings: Settings) -> None:
    records: list[Record] = []
    async with open_citewell(settings) as citewell:
        await run_data_set(citewell, manuals, RunOptions(concurrency=1), records.append)
        kept = [each for each in await citewell.library.workspaces.list() if each.name.startswith("eval-manuals-")]
        assert [each.documents for each in kept] == [8]
        async with stored_data_set(citewell.library, manuals) as (stored, identity):
            again = citewell.library.ingestor.ingest_many(identity, stored.to_store(stored.ids))
            assert [getattr(report, "status", None) async for report in again] == ["unchanged"] * 8
            assert identity.workspace == kept[0].name
            listed = await citewell.library.documents.list(identity, limit=10)
    assert {document.title for document in listed.documents} > {"Firing", "Glaze"}  # the documents' own
    assert [each["case_id"] for each in records] == ["q1", "q2", "q3"]
    assert is_right(records[0])
    assert records[1]["before"] == [manuals.cases[0].question]
    assert records[1].get("all_of") == [["left"], ["door", "gate"]]
