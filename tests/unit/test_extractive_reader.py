"""The extractive reader over small pools: whole sentences, sound numbers, and what it prefers."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.evidence import Hit, Segment, SourceKind
from tools.extractive.answer_types import asked_type
from tools.extractive.candidates import candidates, shape_of
from tools.extractive.features import FEATURES, evidence
from tools.extractive.fitted import fitted_weights
from tools.extractive.reader import read
from tools.extractive.wording import flattened, question_wording
from tools.static_embedding import bundled_embedder


@pytest.fixture(scope="module", autouse=True)
def embeddings() -> None:
    bundled_embedder()  # loaded before hypothesis looks at the clock


def segments(*texts: str) -> list[Segment]:
    return [Segment(f"d{n}", 0, 0, len(text), text) for n, text in enumerate(texts)]


def hits(*texts: str, score: float = 0.8, kind: SourceKind = "search") -> list[Hit]:
    return [Hit(segment, score, kind) for segment in segments(*texts)]


WORDS = st.text(st.sampled_from("ab éđ你好。.!?\n#|-1 '\"")) | st.text(max_size=40)


KINDS = st.sampled_from(["page", "search", "web"])


@given(WORDS, st.lists(st.tuples(WORDS, KINDS), max_size=4), st.floats(0, 1))
def test_any_text_is_read_without_complaint(question: str, texts: list[tuple[str, SourceKind]], score: float) -> None:
    given_segments = segments(*(text for text, _ in texts))
    kinds = [kind for _, kind in texts]
    reading = read(question, [Hit(each, score, kind) for each, kind in zip(given_segments, kinds, strict=True)])
    assert 0.0 <= reading.answerable <= 1.0
    if reading.candidates and 2 * kinds.count("page") > len(kinds):
        assert len(reading.members) == len(reading.candidates)
    assert all(0.0 <= chance <= 1.0 for chance in reading.members)
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
    assert read(question, hits(text)).candidates[0].text == best


def test_a_segment_that_the_search_ranks_lower_loses_a_tie() -> None:
    text = "The gate opens at nine."
    weak, strong = hits(text, text)
    assert read("When does the gate open?", [replace(weak, score=0.4), strong]).candidates[0].segment == 1


def test_features_are_finite_and_named() -> None:
    pool = candidates(segments("One. Two.", "Three."))
    found = evidence("one", segments("One. Two.", "Three."), [1.0, 0.0], pool)
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


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("How many keepers are there?", "number"),
        ("In what year did it end?", "date"),
        ("Who keeps it?", "person"),
        ("在哪个城市？", "place"),
        ("tại sao", "reason"),
        ("什么时候开门？", "date"),
        ("What is it?", "other"),
    ],
)
def test_the_kind_of_thing_asked_for(question: str, kind: str) -> None:
    assert asked_type(question) == kind


def test_a_question_is_stripped_of_what_frames_it() -> None:
    assert question_wording("What is the AI act?").terms == ("ai", "act")
    assert question_wording("Who was it?").terms == ("who", "was", "it")
    assert flattened("Ｆｕｌｌ  Width， 中 文") == " full width中文 "
