"""How far claims hold, and that taking a repair never makes an answer worse."""

from hypothesis import given
from hypothesis import strategies as st

from answers.checking import count_verdicts, failed_sections, has_failed, raises_support, support_score, without_section
from graph.evidence import Verdict
from graph.rows import ClaimRow

verdicts = st.sampled_from(["supported", "contradicted", "unsupported", "unverified"])


def claims(section: int, *given: Verdict) -> list[ClaimRow]:
    return [
        ClaimRow(section_index=section, start=i, end=i + 1, verdict=verdict, reasons=[], proofs=[])
        for i, verdict in enumerate(given)
    ]


def test_support_is_the_mean_weight_of_verdicts() -> None:
    assert support_score(claims(0, "supported", "unverified", "unsupported", "contradicted")) == 0.375
    assert support_score([]) == 0.0


def test_sections_with_a_failed_claim_are_listed_once() -> None:
    rows = claims(2, "unsupported", "contradicted") + claims(0, "supported", "unverified") + claims(1, "contradicted")
    assert failed_sections(rows) == [1, 2]
    assert count_verdicts(rows) == {"supported": 1, "unverified": 1, "contradicted": 2, "unsupported": 1}


def test_more_words_that_are_only_unverified_are_no_repair_of_a_supported_claim() -> None:
    old = claims(0, "supported", "contradicted")
    assert not raises_support(old, 0, claims(0, "unverified", "unverified"))
    assert raises_support(old, 0, claims(0, "supported"))
    assert raises_support(old, 0, claims(0, "supported", "unverified"))


@given(st.lists(verdicts, max_size=6), st.lists(verdicts, min_size=1, max_size=6), st.lists(verdicts, max_size=8))
def test_support_never_falls_across_a_repair(
    others: list[Verdict], before: list[Verdict], after: list[Verdict]
) -> None:
    answer = claims(0, *others) + claims(1, *before)
    revised = claims(1, *after)
    if raises_support(answer, 1, revised):
        repaired = [*without_section(answer, 1), *revised]
        assert support_score(repaired) >= support_score(answer)
        assert count_verdicts(repaired)["supported"] >= count_verdicts(answer)["supported"]
        assert sum(map(has_failed, repaired)) < sum(map(has_failed, answer))
