"""Public data sets brought to one form, and what is refused of their files."""

import json
from pathlib import Path
from typing import Any

import pytest

from evals.cases import DataSet, Sentence
from evals.sets import LOADERS, load_data_set
from graph.errors import InvalidRequest
from research.sets import PARTS, PUBLIC, register, union_set
from tests.unit.made_data_sets import (
    BAKERY,
    BRIDGE_VI,
    HOPS,
    write,
    write_all,
    write_clapnq,
    write_financebench,
    write_hotpotqa,
    write_lines,
    write_rgb,
    write_wice,
    write_xquad,
)


def evidence_texts(data: DataSet, number: int) -> list[set[str]]:
    """Give the text of each alternative set of evidence of a case."""
    return [
        {data.by_name[sentence.document].sentence_text(sentence) for sentence in chosen}
        for chosen in data.cases[number].evidence
    ]


def test_xquad_is_a_library_of_paragraphs_in_every_language(tmp_path: Path) -> None:
    data = PUBLIC["xquad"](write_xquad(tmp_path))
    assert [(document.name, document.title) for document in data.documents] == [
        ("en/0001", "Paragraph 1"),
        ("en/0002", "Paragraph 2"),
        ("vi/0001", "Paragraph 1"),
    ]
    assert [case.case_id for case in data.cases] == ["en/0001", "en/0002", "vi/0001"]
    assert [case.tags["language"] for case in data.cases] == ["en", "en", "vi"]
    assert data.cases[0].answers == ("1911",)
    assert evidence_texts(data, 0) == [{"The Cedar Bridge was finished in 1911."}]
    assert evidence_texts(data, 1) == [{"The bakery in Mill Lane opens at six.", "It sells rye bread on Fridays."}]
    assert data.documents[2].text == BRIDGE_VI
    assert evidence_texts(data, 2) == [{"Cầu Tuyết Tùng hoàn thành năm 1911."}]
    assert [case.removal for case in data.cases] == [("en/0001", "vi/0001"), ("en/0002",), ("en/0001", "vi/0001")]


def test_one_language_of_xquad_is_a_set_of_its_own(tmp_path: Path) -> None:
    data = PUBLIC["xquad"](write_xquad(tmp_path) / "vi.json")
    assert data.name == "xquad-vi"
    assert [case.removal for case in data.cases] == [("vi/0001",)]


def test_clapnq_is_asked_of_its_own_passage_in_its_own_sentences(tmp_path: Path) -> None:
    data = PUBLIC["clapnq"](write_clapnq(tmp_path))
    answerable, unanswerable = data.cases
    assert [document.title for document in data.documents] == ["Cedar Bridge", "Bakery"]
    assert evidence_texts(data, 0) == [
        {"The Cedar Bridge was finished in 1911 ."},
        {"The Cedar Bridge was finished in 1911 .", "It took `` four '' years ."},
    ]
    assert (answerable.pages, answerable.only_selected_pages, answerable.removal) == (("0001",), True, ())
    assert (answerable.expected, unanswerable.expected) == ("answered", "abstained")
    assert (unanswerable.pages, unanswerable.evidence) == (("0002",), ())
    assert answerable.answers == ()


def test_clapnq_open_searches_all_passages(tmp_path: Path) -> None:
    data = PUBLIC["clapnq-open"](write_clapnq(tmp_path))
    assert [(case.pages, case.only_selected_pages) for case in data.cases] == [((), False), ((), False)]
    assert [case.removal for case in data.cases] == [("0001",), ()]


def test_wice_is_asked_of_the_page_it_cites_line_by_line(tmp_path: Path) -> None:
    data = PUBLIC["wice"](write_wice(tmp_path))
    supported, other = data.cases
    assert [document.title for document in data.documents] == ["Town guide", "Bridges"]
    assert evidence_texts(data, 0) == [
        {"The bridge is old. So is the mill.", "It has two lanes."},
        {"(meta data) TITLE: Town guide"},
    ]
    assert (supported.question, supported.expected, supported.pages) == (
        "The bridge has two lanes.",
        "answered",
        ("0001",),
    )
    assert (other.expected, other.evidence, other.tags["kind"]) == ("abstained", (), "not_supported")


