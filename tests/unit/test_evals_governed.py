"""Governed documents: what is read, when a trap is shown without what governs it, and what a run of them records."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from evals.cases import DataSet
from evals.dataset_store import stored_data_set
from evals.error_analysis import errors_of, is_right
from evals.evaluation import all_figures, run_data_set
from evals.gold_passages import Trap
from evals.metrics.governed_metrics import GOVERNED, is_answered_past_trap, is_twin_answered, misleading_passages
from evals.records import GoldPassage, GoldTrap, Record
from evals.report.report_failures import failures
from evals.run_folder import RunOptions
from evals.sets import load_data_set
from evals.sets.governed import governed_set
from graph.entrypoint import open_citewell
from graph.errors import InvalidRequest
from graph.evidence import CitationContext
from tests.evals_records import citation, claim, record, refused
from tests.unit.made_data_sets import write, write_lines
from tools.settings import Settings

LEAD = "The plan does not pay for:"
TRAP = "- a broken kite on the beach"
HOLDS = "Kites are paid for by the club instead."

KITE: dict[str, Any] = {
    "id": "k-1a", "pair": "k-1", "lang": "en", "kind": "lead_in_denies", "form": "md", "title": "Kite plan",
    "document": f"# Kite plan\n\n{LEAD}\n\n{TRAP}\n- a wet tent\n\nCall the office within a week.\n",
    "question": "Does the plan pay for a broken kite?", "governed": True,
    "trap": "a broken kite on the beach", "governs": LEAD, "answers": [],
}  # fmt: skip
TWIN: dict[str, Any] = {
    "id": "k-1b", "pair": "k-1", "lang": "en", "kind": "lead_in_denies", "form": "txt", "title": "Sail plan",
    "document": "The plan pays for a torn sail up to 90 crowns. Call the office within a week.\n",
    "question": "Up to how much does the plan pay for a torn sail?", "governed": False,
    "evidence": "The plan pays for a torn sail up to 90 crowns.", "answers": ["90 crowns"],
}  # fmt: skip


def told(text: str, start: int = 0) -> CitationContext:
    return CitationContext(role="lead", start=start, end=start + len(text), text=text)


def trapped(*citations: Any, governs: str = LEAD, **changes: Any) -> Record:
    """A question about a governed document, answered with its trap as the quote unless told otherwise."""
    plain: dict[str, Any] = {
        "expected": "either",
        "evidence": [],
        "answers": [],
        "trap": GoldTrap(text=TRAP, governs=governs),
        "tags": {"language": "en", "kind": "lead_in_denies", "side": "governed"},
        "answer": TRAP,
        "claims": [claim(TRAP, *(citations or (citation(TRAP, start=40),)))],
    }
    return record(**{**plain, **changes})


def test_a_trap_shown_without_what_governs_it_misleads() -> None:
    assert misleading_passages(trapped())
    assert misleading_passages(trapped(citation(f"{TRAP}\n- a wet tent", start=40)))
    assert misleading_passages(trapped(citation("a broken kite on the", start=42)))
    assert misleading_passages(trapped(citation(TRAP, start=40, context=[told("Kite plan")])))


@pytest.mark.parametrize(
    "citations",
    [
        [citation(TRAP, start=40, context=[told(LEAD)])],
        [citation(f"{LEAD}\n\n{TRAP}")],
        [citation(TRAP, start=40), citation(LEAD)],
        [citation(TRAP, start=40, context=[told("The plan"), told("does not pay for:", 9)])],
        [citation(TRAP, start=40, heading_path=["Kite plan", LEAD])],
        [citation("a kite", start=40)],
        [citation(HOLDS)],
    ],
    ids=[
        "in its context",
        "in the quote",
        "in another quote",
        "in two slices",
        "in its headings",
        "little of the trap",
        "no trap",
    ],
)
def test_a_trap_quoted_with_what_governs_it_or_not_at_all_is_not(citations: list[Any]) -> None:
    assert not misleading_passages(trapped(*citations))


def test_only_the_context_of_the_traps_own_quote_tells_what_governs_it() -> None:
    elsewhere = citation("- a wet tent", start=60, context=[told(LEAD)])
    assert misleading_passages(trapped(citation(TRAP, start=40), elsewhere))


def test_a_trap_that_is_not_shown_misleads_nobody() -> None:
    assert misleading_passages(trapped(claims=[claim(TRAP, citation(TRAP), verdict="unverified")]))
    assert not misleading_passages(trapped(outcome="abstained"))
    assert not misleading_passages(record())


def test_no_quote_of_what_was_struck_out_or_hidden_is_right() -> None:
    assert misleading_passages(trapped(governs=""))
    other = "- a broken kite on the pier"  # what replaces a trap often differs from it in a word
    assert not misleading_passages(trapped(citation(other), governs=""))


def test_what_holds_instead_is_right_where_the_trap_is_not_quoted() -> None:
    instead = {"expected": "answered", "answers": ["by the club"], "answer": HOLDS}
    assert is_answered_past_trap(trapped(citation(HOLDS), **instead))
    assert not is_answered_past_trap(trapped(citation(HOLDS), citation(TRAP), **instead))
    assert not is_answered_past_trap(trapped(citation(HOLDS), **{**instead, "answer": "It does."}))


def twin(**changes: Any) -> Record:
    quoted = TWIN["evidence"]
    plain: dict[str, Any] = {
        "evidence": [],
        "passages": [GoldPassage(document="ferry", text=quoted, alternative=False)],
        "answers": TWIN["answers"],
        "tags": {"language": "en", "kind": "lead_in_denies", "side": "twin"},
        "answer": quoted,
        "claims": [claim(quoted, citation(quoted))],
    }
    return record(**{**plain, **changes})


def test_a_twin_is_answered_by_a_quote_or_in_words() -> None:
    assert is_twin_answered(twin())
    assert is_twin_answered(twin(answer="It does."))
    assert is_twin_answered(twin(answer="Up to 90 crowns.", claims=[claim("Up to 90 crowns.", citation("Call."))]))
    assert not is_twin_answered(twin(answer="It does.", claims=[claim("It does.", citation("Call the office."))]))
    assert not is_twin_answered(refused(answers=TWIN["answers"]))


def test_each_measure_is_of_its_own_side() -> None:
    measures = {metric.name: metric for metric in GOVERNED}
    with_answer = trapped(citation(HOLDS), answers=["by the club"], answer=HOLDS)
    observed = {name: [list(metric.observe(each)) for each in (trapped(), with_answer, twin(), record())]
                for name, metric in measures.items()}  # fmt: skip
    assert observed == {
        "shown_without_what_governs": [[1.0], [0.0], [], []],
        "answered_past_trap": [[], [1.0], [], []],
        "twin_answered": [[], [], [1.0], []],
    }


def test_a_refusal_and_an_answer_are_both_right_where_either_is_expected() -> None:
    quoted = trapped(citation(TRAP, context=[told(LEAD)]))
    gone = trapped(outcome="abstained", claims=[], answer="I found no answer.")
    assert is_right(quoted)
    assert is_right(gone)
    figures = all_figures([quoted, gone, twin(case_id="q2")])["all"]
    assert figures["abstention_accuracy"]["n"] == 1
    assert "abstention_balanced_accuracy" not in figures


def test_the_report_shows_the_trap_and_what_the_quote_hung_on() -> None:
    wrong = trapped(citation(TRAP, context=[told("Kite plan")]))
    assert [each.kind for each in errors_of(wrong)] == ["trap_shown"]
    assert not is_right(wrong)
    markup = str(failures([wrong, twin()]))
    assert markup.count("data-card") == 1
    for shown in ("lead: Kite plan", "The trap", "What governs it", LEAD, "lead_in_denies", "without what governs it"):
        assert shown in markup
    assert "struck out or hidden" in str(failures([trapped(governs="")]))


def write_governed(folder: Path) -> Path:
    write_lines(folder / "first.jsonl", [KITE])
    write_lines(folder / "second.jsonl", [TWIN])
    return folder


def test_each_document_is_alone_in_the_space_of_its_question(tmp_path: Path) -> None:
    data = load_data_set("governed", write_governed(tmp_path))
    governed, other = data.cases
    assert [document.space for document in data.documents] == ["k-1a", "k-1b"]
    assert (governed.spaces, other.spaces) == (("k-1a",), ("k-1b",))
    assert (governed.expected, governed.trap, governed.passages) == ("either", Trap(KITE["trap"], LEAD), ())
    assert (other.expected, other.trap, other.passages[0].text) == ("answered", None, TWIN["evidence"])
    assert governed.tags == {"language": "en", "kind": "lead_in_denies", "set": "first", "side": "governed"}
    assert load_data_set("governed", tmp_path / "second.jsonl").cases == (other,)
    assert data.by_name["k-1a"].text.startswith("Kite plan")  # read as a file of its form


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"trap": ""}, "line 1: governed: .* trap"),
        ({"governed": False}, "line 1: governed: "),
        ({"governs": "Zebras graze."}, "line 1: governs: .*'Zebras graze.'"),
        ({"form": "pdf"}, "line 1: form: "),
        ({"document": " "}, "line 1: document: The file is empty"),
    ],
)
def test_a_document_that_does_not_fit_its_annotation_is_refused(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    write_lines(tmp_path / "first.jsonl", [{**KITE, **changes}])
    with pytest.raises(InvalidRequest, match=message):
        governed_set(tmp_path)
    with pytest.raises(InvalidRequest, match="holds no question"):
        governed_set(write(tmp_path / "none.jsonl", "\n"))


async def test_a_question_is_asked_of_its_own_document_alone(tmp_path: Path, settings: Settings) -> None:
    like_it = {**TWIN, "id": "k-2b", "pair": "k-2", "document": TWIN["document"].replace("90", "70")}
    folder = write_governed(tmp_path)
    write_lines(folder / "second.jsonl", [TWIN, {**like_it, "evidence": TWIN["evidence"].replace("90", "70")}])
    data = governed_set(folder)
    records: list[Record] = []
    async with open_citewell(settings) as citewell:
        await run_data_set(citewell, data, RunOptions(concurrency=1), records.append)
        async with stored_data_set(citewell.library, data) as (_, identity):
            assert len((await citewell.library.documents.list(identity, limit=10)).documents) == 3
    asked = {each["case_id"]: each for each in records}
    for name, each in asked.items():
        assert {found["document"] for found in each["retrieved"]} == {name}
        assert {source["document"] for source in each["sources"]} <= {name}
    assert is_twin_answered(asked["k-1b"])
    assert asked["k-1a"].get("trap") == GoldTrap(text=KITE["trap"], governs=LEAD)
    assert asked["k-1a"]["expected"] == "either"
    assert not misleading_passages(asked["k-1a"])  # the item was shown with its lead-in


@pytest.fixture(scope="module")
def our_own() -> DataSet:
    return load_data_set("governed", None)


def test_our_own_pairs_are_of_three_languages_and_two_authors(our_own: DataSet) -> None:
    by_language = Counter((case.tags["set"], case.tags["language"], case.tags["side"]) for case in our_own.cases)
    for language in ("en", "vi", "zh"):
        for part in ("first", "second"):
            assert by_language[part, language, "governed"] == by_language[part, language, "twin"] >= 6
    assert Counter(case.tags["side"] for case in our_own.cases) == {"governed": 86, "twin": 86}


def test_every_kind_of_government_is_asked_with_its_twins(our_own: DataSet) -> None:
    kinds = Counter((case.tags["kind"], case.tags["side"]) for case in our_own.cases)
    assert len({kind for kind, _ in kinds}) == 14
    assert min(kinds.values()) >= 5
    for case in our_own.cases:
        if case.trap is not None:
            assert bool(case.trap.governs) == (case.tags["kind"] not in {"struck_out", "hidden"}), case.case_id
            assert not any(answer in case.trap.text for answer in case.answers), case.case_id
        else:
            assert case.answers, case.case_id
