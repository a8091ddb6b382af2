"""The "Yes," or "No," that opens an answer, read against its question in three languages."""

import pytest

from graph.ports import WrittenSection
from tests.fakes import segment
from tools.claims.answer_leads import answer_lead
from tools.claims.code_checker import check_section


@pytest.mark.parametrize(
    ("text", "claim", "question", "verdict"),
    [
        (
            "The museum is open on Sundays.",
            "Yes, the museum is open on Sundays.",
            "Is the museum open on Sundays?",
            "supported",
        ),
        (
            "The museum is open on Sundays.",
            "Yes. The museum is open on Sundays.",
            "Is the museum open on Sundays?",
            "supported",
        ),
        (
            "The museum is open on Sundays.",
            "No, the museum is open on Sundays.",
            "Is the museum open on Sundays?",
            "contradicted",
        ),
        (
            "The museum is not open on Sundays.",
            "No, the museum is not open on Sundays.",
            "Is the museum open on Sundays?",
            "supported",
        ),
        (
            "The museum is not open on Sundays.",
            "Yes, the museum is not open on Sundays.",
            "Is the museum open on Sundays?",
            "contradicted",
        ),
        ("The museum is open on Sundays.", "Yes, the museum is open on Sundays.", "", "unverified"),
        (
            "The museum is open on Sundays.",
            "Yes, the museum is open on Sundays.",
            "Is the museum closed on Sundays?",
            "unverified",
        ),
        (
            "The plan covers dental care.",
            "Yes, the plan covers dental care.",
            "Does the plan cover dental care?",
            "supported",
        ),
        (
            "The plan does not cover dental care.",
            "No, the plan doesn't cover dental care.",
            "Does the plan cover dental care?",
            "supported",
        ),
        (
            "The plan does not cover dental care.",
            "Yes, the plan does not cover dental care.",
            "Does the plan cover dental care?",
            "contradicted",
        ),
        ("Ben reports to Anna.", "Yes, Ben reports to Anna.", "Does Anna report to Ben?", "unverified"),
        (
            "The museum is open on Sundays.",
            "No, the museum is closed on Sundays.",
            "Is the museum open on Sundays?",
            "unverified",
        ),
        (
            "The museum is not open on Sundays.",
            "No, it is closed on Sundays.",
            "Is the museum open on Sundays?",
            "unverified",
        ),
        (
            "Bảo tàng mở cửa vào Chủ nhật.",
            "Có, bảo tàng mở cửa vào Chủ nhật.",
            "Bảo tàng có mở cửa vào Chủ nhật không?",
            "supported",
        ),
        (
            "Bảo tàng không mở cửa vào Chủ nhật.",
            "Không, bảo tàng không mở cửa vào Chủ nhật.",
            "Bảo tàng có mở cửa vào Chủ nhật không?",
            "supported",
        ),
        (
            "Bảo tàng mở cửa vào Chủ nhật.",
            "Không, bảo tàng mở cửa vào Chủ nhật.",
            "Bảo tàng có mở cửa vào Chủ nhật không?",
            "contradicted",
        ),
        (
            "Bảo tàng mở cửa vào Chủ nhật.",
            "Đúng vậy, bảo tàng mở cửa vào Chủ nhật.",
            "Bảo tàng mở cửa vào Chủ nhật phải không?",
            "supported",
        ),
        ("Bảo tàng mở cửa vào Chủ nhật.", "Có. Bảo tàng mở cửa vào Chủ nhật.", "", "unverified"),
        ("博物馆周日开放。", "是的，博物馆周日开放。", "博物馆周日开放吗？", "supported"),
        ("博物馆周日不开放。", "不，博物馆周日不开放。", "博物馆周日开放吗？", "supported"),
        ("博物馆周日开放。", "不，博物馆周日开放。", "博物馆周日开放吗？", "contradicted"),
        ("博物馆周日开放。", "对，博物馆周日开放。", "博物馆周日是否开放？", "supported"),
        ("博物馆周日开放。", "没有，博物馆周日开放。", "博物馆周日开不开放？", "contradicted"),
        ("No. 5 is the largest plant.", "No. 5 is the largest plant.", "", "supported"),
    ],
)
def test_an_answer_word_is_proven_only_with_its_question(text: str, claim: str, question: str, verdict: str) -> None:
    (found,) = check_section(WrittenSection(claim, (segment("doc", 0, text),), question=question))
    assert (found.verdict, found.text) == (verdict, claim)
    assert found.proofs


STORED = "Is the fee 70 euros?\n\nNo. It was raised to 85 euros.\n\nDoes it rain?\n\nYes, on most days."


@pytest.mark.parametrize(
    ("text", "question", "verdict"),
    [
        ("Is the fee 70 euros?\n\nNo. It was raised to 85 euros.", "fee", "supported"),
        ("No. It was raised to 85 euros.", "Is the fee 70 euros?", "supported"),
        ("Does it rain?\n\nYes, on most days.", "rain", "supported"),
        ("Does it snow?\n\nYes, on most days.", "rain", "unverified"),
        ("Yes, on most days.", "Does it snow?", "unverified"),
    ],
)
def test_a_sources_own_answer_word_is_proven_behind_its_own_question(text: str, question: str, verdict: str) -> None:
    (found,) = check_section(WrittenSection(text, (segment("doc", 0, STORED),), question=question))
    assert found.verdict == verdict


@pytest.mark.parametrize("claim", ["Yes.", "**No.**", "Có.", "是的。", "没有。"])
def test_an_answer_word_alone_is_left_open(claim: str) -> None:
    (found,) = check_section(WrittenSection(claim, (segment("doc", 0, "The museum is open."),), question="Is it open?"))
    assert found.verdict == "unverified"


@pytest.mark.parametrize(
    "claim",
    [
        "Yesterday, it rained.",
        "No one came.",
        "No. 5 is open.",
        "Không khí, nước và đất.",
        "不过，他来了。",
        "Có thể, nếu trời mưa.",
    ],
)
def test_other_words_are_no_answer(claim: str) -> None:
    assert answer_lead(claim) is None
