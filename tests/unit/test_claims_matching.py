"""Proofs for answers that cite nothing usable: in order, above a threshold that never falls, same verdicts.

Three of the cases are faults that other products have: a wrong number highlighted as evidence, a bracketed key taken
for a citation, and a threshold that falls until something matches while each source may prove one claim only.
"""

import pytest

from graph.evidence import Segment
from graph.ports import CheckedClaim, WrittenSection
from graph.reasons import Reason
from tests.fakes import segment
from tools.claims.code_checker import check_section

LEAVE = segment("leave", 0, "Annual leave is 25 days for full-time staff. The first day is free.", start=50)
KEYS = segment("keys", 0, "Press [Windows] then [Section] to open the menu. The first screen is the home screen.")


def match(text: str, *segments: Segment) -> list[CheckedClaim]:
    return list(check_section(WrittenSection(text, segments, origin="matched")))


def test_a_match_is_proved_by_a_whole_sentence_and_says_that_it_was_matched() -> None:
    (claim,) = match("Annual leave is 25 days for full-time staff.", LEAVE)
    (proof,) = claim.proofs
    assert (claim.verdict, proof["origin"]) == ("supported", "matched")
    assert LEAVE.text[proof["start"] - 50 : proof["end"] - 50] == "Annual leave is 25 days for full-time staff."


def test_a_wrong_number_is_never_shown_as_support() -> None:
    (claim,) = match("Annual leave is 30 days for full-time staff.", LEAVE)
    assert claim.verdict == "contradicted"
    assert claim.reasons == (Reason("differs", "25 days", "30 days"),)


def test_a_phrase_in_common_proves_nothing() -> None:
    (claim,) = match("The first man on the moon was an American.", LEAVE, KEYS)
    assert (claim.verdict, claim.proofs) == ("unverified", ())


def test_keys_in_brackets_are_no_citation() -> None:
    (claim,) = match("Press [Windows] then [Section].", LEAVE)
    assert (claim.text, claim.verdict, claim.proofs) == ("Press [Windows] then [Section].", "unverified", ())


def test_the_threshold_does_not_fall_until_something_matches() -> None:
    claims = match("The menu has a search field. Leave can be carried over. Home is where the heart is.", LEAVE, KEYS)
    assert [(claim.verdict, claim.proofs) for claim in claims] == [("unverified", ())] * 3


def test_one_sentence_may_prove_several_claims() -> None:
    claims = match(
        "Annual leave is 25 days for full-time staff. Annual leave is twenty-five days for full-time staff.", LEAVE
    )
    assert [claim.verdict for claim in claims] == ["supported", "supported"]
    assert claims[0].proofs == claims[1].proofs


def test_words_in_another_order_match_less() -> None:
    source = segment("doc", 0, "The bridge over the river was painted green by volunteers in spring.")
    (near,) = match("The bridge over the river was painted green by some volunteers.", source)
    (far,) = match("In spring, volunteers by the green painted river was over bridge.", source)
    assert near.proofs
    assert far.proofs == ()


@pytest.mark.parametrize("text", ["员工每年有二十五天年假。", "Nhân viên có hai mươi lăm ngày nghỉ mỗi năm."])
def test_matching_works_in_scripts_and_languages_alike(text: str) -> None:
    (claim,) = match(text, segment("doc", 0, text))
    assert claim.verdict == "supported"


def test_a_section_with_no_sources_matches_nothing() -> None:
    (claim,) = match("Annual leave is 25 days.")
    assert (claim.verdict, claim.proofs) == ("unverified", ())
