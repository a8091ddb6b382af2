"""Proofs for answers that cite nothing usable: a copy proves, anything else is doubted, with what comes nearest.

Three of the cases are faults that other products have: a wrong number highlighted as evidence, a bracketed key taken
for a citation, and a threshold that falls until something matches while each source may prove one claim only.
"""

from dataclasses import replace

import pytest

from graph.evidence import Segment
from graph.ports import CheckedClaim, WrittenSection
from tests.fakes import check_section, segment
from tools.claims.claim_numbers import values_of

LEAVE = segment("leave", 0, "Annual leave is 25 days for full-time staff. The first day is free.", start=50)
KEYS = segment("keys", 0, "Press [Windows] then [Section] to open the menu. The first screen is the home screen.")


def match(text: str, *segments: Segment) -> list[CheckedClaim]:
    return list(check_section(WrittenSection(text, segments, origin="matched")))


def test_a_copy_is_proven_by_a_whole_sentence_and_says_that_it_was_matched() -> None:
    (claim,) = match("Annual leave is 25 days for full-time staff.", LEAVE)
    (proof,) = claim.proofs
    assert (claim.verdict, proof["origin"]) == ("supported", "matched")
    assert LEAVE.text[proof["start"] - 50 : proof["end"] - 50] == "Annual leave is 25 days for full-time staff."


@pytest.mark.parametrize(
    "text",
    [
        "Annual leave is 30 days for full-time staff.",
        "The first man on the moon was an American.",
        "Press [Windows] then [Section].",
        "Full-time staff get 25 days of annual leave.",
    ],
)
def test_anything_else_is_doubted_until_a_judge_has_spoken(text: str) -> None:
    (claim,) = match(text, LEAVE, KEYS)
    assert (claim.text, claim.verdict, claim.doubted) == (text, "unverified", True)
    assert {proof["origin"] for proof in claim.proofs} <= {"matched"}


def test_of_sentences_below_one_heading_the_one_is_shown_that_says_it_itself() -> None:
    text = "The ferry has 24 places. Bicycles travel free of charge, and dogs pay half of the fare."
    segment_of = replace(segment("ferry", 0, text), title="Cars and bicycles")
    (claim,) = match("Bicycles cost nothing.", segment_of)
    (proof,) = claim.proofs
    assert text[proof["start"] : proof["end"]].startswith("Bicycles")


def test_one_sentence_may_prove_several_claims() -> None:
    claims = match("The first day is free. The first day is free", LEAVE)
    assert [claim.verdict for claim in claims] == ["supported", "supported"]
    assert claims[0].proofs == claims[1].proofs


@pytest.mark.parametrize("text", ["员工每年有二十五天年假。", "Nhân viên có hai mươi lăm ngày nghỉ mỗi năm."])
def test_matching_works_in_scripts_and_languages_alike(text: str) -> None:
    (claim,) = match(text, segment("doc", 0, text))
    assert claim.verdict == "supported"


def test_numerals_in_a_row_without_end_are_read_in_pieces() -> None:
    assert values_of("二十五") == {"25"}
    assert values_of("一" * 5000) == {"1" * 40}
