"""The golden set is sound in itself: its quotes stand in its documents, it asks every kind, its replies err by half."""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from evals.cases import Case, DataSet, Document
from evals.sets.golden import FOLDER, load_golden
from tools.embeddings.embedder import count_tokens
from tools.parsers import parse
from tools.retrieval.segmenting import SegmentSize, segment

LANGUAGES = {"en", "vi", "zh"}
FILES = [*sorted(LANGUAGES), "manual"]
KINDS = {"answerable", "multi_document", "follow_up", "unanswerable", "adversarial", "selected_pages"}
FAULTS = {"wrong_number", "invented", "wrong_id", "unknown_id"}

Row = Mapping[str, Any]


def read(file: Path) -> list[Row]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def golden() -> DataSet:
    return load_golden()


@pytest.fixture(scope="module")
def questions() -> dict[str, list[Row]]:
    return {name: read(FOLDER / f"questions.{name}.jsonl") for name in FILES}


@pytest.fixture(scope="module")
def replies() -> dict[str, list[Row]]:
    return {name: read(FOLDER / f"replies.{name}.jsonl") for name in FILES}


@pytest.fixture(scope="module")
def whole_sentences(golden: DataSet) -> dict[str, set[str]]:
    return {document.name: {document.text[start:end] for start, end in document.spans} for document in golden.documents}


def test_each_question_has_an_id_of_its_own(questions: dict[str, list[Row]], golden: DataSet) -> None:
    ids = [row["id"] for rows in questions.values() for row in rows]
    assert sorted(ids) == sorted(case.case_id for case in golden.cases)
    assert len(set(ids)) == len(ids)
    assert all(row["id"].startswith(f"{name}-") for name, rows in questions.items() for row in rows)


def test_every_kind_is_asked_in_every_language(golden: DataSet) -> None:
    asked = Counter((case.tags["language"], case.tags["kind"]) for case in golden.cases)
    assert set(asked) == {(language, kind) for language in LANGUAGES for kind in KINDS}
    assert asked.total() >= 150


def test_follow_ups_lean_on_a_question_before_and_some_leave_its_subject(golden: DataSet) -> None:
    follow_ups = [case for case in golden.cases if case.tags["kind"] == "follow_up"]
    assert len(follow_ups) >= 20
    assert all(case.before for case in follow_ups)
    changes = [case for case in follow_ups if case.tags.get("topic") == "changed"]
    assert {case.tags["language"] for case in changes} == LANGUAGES
    assert [case for case in golden.cases if case.before or "topic" in case.tags] == follow_ups


def test_questions_on_selected_pages_name_them(golden: DataSet) -> None:
    selected = [case for case in golden.cases if case.pages]
    assert [case for case in golden.cases if case.tags["kind"] == "selected_pages"] == selected
    alone = [case for case in selected if case.only_selected_pages]
    assert {case.expected for case in alone} == {"answered", "abstained"}
    assert all(set(case.pages) >= documents for case in alone for documents in case.gold_documents)


def test_what_is_expected_agrees_with_the_evidence(golden: DataSet) -> None:
    for case in golden.cases:
        assert (case.expected == "answered") == bool(case.evidence), case.case_id
        assert all(case.evidence), case.case_id
        assert not case.accepted or case.evidence, case.case_id
        assert not case.answers or case.evidence, case.case_id
    assert {case.expected for case in golden.cases if case.tags["kind"] == "unanswerable"} == {"abstained"}


def test_evidence_over_several_documents_needs_more_than_one(golden: DataSet) -> None:
    for case in golden.cases:
        if case.tags["kind"] == "multi_document":
            assert all(len(documents) > 1 for documents in case.gold_documents), case.case_id


