"""CLAPnq's figures, counted by hand on a small folder through the real graph and a real database."""

import json
from pathlib import Path
from typing import Any

import pytest

from evals.clapnq import run_clapnq
from evals.datasets.clapnq import load_clapnq
from evals.gold_sentences import Match, best_match, sentence_spans, sentences_in
from graph.entrypoint import open_citewell
from graph.errors import InvalidRequest
from tools.settings import Settings

BRIDGE = (
    "The Cedar Bridge was finished in 1911 .",
    "It took the builders of the Cedar Bridge four years .",
    "A bakery in the town sells `` rye '' bread .",
)
BAKERY = ("The bakery in Mill Lane opens at six .", "Its oven is as old as the town .")


def row(question: str, title: str, sentences: tuple[str, ...], *selected: tuple[int, ...]) -> dict[str, Any]:
    outputs = [{"answer": "", "selected_sentences": [sentences[i] for i in each]} for each in selected]
    passage = {"title": title, "text": f"{' '.join(sentences)} ", "sentences": list(sentences)}
    return {"input": question, "passages": [passage], "output": outputs}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    answerable = [
        row("when was the cedar bridge finished", "Cedar Bridge", BRIDGE, (0,), (0, 1)),
        row("when does the bakery in mill lane open", "Bakery", BAKERY, ()),
    ]
    unanswerable = [row("who won the chess championship of 1972", "Bakery", BAKERY, ())]
    for name, rows in (("answerable", answerable), ("unanswerable", unanswerable)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(each) + "\n" for each in rows))
    return tmp_path


async def test_every_figure_is_counted(folder: Path, settings: Settings) -> None:
    told: list[tuple[int, int]] = []
    async with open_citewell(settings) as citewell:
        report = await run_clapnq(citewell, folder, progress=lambda done, of: told.append((done, of)))
        searched = await run_clapnq(citewell, folder, open_library=True)
        left = [workspace.name for workspace in await citewell.library.workspaces.list()]
    assert (report["questions"], report["evidence_questions"]) == (3, 1)
    assert (report["mode"], searched["mode"]) == ("page", "open")
    assert (report["false_refusals"], report["wrong_answers"]) == (0.0, 0.0)
    assert report["abstention_balanced_accuracy"] == searched["abstention_balanced_accuracy"] == 1.0
    assert report["evidence_f1"] == report["evidence_f1_refusals_as_0"] >= 0.8
    assert report["evidence_precision"] >= 2 / 3
    assert report["all_sentences_f1"] == 0.8
    assert 1 <= report["quotes_mean"] <= 3
    assert report["refuse_below"] == settings.refuse_below
    assert told == [(1, 3), (2, 3), (3, 3)]
    assert left == ["default"]


async def test_refusals_count_against_evidence_only_where_it_says_so(folder: Path, settings: Settings) -> None:
    async with open_citewell(settings.model_copy(update={"refuse_below": 1.0})) as citewell:
        report = await run_clapnq(citewell, folder)
    assert (report["false_refusals"], report["wrong_answers"]) == (1.0, 0.0)
    assert (report["evidence_questions"], report["evidence_f1_refusals_as_0"]) == (0, 0.0)
    assert report["abstention_balanced_accuracy"] == 0.5


def test_quotes_are_matched_to_the_sentences_that_they_share_most_of() -> None:
    text = " ".join(BRIDGE)
    spans = sentence_spans(text, BRIDGE)
    assert [text[start:end] for start, end in spans] == list(BRIDGE)
    assert sentences_in(*spans[1], spans) == {1}
    assert sentences_in(spans[0][0], spans[1][1], spans) == {0, 1}
    assert sentences_in(spans[1][0] + 2, spans[2][0] + 3, spans) == {1}
    with pytest.raises(ValueError, match="substring"):
        sentence_spans(text, BAKERY)


def test_the_best_reference_counts() -> None:
    assert best_match(frozenset({0, 1}), [frozenset({2}), frozenset({0})]) == Match(0.5, 1.0, 2 / 3)
    assert best_match(frozenset(), [frozenset({0})]) == best_match(frozenset({1}), []) == Match(0.0, 0.0, 0.0)


def test_references_are_read_as_indices(folder: Path) -> None:
    first, second, third = load_clapnq(folder)
    assert first.references == (frozenset({0}), frozenset({0, 1}))
    assert second.references == third.references == ()
    assert [each.answerable for each in (first, second, third)] == [True, True, False]


@pytest.mark.parametrize("content", ["{}", "[]", '{"input": "q", "passages": []}', "not json"])
def test_a_folder_of_another_shape_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "answerable.jsonl").write_text(content)
    with pytest.raises(InvalidRequest, match="no CLAPnq file"):
        load_clapnq(tmp_path)


def test_a_folder_that_is_missing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match="cannot be read"):
        load_clapnq(tmp_path / "gone")
