"""A user's own data sets brought to one form, and what is refused of their files."""

from pathlib import Path
from typing import Any

import pytest

from evals.cases import Sentence
from evals.sets import load_data_set
from graph.errors import InvalidRequest
from tests.unit.made_data_sets import BRIDGE, write, write_lines


@pytest.mark.parametrize("name", ["manuals", "governed"])
def test_a_file_that_is_missing_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidRequest, match="cannot be read"):
        load_data_set(name, tmp_path / "gone.json")


@pytest.mark.parametrize("name", ["own", "governed"])
def test_a_folder_that_holds_nothing_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidRequest, match="holds no"):
        load_data_set(name, tmp_path)


def test_a_set_is_asked_for_by_a_name_and_a_path(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match=r"'squad'.* golden, governed, manuals, own"):
        load_data_set("squad", tmp_path)
    with pytest.raises(InvalidRequest, match="add --path"):
        load_data_set("manuals", None)
    with pytest.raises(InvalidRequest, match="golden takes no --path"):
        load_data_set("golden", tmp_path)


def test_a_set_without_a_question_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "questions.jsonl", "\n")
    with pytest.raises(InvalidRequest, match="no question"):
        load_data_set("own", tmp_path)


DOCUMENT = {"name": "town", "title": "Town", "text": BRIDGE}


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ({"id": "1"}, r"line 1: question: Field required"),
        ({"id": "1", "question": "q", "answer": "a"}, r"line 1: answer: Extra inputs"),
        ({"id": "1", "question": "q"}, r"line 1: evidence: "),
        (
            {"id": "1", "question": "q", "evidence": [[{"document": "city", "quote": BRIDGE}]]},
            r"line 1: document: .*'city'",
        ),
        (
            {"id": "1", "question": "q", "evidence": [[{"document": "town", "quote": "The Cedar Bridge"}]]},
            r"line 1: quote: 'The Cedar Bridge' .* town",
        ),
    ],
)
def test_ones_own_questions_are_refused_by_their_place(tmp_path: Path, question: dict[str, Any], message: str) -> None:
    write_lines(tmp_path / "documents.jsonl", [DOCUMENT])
    write_lines(tmp_path / "questions.jsonl", [question])
    with pytest.raises(InvalidRequest, match=rf"questions.jsonl, {message}"):
        load_data_set("own", tmp_path)


def test_a_quote_of_ones_own_may_be_several_sentences_in_a_row(tmp_path: Path) -> None:
    quote = "The Cedar Bridge was finished in 1911. It carries two lanes."
    question = {"id": "1", "question": "q", "evidence": [[{"document": "town", "quote": quote}]], "paired": True}
    write_lines(tmp_path / "documents.jsonl", [DOCUMENT])
    write_lines(tmp_path / "questions.jsonl", [question])
    (case,) = load_data_set("own", tmp_path).cases
    assert case.evidence == (frozenset({Sentence("town", 1), Sentence("town", 2)}),)
    assert case.removal == ("town",)


@pytest.mark.parametrize("quote", ["Adults | 12 |", "| Adults | 12 | |", "|Adults|12||"])
def test_a_table_row_is_quoted_with_bars_around_it_or_without(tmp_path: Path, quote: str) -> None:
    write(tmp_path / "library" / "fees.md", "| Who | Fee | Note |\n|---|---|---|\n| Adults | 12 | |\n")
    write_lines(
        tmp_path / "questions.jsonl",
        [{"id": "1", "question": "q", "evidence": [[{"document": "fees", "quote": quote}]]}],
    )
    (case,) = load_data_set("own", tmp_path).cases
    assert case.evidence == (frozenset({Sentence("fees", 1)}),)