def test_each_quote_is_one_whole_sentence_of_its_document(
    questions: dict[str, list[Row]], replies: dict[str, list[Row]], whole_sentences: dict[str, set[str]]
) -> None:
    quoted = [
        (row["id"], quote)
        for rows in questions.values()
        for row in rows
        for quote in [*row.get("accepted", []), *(quote for chosen in row.get("evidence", []) for quote in chosen)]
    ]
    cited = [
        (row["id"], cite)
        for rows in replies.values()
        for row in rows
        for section in row["sections"]
        for cite in section["cites"]
        if "id" not in cite
    ]
    assert quoted
    assert cited
    for case_id, quote in [*quoted, *cited]:
        assert quote["quote"] in whole_sentences[quote["document"]], case_id


def test_each_question_with_an_answer_has_one_recorded_reply(golden: DataSet, replies: dict[str, list[Row]]) -> None:
    answered = [case.case_id for case in golden.cases if case.expected == "answered"]
    assert sorted(row["id"] for rows in replies.values() for row in rows) == sorted(answered)


def test_half_of_what_the_replies_say_is_wrong_in_every_way(replies: dict[str, list[Row]]) -> None:
    for name, rows in replies.items():
        sections = [section for row in rows for section in row["sections"]]
        assert all(section["text"].strip() and section["cites"] for section in sections), name
        faults = Counter(section["fault"] for section in sections)
        assert set(faults) == {None, *FAULTS}, name
        assert 0.45 <= 1 - faults[None] / len(sections) <= 0.55, name


def test_a_right_section_cites_what_answers_the_question_or_repeats_its_quote(
    golden: DataSet, replies: dict[str, list[Row]]
) -> None:
    cases = {case.case_id: case for case in golden.cases}
    for rows in replies.values():
        for row in rows:
            for section in row["sections"]:
                if section["fault"] is None:
                    cited = {(cite["document"], cite["quote"]) for cite in section["cites"]}
                    repeated = {(document, quote) for document, quote in cited if quote == section["text"]}
                    assert cited - repeated <= _good(golden, cases[row["id"]]), row["id"]


def test_a_wrong_id_is_of_a_segment_that_holds_no_answer(golden: DataSet, replies: dict[str, list[Row]]) -> None:
    cases = {case.case_id: case for case in golden.cases}
    for rows in replies.values():
        for row in rows:
            case = cases[row["id"]]
            if any(len(chosen) > 1 for chosen in case.evidence):
                continue  # such a section may mix up two segments, each of which holds a part of the answer
            for section in row["sections"]:
                if section["fault"] == "wrong_id":
                    for cite in section["cites"]:
                        held = _of_its_segment(golden.by_name[cite["document"]], cite["quote"])
                        assert not _good(golden, case) & held, row["id"]


def test_an_unknown_id_is_well_formed_and_never_a_documents(replies: dict[str, list[Row]]) -> None:
    sections = [section for rows in replies.values() for row in rows for section in row["sections"]]
    for section in sections:
        unknown = [cite["id"] for cite in section["cites"] if "id" in cite]
        assert bool(unknown) == (section["fault"] == "unknown_id"), section["text"]
        for segment_id in unknown:
            document_id, _, number = segment_id.rpartition(":")
            assert number.isdecimal()
            assert UUID(document_id).version == 4, "a data set's documents are given ids of version 5"


def _good(golden: DataSet, case: Case) -> set[tuple[str, str]]:
    sentences = case.accepted.union(*case.evidence)
    return {(sentence.document, golden.by_name[sentence.document].sentence_text(sentence)) for sentence in sentences}


def _of_its_segment(document: Document, quote: str) -> set[tuple[str, str]]:
    """The sentences of the segments that hold a quote, at the size that segments have by default."""
    parsed = parse(document.data or b"", name=document.file_name)
    texts = [parsed.text[span.start : span.end] for span in segment(parsed, SegmentSize(300), count_tokens)]
    sentences = [document.text[start:end] for start, end in document.spans]
    return {(document.name, sentence) for text in texts if quote in text for sentence in sentences if sentence in text}
