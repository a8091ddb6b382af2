"""What code alone says of a section's sentences: copies are proven, all else is open, with its evidence."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.evidence import Origin, Segment
from graph.ports import CheckedClaim, WrittenSection
from graph.reasons import Reason, why_each
from tests.fakes import check_section, segment
from text.sentences import sentences, trimmed
from tools.claims.code_checker import CodeChecker


def check(text: str, *segments: Segment) -> list[CheckedClaim]:
    checked = asyncio.run(CodeChecker().check(WrittenSection(text, segments)))
    return list(checked)


def test_a_sentence_that_stands_in_the_source_is_supported_by_its_exact_span() -> None:
    source = segment("doc", 3, "Leave is 25 days.  Unused days\nexpire in March.", start=100)
    (claim,) = check("Unused days expire in March.", source)
    (proof,) = claim.proofs
    assert claim.verdict == "supported"
    assert source.text[proof["start"] - 100 : proof["end"] - 100] == "Unused days\nexpire in March."


def test_a_missing_stop_changes_nothing() -> None:
    (claim,) = check("Anna reports to Ben", segment("doc", 0, "Anna reports to Ben. The office is in Hue."))
    assert claim.verdict == "supported"


@pytest.mark.parametrize(
    "source",
    [
        "The following is false. The bakery opens at six.",
        "Carl said: “Anna is ill. The bakery opens at six. Go!”",
        "We sell:\n\n- Rye bread\n- The bakery opens at six.",
    ],
)
def test_a_copy_is_a_copy_whatever_stands_around_it(source: str) -> None:
    (claim,) = check("The bakery opens at six.", segment("doc", 0, source))
    assert claim.verdict == "supported"


NEARLY = "It is cold. Settings are not reverted on exit. The server needs 4 GB of memory."


@pytest.mark.parametrize(
    ("claim", "reason"),
    [
        ("The server needs 16 GB of memory.", Reason("differs", "4", "16")),
        ("Settings are reverted on exit.", Reason("differs", "not", "")),
        ("Some settings are not reverted on exit.", Reason("differs", "", "some")),
        ("The memory that a server has must not be less than 32 GB.", Reason("number_not_found", "32")),
        ("Penguins live in Antarctica and eat fish.", Reason("not_said")),
    ],
)
def test_what_speaks_against_a_claim_is_a_doubt_and_no_verdict(claim: str, reason: Reason) -> None:
    (checked,) = check(claim, segment("doc", 0, NEARLY))
    assert (checked.verdict, checked.doubted, checked.reasons) == ("unverified", True, (reason,))
    assert bool(checked.proofs) == (reason.code != "not_said")


@pytest.mark.parametrize(
    "claim",
    [
        "On exit, no settings are reverted.",
        "In short, the server needs 4 GB of memory.",
        "Máy chủ cần bộ nhớ 4 GB.",
        "What the server needs is 4 GB of memory.",
    ],
)
def test_what_is_said_in_other_words_is_open_and_not_doubted(claim: str) -> None:
    (checked,) = check(claim, segment("doc", 0, NEARLY))
    assert (checked.verdict, checked.doubted) == ("unverified", False)
    assert checked.proofs
    assert checked.reasons


@pytest.mark.parametrize(
    ("claim", "question", "changed"),
    [
        ("The port number is read at the start of the server.", "When is the port number read?", False),
        ("It is read at the start of the server [7].", "", False),
        ("It is read at the end of the server.", "Is it read at the end?", True),
        ("It is not read at the start of the server.", "", True),
    ],
)
def test_to_name_what_a_sentence_points_to_is_no_change(claim: str, question: str, changed: bool) -> None:
    source = segment("doc", 0, "It is read at the start of the server.")
    (checked,) = check_section(WrittenSection(claim, (source,), question=question))
    assert {"differs", "number_not_found"}.isdisjoint(each["code"] for each in why_each(checked.reasons)) != changed


@pytest.mark.parametrize(
    ("source", "claim", "question", "title"),
    [
        ("The fee is refunded.", "The fee is not refunded.", "Why is the fee not refunded?", ""),
        ("Phí được hoàn lại.", "Phí không được hoàn lại.", "Phí có được hoàn lại không?", ""),
        ("费用可以退还。", "费用不可以退还。", "费用可不可以退还？", ""),
        ("Local changes are reverted.", "Local changes are never reverted.", "", "Never lose data"),
        ("Members may enter the lounge.", "Only members may enter the lounge.", "Is it only for members?", ""),
        ("Members may enter the lounge.", "No guests may enter the lounge.", "May guests enter the lounge?", ""),
        ("It is read twice. The port is not read twice.", "The port is read twice.", "Is the port read?", ""),
        ("The port is not read twice. It is read twice.", "The port is read twice.", "Is the port read?", ""),
    ],
)
def test_a_change_is_a_change_though_the_question_or_a_title_says_its_words(
    source: str, claim: str, question: str, title: str
) -> None:
    section = WrittenSection(claim, (segment("doc", 0, source, title=title),), question=question)
    (checked,) = check_section(section)
    assert checked.doubted
    assert [each["code"] for each in why_each(checked.reasons)] == ["differs"]


@pytest.mark.parametrize("claim", ["Máy chủ tự khởi động lại vào ban đêm.", "服务器在夜间自动重启。"])
def test_a_source_in_another_language_is_for_a_judge_to_read(claim: str) -> None:
    (checked,) = check(
        claim, segment("doc", 0, "The bakery opens at six. It is closed on Mondays, as are most others.")
    )
    assert (checked.doubted, checked.reasons) == (True, (Reason("other_language"),))
    assert checked.proofs


def test_words_do_not_take_a_claim_away_from_a_source_in_another_language() -> None:
    cited = segment("b3", 0, "Der Wassertank der Maschine fasst 4 Liter und ist aus Glas.")
    other = segment("pro", 0, "Bình sữa chứa 5 lít và giữ ở 4 °C. Bình phải được rửa mỗi ngày.")
    section = WrittenSection("Bình nước của B3 chứa 4 lít.", (cited,), (other,), question="Bình nước chứa mấy lít?")
    (claim,) = check_section(section)
    assert {(proof["segment_id"], proof["origin"]) for proof in claim.proofs} == {("b3:0", "cited")}


def test_a_number_of_the_question_or_of_a_title_needs_no_source() -> None:
    source = segment("doc", 0, "The tower is made of stone.", title="Tower 7")
    section = WrittenSection("In 1990, tower 7 was of stone.", (source,), question="What was it in 1990?")
    assert not check_section(section)[0].doubted


@pytest.mark.parametrize(
    "claim", ["Guests park their cars behind the old mill.", "Breakfast, which is served from 7, ends at 22:30."]
)
def test_of_a_claim_that_is_mostly_not_in_one_entry_code_can_say_nothing(claim: str) -> None:
    source = segment("doc", 0, "Breakfast is served from 7 to 10. The gate closes at 22:30 for guests and their cars.")
    (checked,) = check(claim, source)
    assert (checked.verdict, checked.doubted) == ("unverified", True)


def test_a_first_sentence_without_a_fact_is_one_claim_with_the_next() -> None:
    source = segment("doc", 0, "The bakery opens at six. It is closed on Mondays.")
    copied, other = check("Yes, in part. The bakery opens at six. It is closed on Mondays.", source)
    assert (copied.text, copied.verdict) == ("Yes, in part. The bakery opens at six.", "unverified")
    assert (copied.doubted, copied.reasons) == (False, (Reason("lead_open", "Yes, in part."),))
    assert [(proof["start"], proof["end"]) for proof in copied.proofs] == [(0, 24)]
    assert other.verdict == "supported"


def test_a_section_without_sources_is_open_and_doubted() -> None:
    (claim,) = check("Anna reports to Ben.")
    assert (claim.verdict, claim.doubted, claim.reasons, claim.proofs) == ("unverified", True, (Reason("uncited"),), ())


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
TEXTS = st.one_of(st.lists(PIECES, max_size=25).map("".join), st.text(max_size=120))


def repeats(claim: str, text: str) -> bool:
    """Whether a claim is whole sentences of a text as Markdown leaves them."""
    spans = [trimmed(text, start, end) for start, end in sentences(text)]
    starts, ends = {start for start, _ in spans}, {end for _, end in spans}
    at = text.find(claim)
    while at >= 0 and not (at in starts and at + len(claim) in ends):
        at = text.find(claim, at + 1)
    return at >= 0


@given(TEXTS)
def test_whole_sentences_of_any_text_are_supported_by_their_own_spans(text: str) -> None:
    source = segment("doc", 0, text, start=7)
    for claim in check(text, source):
        assert text[claim.start : claim.end] == claim.text
        assert claim.verdict == "supported" or not repeats(claim.text, text)
        assert all(7 <= proof["start"] < proof["end"] <= 7 + len(text) for proof in claim.proofs)


@given(TEXTS, st.integers(0, 20))
def test_any_one_sentence_alone_is_supported(text: str, which: int) -> None:
    spans = [trimmed(text, start, end) for start, end in sentences(text)]
    spans = [span for span in spans if span[0] < span[1]]
    if not spans:
        return
    start, end = spans[which % len(spans)]
    claims = [claim for claim in check(text[start:end], segment("doc", 0, text)) if repeats(claim.text, text)]
    assert {claim.verdict for claim in claims} <= {"supported"}


@given(TEXTS, TEXTS, st.sampled_from(["cited", "matched"]))
def test_every_proof_is_a_slice_of_its_segment(answer: str, text: str, origin: Origin) -> None:
    source = segment("doc", 4, text, start=1000)
    past = 0
    for claim in check_section(WrittenSection(answer, (source,), (source,), origin)):
        assert past <= claim.start < claim.end
        assert answer[claim.start : claim.end] == claim.text
        assert claim.verdict in ("supported", "unverified")
        assert not (claim.doubted and claim.verdict == "supported")
        assert claim.proofs or claim.verdict != "supported"
        assert bool(claim.reasons) == (claim.verdict != "supported")
        for proof in claim.proofs:
            assert proof["segment_id"] == "doc:4"
            assert proof["origin"] in (origin, "matched")
            quote = text[proof["start"] - 1000 : proof["end"] - 1000]
            assert quote
            assert quote == quote.strip()
        past = claim.end


MARKED_UP = st.sampled_from(
    ["# ", "| a | b |\n", "|---|---|\n", "`", "[x](y)", "**", "Term: ", "---\n", "> ", "  \n", "- "]
)


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


def test_another_source_that_bears_a_claim_is_shown_and_the_claim_doubted() -> None:
    cited, other = segment("one", 0, "The mill is old."), segment("two", 0, "We bake. The bakery opens at six.")
    (claim,) = check_section(WrittenSection("At six the bakery opens its doors.", (cited,), (other,)))
    assert (claim.verdict, claim.doubted, claim.reasons) == ("unverified", True, (Reason("elsewhere"),))
    assert claim.proofs[-1] == {"segment_id": "two:0", "start": 9, "end": 33, "origin": "matched"}


def test_a_claim_of_a_section_without_ids_is_shown_what_is_nearest() -> None:
    other = segment("two", 0, "We bake. The bakery opens at six.")
    (claim,) = check_section(WrittenSection("At six the bakery opens its doors.", (), (other,)))
    assert (claim.verdict, claim.doubted) == ("unverified", True)
    assert [proof["origin"] for proof in claim.proofs] == ["matched"]


def test_what_a_cited_source_says_otherwise_is_a_dispute_of_the_other_one() -> None:
    cited, other = (
        segment("one", 0, "The old bakery opens at 6 o'clock."),
        segment("two", 0, "The old bakery opens at 9 o'clock."),
    )
    (claim,) = check_section(WrittenSection("The old bakery opens at 9 o'clock.", (cited,), (other,)))
    assert claim.verdict == "supported"
    assert [dispute.other["segment_id"] for dispute in claim.disputes] == ["one:0"]
