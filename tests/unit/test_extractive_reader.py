"""The extractive reader over small pools: whole sentences, sound numbers, and what it prefers."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.evidence import Hit, Segment, SourceKind
from text.normal_forms import flatten
from text.page_references import about_whole_page
from text.shapes import shape_of
from text.words import question_terms
from tools.embeddings.static_embedding import bundled_embedder
from tools.extractive.extractive_family import ANSWERABLE
from tools.extractive.reader import fitted_weights, rank_sentences, relevances
from tools.extractive.sentence_features import FEATURES, compute_features
from tools.extractive.similarity import nested_presence, presence
from tools.rules.candidate_sentences import candidate_sentences


@pytest.fixture(scope="module", autouse=True)
def embeddings() -> None:
    bundled_embedder()  # loaded before hypothesis looks at the clock


def segments(*texts: str) -> list[Segment]:
    return [Segment(f"d{n}", 0, 0, len(text), text) for n, text in enumerate(texts)]


def hits(*texts: str, score: float = 0.8, kind: SourceKind = "search") -> list[Hit]:
    return [Hit(segment, score, kind) for segment in segments(*texts)]


WORDS = st.text(st.sampled_from("ab éđ你好。.!?\n#|-1 '\"")) | st.text(max_size=40)


@given(WORDS, st.lists(WORDS, max_size=6))
def test_grams_stand_where_each_is_looked_for_by_itself(question: str, texts: list[str]) -> None:
    grams = question_terms(question).grams
    flats = [flatten(each) for each in (question, *texts)]
    for found, units in zip(nested_presence(grams, flats), grams, strict=True):
        assert found.tolist() == presence(units, flats).tolist()


KINDS = st.sampled_from(["page", "search", "web"])


@given(WORDS, st.lists(st.tuples(WORDS, KINDS), max_size=4), st.floats(0, 1))
def test_any_text_is_read_without_complaint(question: str, texts: list[tuple[str, SourceKind]], score: float) -> None:
    given_segments = segments(*(text for text, _ in texts))
    kinds = [kind for _, kind in texts]
    reading = rank_sentences(
        question, [Hit(each, score, kind) for each, kind in zip(given_segments, kinds, strict=True)]
    )
    assert 0.0 <= reading.answerable <= 1.0
    assert list(reading.scores) == sorted(reading.scores, reverse=True)
    assert np.isfinite(reading.scores).all()
    for candidate in reading.candidates:
        assert given_segments[candidate.segment].text[candidate.start : candidate.end] == candidate.text
        assert candidate.text == candidate.text.strip() != ""


@pytest.mark.parametrize(
    ("question", "text", "best"),
    [
        (
            "When was the bridge finished?",
            "The bridge cost a fortune. The bridge was finished in 1911. It is red.",
            "The bridge was finished in 1911.",
        ),
        (
            "灯塔的灯多久旋转一圈？",
            "守塔人住在岛上。灯塔的灯每十二秒旋转一圈。每年有很多游客。",
            "灯塔的灯每十二秒旋转一圈。",
        ),
        (
            "Ngọn hải đăng được xây dựng năm nào?",
            "Đảo rất đẹp. Ngọn hải đăng được xây dựng vào năm 1898. Du khách thích nó.",
            "Ngọn hải đăng được xây dựng vào năm 1898.",
        ),
    ],
)
def test_the_sentence_that_answers_comes_first(question: str, text: str, best: str) -> None:
    assert rank_sentences(question, hits(text)).candidates[0].text == best


def test_a_segment_that_the_search_ranks_lower_loses_a_tie() -> None:
    text = "The gate opens at nine."
    weak, strong = hits(text, text)
    assert rank_sentences("When does the gate open?", [replace(weak, score=0.4), strong]).candidates[0].segment == 1


def test_features_are_finite_and_named() -> None:
    pool = candidate_sentences(segments("One. Two.", "Three."))
    found = compute_features("one", segments("One. Two.", "Three."), [1.0, 0.0], pool)
    assert found.features.shape == (3, len(FEATURES)) == (3, len(fitted_weights().reader))
    assert np.isfinite(found.features).all()


@pytest.mark.parametrize(
    ("sentence", "shape"),
    [
        ("# Title", "heading"),
        ("Installing on macOS", "heading"),
        ("| a | b |", "row"),
        ("- one thing", "item"),
        ("```sh\nls\n```", "code"),
        ("It rains.", "prose"),
        ("今天下雨。", "prose"),
    ],
)
def test_lines_are_told_apart_by_form(sentence: str, shape: str) -> None:
    assert shape_of(sentence) == shape


def test_a_question_is_stripped_of_what_frames_it() -> None:
    assert question_terms("What is the AI act?").terms == ("ai", "act")
    assert question_terms("Who was it?").terms == ("who", "was", "it")
    assert flatten("Ｆｕｌｌ  Width， 中 文") == " full width中文 "


LIGHTHOUSE = (
    "The lighthouse on Gull Island was built in 1898. Its lamp turns once in twelve seconds. A keeper lived in it "
    "until 1974, when the lamp was made to light itself.",
    "海鸥岛上的灯塔建于1898年。灯塔的灯每十二秒旋转一圈。1974年以前一直有守塔人住在那里。",
    "Ngọn hải đăng trên đảo Hải Âu được xây dựng vào năm 1898. Ngọn đèn quay một vòng trong mười hai giây. Người gác "
    "đèn sống ở đó cho đến năm 1974.",
)


@pytest.mark.parametrize(
    ("text", "answered", "not_answered"),
    [
        (LIGHTHOUSE[0], "When was the lighthouse on Gull Island built?", "Who paid for the harbour bridge in Porto?"),
        (LIGHTHOUSE[1], "海鸥岛上的灯塔建于哪一年？", "里斯本办公室的密码是什么？"),
        (LIGHTHOUSE[2], "Ngọn hải đăng trên đảo Hải Âu được xây dựng năm nào?", "Giá vé tàu đi Huế là bao nhiêu?"),
    ],
)
def test_a_selected_page_is_judged_by_what_stands_in_it(text: str, answered: str, not_answered: str) -> None:
    for score in (1.0, 0.01):
        assert rank_sentences(answered, hits(text, score=score, kind="page")).answerable > ANSWERABLE
        assert rank_sentences(not_answered, hits(text, score=score, kind="page")).answerable < ANSWERABLE
    page, found = hits(text, "The tea house opens at nine.", score=1.0, kind="page")
    beside = [page, replace(found, score=0.9, kind="search")]
    assert rank_sentences(answered, beside).answerable >= rank_sentences(answered, [page]).answerable


def test_a_page_counts_as_much_as_the_best_that_was_found() -> None:
    page, found, worse = hits("a", "b", "c", score=1.0, kind="page")
    assert relevances([page]) == [1.0]
    assert relevances([page, replace(found, score=0.7, kind="search"), replace(worse, score=0.4, kind="web")]) == [
        0.7,
        0.7,
        0.4,
    ]


@pytest.mark.parametrize(
    "question",
    [
        "Summarise this page",
        "What is this document about?",
        "What does page 3 say?",
        "总结一下这篇文章",
        "这一页讲了什么？",
        "Tóm tắt trang này",
        "Tài liệu này nói về gì?",
    ],
)
def test_a_question_about_a_whole_page_is_answered_by_any_page(question: str) -> None:
    assert rank_sentences(question, hits(LIGHTHOUSE[0], kind="page")).answerable == 1.0
    assert rank_sentences(question, hits(LIGHTHOUSE[0])).answerable < ANSWERABLE


@pytest.mark.parametrize(
    "question", ["How do I delete a page?", "文章的作者是谁？", "Ngày phép?", "What is the limit?"]
)
def test_a_question_about_a_thing_is_none_about_a_page(question: str) -> None:
    assert not about_whole_page(question)