def test_rgb_is_asked_over_true_passages_and_noise(tmp_path: Path) -> None:
    data = PUBLIC["rgb"](write_rgb(tmp_path))
    english, chinese = data.cases
    assert [document.name for document in data.documents] == ["en/0001", "en/0002", "en/0003", "zh/0001"]
    assert BAKERY in [document.text for document in data.documents]
    assert english.answers == ("1911", "MCMXI")
    assert evidence_texts(data, 0) == [
        {"The Cedar Bridge was finished in 1911."},
        {"A plaque on it says mcmxi."},
        {"It was finished in 1911."},
    ]
    assert english.accepted == frozenset().union(*english.evidence)
    assert english.removal == ("en/0001", "en/0002")
    assert (chinese.answers, evidence_texts(data, 1)) == ((), [{"雪松桥连接米尔顿和格尔岛。"}])


def test_hotpotqa_needs_sentences_of_two_paragraphs(tmp_path: Path) -> None:
    data = PUBLIC["hotpotqa"](write_hotpotqa(tmp_path))
    assert [(document.name, document.title) for document in data.documents] == [
        ("Cedar Bridge", "Cedar Bridge"),
        ("Mill Lane", "Mill Lane"),
    ]
    assert evidence_texts(data, 0) == [{"It was finished in 1911.", "Its town is Milton."}]
    assert data.cases[0].gold_documents == (frozenset({"Cedar Bridge", "Mill Lane"}),)
    assert [case.answers for case in data.cases] == [("1911",), ()]
    assert [case.tags["kind"] for case in data.cases] == ["bridge", "comparison"]


def test_financebench_has_its_evidence_on_pages(tmp_path: Path) -> None:
    data = PUBLIC["financebench"](write_financebench(tmp_path))
    assert [(document.name, document.title) for document in data.documents] == [
        ("ACME_2021_10K/4", "ACME 2021 10K, page 4"),
        ("ACME_2021_10K/9", "ACME 2021 10K, page 9"),
    ]
    assert evidence_texts(data, 0) == [{"Cash was $12 million.", "Debt was $30 million.", "Sales grew."}]
    (case,) = data.cases
    assert (case.case_id, case.answers, case.removal) == ("financebench_id_1", ("$12 million",), ())


def test_the_union_holds_every_set_under_its_name(tmp_path: Path) -> None:
    union = union_set(write_all(tmp_path))
    parts = [load(tmp_path / name) for name, load in PARTS.items()]
    assert len(union.documents) == sum(len(part.documents) for part in parts)
    assert [case.case_id for case in union.cases] == [
        f"{name}/{case.case_id}" for name, part in zip(PARTS, parts, strict=True) for case in part.cases
    ]
    assert "xquad/vi/0001" in union.by_name
    assert {case.tags["set"] for case in union.cases} == {
        "clapnq-en",
        "financebench-en",
        "hotpotqa-en",
        "rgb-en",
        "rgb-zh",
        "wice-en",
        "xquad-en",
        "xquad-vi",
    }
    assert not any(case.pages or case.only_selected_pages or case.removal for case in union.cases)
    first = next(case for case in union.cases if case.case_id == "xquad/en/0001")
    assert first.evidence == (frozenset({Sentence("xquad/en/0001", 1)}),)


def test_the_union_is_of_the_sets_that_are_there(tmp_path: Path) -> None:
    write_xquad(tmp_path / "xquad")
    assert {case.tags["set"] for case in union_set(tmp_path).cases} == {"xquad-en", "xquad-vi"}


def changed(**fields: Any) -> list[dict[str, Any]]:
    return [HOPS, {**HOPS, **fields}]


