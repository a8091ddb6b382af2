"""The demo shows what it promises, and everything it quotes stands where it says."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.e2e.conftest import Home

KEYS = ["question", "outcome", "needs_retrieval", "answer", "sections", "citations"]


@pytest.fixture(scope="module")
def questions(home: Home) -> list[dict[str, Any]]:
    done = home.citewell("demo", "--json")
    assert done.code == 0, done.err
    assert list(done.json) == ["questions"]
    return list(done.json["questions"])


def test_it_asks_at_least_five_questions_with_stable_keys(questions: list[dict[str, Any]]) -> None:
    assert len(questions) >= 5
    assert all(list(question) == KEYS for question in questions)


def test_every_quote_stands_in_its_document_at_its_offsets(home: Home, questions: list[dict[str, Any]]) -> None:
    texts: dict[str, str] = {}
    cited = [citation for question in questions for citation in question["citations"]]
    assert cited
    for citation in cited:
        document_id = citation["document_id"]
        if document_id not in texts:
            raw = home.citewell("documents", "raw", document_id, "--workspace", "demo", "--json").json
            texts[document_id] = "".join(segment["text"] for segment in raw["segments"])
        assert texts[document_id][citation["start"] : citation["end"]] == citation["quote"]


def test_one_answer_comes_from_two_documents(questions: list[dict[str, Any]]) -> None:
    first = questions[0]
    assert first["outcome"] == "answered"
    assert len({citation["document_id"] for citation in first["citations"]}) >= 2
    assert "140 euros" in first["answer"]
    assert "25th" in first["answer"]


def test_a_follow_up_is_understood_from_the_question_before_it(questions: list[dict[str, Any]]) -> None:
    assert questions[1]["outcome"] == "answered"
    assert "195 euros" in questions[1]["answer"]


def test_small_talk_needs_no_library(questions: list[dict[str, Any]]) -> None:
    thanks = questions[2]
    assert (thanks["outcome"], thanks["needs_retrieval"]) == ("answered", False)
    assert thanks["citations"] == []


def test_vietnamese_and_chinese_are_answered_from_their_own_documents(questions: list[dict[str, Any]]) -> None:
    vietnamese, chinese = questions[3], questions[4]
    assert quoted(vietnamese, "31 tháng 3")
    assert quoted(chinese, "7 天之内")


def test_the_manual_is_answered_from(questions: list[dict[str, Any]]) -> None:
    assert quoted(questions[5], "emitted only where")


def test_a_workbook_is_answered_from_and_cited_to_its_cell(questions: list[dict[str, Any]]) -> None:
    assert quoted(questions[6], "Standing desk | 680")
    assert [(each["sheet"], each["cell"]) for each in questions[6]["citations"]] == [("Equipment", "A4")]


def test_documents_that_contradict_each_other_are_both_quoted(questions: list[dict[str, Any]]) -> None:
    disputed = questions[7]
    assert quoted(disputed, "42 euros for a full day")
    assert quoted(disputed, "36 euros for a full day")
    told = [each for each in disputed["sections"] if "passage" not in each]
    assert len(told) == 1
    assert "disagree" in told[0]["text"]


def test_what_the_library_does_not_hold_is_refused_with_what_came_nearest(
    home: Home, questions: list[dict[str, Any]]
) -> None:
    refused = questions[-1]
    assert refused["outcome"] == "abstained"
    assert refused["needs_retrieval"] is True
    assert refused["citations"] == []
    listed = home.citewell("documents", "list", "--workspace", "demo", "--json").json["documents"]
    assert any(document["title"] in refused["answer"] for document in listed)


def test_it_may_be_run_again_and_shows_every_question_to_people(home: Home, questions: list[dict[str, Any]]) -> None:
    done = home.citewell("demo")
    assert done.code == 0, done.err
    assert "; 0 new." in " ".join(done.out.split())
    for question in questions:
        assert question["question"] in done.out
    assert "characters" in done.out
    assert "What next" in done.out
    assert all(line == line.rstrip() for line in done.out.splitlines())
    assert "\x1b" not in done.out


def quoted(question: Mapping[str, Any], words: str) -> bool:
    return question["outcome"] == "answered" and any(words in c["quote"] for c in question["citations"])
