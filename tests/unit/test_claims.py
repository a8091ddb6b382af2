"""What code alone proves of a section's sentences."""

import asyncio
import re

from hypothesis import given, settings
from hypothesis import strategies as st

from graph.evidence import Origin, Segment
from graph.ports import CheckedClaim, WrittenSection
from graph.reasons import Reason
from graph.usage import Meter
from tests.fakes import segment
from text.sentences import sentences, trimmed
from tools.claims.answer_leads import answer_lead
from tools.claims.code_checker import CodeChecker, check_section


def check(text: str, *segments: Segment) -> list[CheckedClaim]:
    checked = asyncio.run(CodeChecker().check([WrittenSection(text, segments)], meter=Meter()))
    return list(checked.sections[0])


def test_a_sentence_that_stands_in_the_source_is_supported_by_its_exact_span() -> None:
    source = segment("doc", 3, "Leave is 25 days.  Unused days\nexpire in March.", start=100)
    (claim,) = check("Unused days expire in March.", source)
    (proof,) = claim.proofs
    assert claim.verdict == "supported"
    assert source.text[proof["start"] - 100 : proof["end"] - 100] == "Unused days\nexpire in March."


def test_a_part_of_a_sentence_is_quoted_with_the_whole_of_it() -> None:
    source = segment("doc", 0, "It rains. Annual leave is 25 days a year, by law. It snows.")
    (claim,) = check("leave is 25 days", source)
    assert claim.verdict == "unverified"
    assert (claim.proofs[0]["start"], claim.proofs[0]["end"]) == (10, 49)


def test_a_part_of_a_sentence_is_not_supported_by_what_may_take_it_back() -> None:
    source = segment("doc", 0, "It is not true that staff get 30 days.")
    (claim,) = check("staff get 30 days.", source)
    assert (claim.verdict, claim.reasons) == ("unverified", (Reason("part_of_sentence"),))
    assert [(proof["start"], proof["end"]) for proof in claim.proofs] == [(0, 38)]


def test_a_missing_stop_changes_nothing() -> None:
    (claim,) = check("Anna reports to Ben", segment("doc", 0, "Anna reports to Ben. The office is in Hue."))
    assert claim.verdict == "supported"


def test_words_in_another_order_are_shown_but_not_called_support() -> None:
    source = segment("doc", 0, "Anna reports to Ben. The office is in Hue.")
    (claim,) = check("Ben reports to Anna.", source)
    assert claim.verdict == "unverified"
    assert [(proof["start"], proof["end"]) for proof in claim.proofs] == [(0, 20)]
    assert "another order" in claim.reasons[0]


def test_a_sentence_of_other_words_is_unsupported_and_quotes_nothing() -> None:
    (claim,) = check("Penguins live in Antarctica.", segment("doc", 0, "Anna reports to Ben."))
    assert (claim.verdict, claim.proofs) == ("unverified", ())


def test_a_section_without_sources_is_unsupported() -> None:
    (claim,) = check("Anna reports to Ben.")
    assert (claim.verdict, claim.proofs) == ("unverified", ())


PIECES = st.sampled_from(
    [
        "The tower",
        "is",
        "not",
        "25",
        "days",
        "twenty-five",
        "3.5 million",
        "Anna Berg",
        "5 March 2020",
        "U.S.",
        "e.g.",
        "[1]",
        "- ",
        "1. ",
        "\n",
        "\n\n",
        ". ",
        "? ",
        "“",
        "”",
        "这座塔高",
        "二十五",
        "。",
        "，",
        "không",
        "hai mươi lăm năm",
        "Hà Nội",
        "👍",
        "e\u0301",
        "km²",
        "½",
        " ",
    ]
)
OPENS_QUOTE = re.compile('["“”„«»″「」『』＂]')  # what stands in a quotation is another's word
TEXTS = st.one_of(st.lists(PIECES, max_size=25).map("".join), st.text(max_size=120))


def repeats(claim: str, text: str) -> bool:
    """Whether a claim is whole sentences of a text as Markdown leaves them, and more than a "No."."""
    spans = [trimmed(text, start, end) for start, end in sentences(text)]
    starts, ends = {start for start, _ in spans}, {end for _, end in spans}
    at = text.find(claim)
    while at >= 0 and not (at in starts and at + len(claim) in ends):
        at = text.find(claim, at + 1)
    return at >= 0 and answer_lead(claim) is None


@settings(deadline=None)
@given(TEXTS)
def test_whole_sentences_of_any_text_are_supported_by_their_own_spans(text: str) -> None:
    source = segment("doc", 0, text, start=7)
    for claim in check(text, source):
        assert text[claim.start : claim.end] == claim.text
        assert claim.verdict == "supported" or OPENS_QUOTE.search(text) or not repeats(claim.text, text)
        assert all(7 <= proof["start"] < proof["end"] <= 7 + len(text) for proof in claim.proofs)