@pytest.mark.parametrize(
    ("name", "file", "content", "message"),
    [
        ("xquad", "en.json", '{"data": [{}]}', "en.json .* XQuAD"),
        ("xquad", "en.json", '{"data": 3}', "en.json .* XQuAD"),
        ("xquad", "en.json", "[]", "en.json .* XQuAD"),
        ("xquad", "en.json", "", "en.json .* XQuAD"),
        ("clapnq", "answerable.jsonl", '{"input": "q", "passages": []}', "answerable.jsonl .* CLAPnq"),
        ("clapnq", "answerable.jsonl", "not json", "answerable.jsonl .* CLAPnq"),
        ("wice", "claims.jsonl", '{"label": "true"}', "claims.jsonl .* WiCE"),
        ("rgb", "en_fact.jsonl", '{"query": 3}', "en_fact.jsonl, line 1: the field 'query'"),
        (
            "rgb",
            "en_fact.jsonl",
            '{"query": "q", "answer": [3], "positive": [], "positive_wrong": [], "negative": []}',
            "line 1: the field 'answer'",
        ),
        ("hotpotqa", "distractor.json", "{}", "distractor.json .*JSON array"),
        ("hotpotqa", "distractor.json", "[", "distractor.json is not JSON"),
        ("hotpotqa", "distractor.json", json.dumps(changed(question=3)), "distractor.json, entry 2: question: "),
        (
            "hotpotqa",
            "distractor.json",
            json.dumps(changed(supporting_facts={"title": ["Mill Lane"], "sent_id": [2]})),
            "entry 2: supporting_facts: there is no sentence 2 of 'Mill Lane'",
        ),
        (
            "hotpotqa",
            "distractor.json",
            json.dumps(changed(context={"title": ["Mill Lane"], "sentences": [["Another."]]})),
            "entry 2: context: the text of 'Mill Lane' differs from an earlier one",
        ),
        (
            "hotpotqa",
            "distractor.json",
            json.dumps(changed(context={"title": ["Mill Lane"], "sentences": []})),
            "entry 2: context: title and sentences differ in length",
        ),
        ("financebench", "questions.jsonl", '\n{"question": "q"}', "questions.jsonl, line 2: financebench_id: "),
        ("financebench", "questions.jsonl", "not json", "questions.jsonl, line 1: the line: "),
    ],
)
def test_a_file_of_another_shape_is_refused_by_its_place(
    tmp_path: Path, name: str, file: str, content: str, message: str
) -> None:
    write(tmp_path / file, content)
    with pytest.raises(InvalidRequest, match=message):
        PUBLIC[name](tmp_path)


def test_evidence_that_is_not_where_it_should_be_is_refused(tmp_path: Path) -> None:
    claim = {"claim": "It is old.", "label": "supported", "evidence": ["It is old."], "supporting_sentences": [[1]]}
    write_lines(tmp_path / "claims.jsonl", [claim])
    with pytest.raises(InvalidRequest, match=r"claims.jsonl, line 1: supporting_sentences"):
        PUBLIC["wice"](tmp_path)
    file = write_financebench(tmp_path) / "questions.jsonl"
    write(file, file.read_text().replace("Sales grew.", "Sales fell.", 1))
    with pytest.raises(InvalidRequest, match=r"questions.jsonl, line 1: evidence_text: "):
        PUBLIC["financebench"](tmp_path)


@pytest.mark.parametrize("name", sorted(set(PUBLIC) - {"union"}))
def test_a_file_that_is_missing_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidRequest, match="cannot be read"):
        PUBLIC[name](tmp_path / "gone.json")


@pytest.mark.parametrize("name", ["xquad", "rgb", "union"])
def test_a_folder_that_holds_nothing_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidRequest, match="holds no"):
        PUBLIC[name](tmp_path)


def test_public_sets_are_known_by_name_once_they_are_registered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("research.sets.LOADERS", loaders := dict(LOADERS))
    monkeypatch.setattr("evals.sets.LOADERS", loaders)
    with pytest.raises(InvalidRequest, match="no data set 'xquad'"):
        load_data_set("xquad", tmp_path)
    register()
    assert load_data_set("xquad", write_xquad(tmp_path)).documents
