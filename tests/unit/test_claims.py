"""What code alone proves of a section's sentences."""

import asyncio

from graph.evidence import Segment
from graph.ports import CheckedClaim, WrittenSection
from graph.spending import Meter
from tests.fakes import segment
from tools.claims.checker import CodeChecker


def check(text: str, *segments: Segment) -> list[CheckedClaim]:
    checked = asyncio.run(CodeChecker().check([WrittenSection(text, segments)], meter=Meter()))
    return list(checked.sections[0])


def test_a_sentence_that_stands_in_the_source_is_supported_by_its_exact_span() -> None:
    source = segment("doc", 3, "Leave is 25 days.  Unused days\nexpire in March.", start=100)
    (claim,) = check("Unused days expire in March.", source)
    (proof,) = claim.proofs
    assert claim.verdict == "supported"
    assert source.text[proof.start - 100 : proof.end - 100] == "Unused days\nexpire in March."


def test_a_part_of_a_sentence_is_quoted_with_the_whole_of_it() -> None:
    source = segment("doc", 0, "It rains. Annual leave is 25 days a year, by law. It snows.")
    (claim,) = check("leave is 25 days", source)
    assert claim.verdict == "unverified"
    assert (claim.proofs[0].start, claim.proofs[0].end) == (10, 49)


def test_a_part_of_a_sentence_is_not_supported_by_what_may_take_it_back() -> None:
    source = segment("doc", 0, "It is not true that staff get 30 days.")
    (claim,) = check("staff get 30 days.", source)
    assert (claim.verdict, claim.reasons) == ("unverified", ("it is a part of a longer source sentence",))
    assert [(proof.start, proof.end) for proof in claim.proofs] == [(0, 38)]


def test_a_missing_stop_changes_nothing() -> None:
    (claim,) = check("Anna reports to Ben", segment("doc", 0, "Anna reports to Ben. The office is in Hue."))
    assert claim.verdict == "supported"


def test_words_in_another_order_are_shown_but_not_called_support() -> None:
    source = segment("doc", 0, "Anna reports to Ben. The office is in Hue.")
    (claim,) = check("Ben reports to Anna.", source)
    assert claim.verdict == "unverified"
    assert [(proof.start, proof.end) for proof in claim.proofs] == [(0, 20)]
    assert "another order" in claim.reasons[0]


def test_a_sentence_of_other_words_is_unsupported_and_quotes_nothing() -> None:
    (claim,) = check("Penguins live in Antarctica.", segment("doc", 0, "Anna reports to Ben."))
    assert (claim.verdict, claim.proofs) == ("unsupported", ())


def test_a_section_without_sources_is_unsupported() -> None:
    (claim,) = check("Anna reports to Ben.")
    assert (claim.verdict, claim.proofs) == ("unsupported", ())