@settings(deadline=None)
@given(TEXTS, st.integers(0, 20))
def test_any_one_sentence_alone_is_supported(text: str, which: int) -> None:
    spans = [trimmed(text, start, end) for start, end in sentences(text)]
    spans = [span for span in spans if span[0] < span[1]]
    if not spans:
        return
    start, end = spans[which % len(spans)]
    claims = [claim for claim in check(text[start:end], segment("doc", 0, text)) if repeats(claim.text, text)]
    assert OPENS_QUOTE.search(text) or {claim.verdict for claim in claims} <= {"supported"}


@settings(deadline=None)  # the first comparison of a process reads the lexicon
@given(TEXTS, TEXTS, st.sampled_from(["cited", "matched"]))
def test_every_proof_is_whole_sentences_of_its_segment(answer: str, text: str, origin: Origin) -> None:
    source = segment("doc", 4, text, start=1000)
    borders = {trimmed(text, start, end) for start, end in sentences(text)}
    past = 0
    for claim in check_section(WrittenSection(answer, (source,), (source,), origin)):
        assert past <= claim.start < claim.end
        assert answer[claim.start : claim.end] == claim.text
        assert 0.0 <= claim.support <= 1.0
        assert not claim.proofs or claim.verdict != "unsupported"
        assert claim.proofs or claim.verdict != "supported"
        assert bool(claim.reasons) == (claim.verdict != "supported")
        for proof in claim.proofs:
            assert proof["segment_id"] == "doc:4"
            assert proof["origin"] in (origin, "matched")
            assert (proof["start"] - 1000, proof["end"] - 1000) in borders
        past = claim.end


MARKED_UP = st.sampled_from(
    ["# ", "| a | b |\n", "|---|---|\n", "`", "[x](y)", "**", "Term: ", "---\n", "> ", "  \n", "- "]
)


@settings(deadline=None)
@given(st.lists(PIECES | MARKED_UP, max_size=25).map("".join), TEXTS, st.lists(st.integers(0, 200), max_size=4))
def test_claims_found_while_a_section_is_written_are_those_of_the_whole(
    text: str, source: str, cuts: list[int]
) -> None:
    segments = (segment("doc", 0, source),)
    found: list[tuple[int, int]] = []
    for cut in sorted(cut for cut in cuts if cut < len(text)):
        start = found[-1][1] if found else 0
        early = check_section(WrittenSection(text[:cut], segments, start=start, open=True))
        found += [(claim.start, claim.end) for claim in early]
    start = found[-1][1] if found else 0
    found += [(claim.start, claim.end) for claim in check_section(WrittenSection(text, segments, start=start))]
    assert found == [(claim.start, claim.end) for claim in check_section(WrittenSection(text, segments))]


def test_a_section_of_headings_and_code_has_no_claim() -> None:
    assert check("## Steps\n\n```\nStaff get 30 days.\n```", segment("doc", 0, "Staff get 25 days.")) == []


def test_a_sentence_of_another_source_is_cited_where_it_stands() -> None:
    cited, other = (
        segment("one", 0, "The mill is old."),
        segment("two", 0, "We bake. The bakery opens at six.", start=40),
    )
    (claim,) = check_section(WrittenSection("The bakery opens at six.", (cited,), (other,)))
    assert (claim.verdict, claim.reasons) == ("supported", ())
    assert claim.proofs == ({"segment_id": "two:0", "start": 49, "end": 73, "origin": "matched"},)


def test_a_sentence_is_cited_also_where_nothing_is() -> None:
    other = segment("two", 0, "We bake. The bakery opens at six.")
    (claim,) = check_section(WrittenSection("The bakery opens at six.", (), (other,)))
    assert (claim.verdict, [proof["segment_id"] for proof in claim.proofs]) == ("supported", ["two:0"])


def test_a_sentence_that_another_source_denies_is_no_proof() -> None:
    other = segment("two", 0, "The following is false. The bakery opens at six.")
    (claim,) = check_section(
        WrittenSection("The bakery opens at six.", (segment("one", 0, "The mill is old."),), (other,))
    )
    assert claim.verdict == "unverified"


def test_what_a_cited_source_says_otherwise_is_a_dispute_of_the_other_one() -> None:
    cited, other = segment("one", 0, "The old bakery opens at six."), segment("two", 0, "The old bakery opens at nine.")
    (claim,) = check_section(WrittenSection("The old bakery opens at nine.", (cited,), (other,)))
    assert claim.verdict == "supported"
    assert [dispute.other["segment_id"] for dispute in claim.disputes] == ["one:0"]
