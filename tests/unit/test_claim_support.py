"""How far sources bear a claim: which sentences are its evidence, and an estimate that orders claims sanely."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.evidence import Segment
from tools.claims.lexical_support import (
    LEAST_GAIN,
    MOST_SENTENCES,
    SUPPORT_FEATURES,
    SUPPORT_THRESHOLD,
    chosen_sentences,
    estimate_support,
    measure_coverage,
    support_features,
    support_weights,
)


def segments(*texts: str, title: str = "") -> list[Segment]:
    return [Segment(f"d{n}", 0, 0, len(text), text, title=title) for n, text in enumerate(texts)]


def quoted(claim: str, *texts: str) -> list[str]:
    found = measure_coverage(claim, segments(*texts))
    return [found.sentences[index].text for index, _ in chosen_sentences(found)]


EN = (
    "The Cedar Bridge over the Tarn was finished in 1911 and carries two lanes. The town has nine bakeries.",
    "A market is held on Fridays in Mill Lane. Hugo Brandt drew the plans of the Cedar Bridge.",
)
ZH = ("雪松桥于1911年建成，有两条车道。镇上有九家面包店。", "每周五在磨坊巷举行集市。雪松桥的图纸由布兰特绘制。")
VI = (
    "Cầu Tuyết Tùng bắc qua sông Tarn được hoàn thành năm 1911 và có hai làn xe. Thị trấn có chín tiệm bánh.",
    "Chợ họp vào thứ sáu ở ngõ Cối Xay. Hugo Brandt vẽ bản thiết kế của cầu Tuyết Tùng.",
)
TEXT = st.text(st.sampled_from("ab éđ你好。.!?\n#|-1, '\"A")) | st.text(max_size=40)


@given(TEXT, st.lists(TEXT, max_size=4))
def test_any_text_is_weighed_without_complaint(claim: str, texts: list[str]) -> None:
    given_segments = segments(*texts)
    chosen = chosen_sentences(measure_coverage(claim, given_segments))
    assert 0.0 <= estimate_support(claim, given_segments) <= 1.0
    assert sum(gain for _, gain in chosen) <= 1.0 + 1e-9
    assert all(gain >= LEAST_GAIN for _, gain in chosen)
    assert len(dict(chosen)) == len(chosen) <= MOST_SENTENCES


def test_a_second_sentence_is_evidence_where_it_adds_to_the_first() -> None:
    claim = "The Cedar Bridge, finished in 1911, was drawn by Hugo Brandt."
    assert set(quoted(claim, *EN)) == {
        "The Cedar Bridge over the Tarn was finished in 1911 and carries two lanes.",
        "Hugo Brandt drew the plans of the Cedar Bridge.",
    }


def test_a_sentence_that_only_repeats_is_no_evidence() -> None:
    text = "The bridge was finished in 1911. The bridge was finished in 1911, they say."
    assert quoted("The bridge was finished in 1911.", text) == ["The bridge was finished in 1911."]


def test_nothing_is_evidence_for_a_claim_on_something_else() -> None:
    assert quoted("Otters sleep at anchor off Lisbon.", *EN) == []
    assert estimate_support("Otters sleep at anchor off Lisbon.", []) == 0.0


@pytest.mark.parametrize(
    ("texts", "falling"),
    [
        (
            EN,
            [
                "The Cedar Bridge was finished in 1911.",
                "The Cedar Bridge was finished in 1923 by Otto Lang.",
                "Otters sleep in the harbour of Lisbon.",
            ],
        ),
        (ZH, ["雪松桥有两条车道，1911年建成。", "雪松桥由建筑师朗格于1923年设计。", "里斯本港口的海獭正在睡觉。"]),
        (
            VI,
            [
                "Cầu Tuyết Tùng có hai làn xe, hoàn thành năm 1911.",
                "Cầu Tuyết Tùng do Otto Lang xây dựng lại năm 1923.",
                "Rái cá ngủ trong bến cảng Lisbon.",
            ],
        ),
    ],
    ids=["en", "zh", "vi"],
)
def test_support_falls_from_what_is_said_to_what_is_not(texts: tuple[str, ...], falling: list[str]) -> None:
    scores = [estimate_support(claim, segments(*texts)) for claim in falling]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == 3
    assert scores[0] >= SUPPORT_THRESHOLD > scores[1]


@pytest.mark.parametrize(
    ("texts", "said", "changed"),
    [
        (
            EN,
            "The Cedar Bridge has carried two lanes since 1911.",
            "The Cedar Bridge has carried two lanes since 1931.",
        ),
        (ZH, "雪松桥1911年建成后有两条车道。", "雪松桥1931年建成后有两条车道。"),
        (VI, "Từ năm 1911 cầu Tuyết Tùng có hai làn xe.", "Từ năm 1931 cầu Tuyết Tùng có hai làn xe."),
    ],
    ids=["en", "zh", "vi"],
)
def test_a_number_that_no_source_has_costs_support(texts: tuple[str, ...], said: str, changed: str) -> None:
    assert estimate_support(said, segments(*texts)) > estimate_support(changed, segments(*texts)) + 0.1


def test_marks_of_thousands_do_not_make_another_number() -> None:
    text = "Thành phố có 1.345.595 người."
    same, other = "Thành phố có 1,345,595 người.", "Thành phố có 1,345,596 người."
    assert estimate_support(same, segments(text)) > estimate_support(other, segments(text))


def test_a_name_may_stand_in_the_title_alone() -> None:
    claim, text = "The head of Harbour House is Ana Reyes.", "The head is Ana Reyes. She has held the post since May."
    assert estimate_support(claim, segments(text, title="Harbour House")) > estimate_support(
        claim, segments(text, title="Staff")
    )


def test_features_are_finite_and_those_of_the_shipped_weights() -> None:
    row = support_features("One bridge.", measure_coverage("One bridge.", segments(*EN)))
    assert row.shape == (len(SUPPORT_FEATURES),) == support_weights().weights.shape
    assert np.isfinite(row).all()
    assert np.isfinite(support_features("", measure_coverage("", []))).all()
