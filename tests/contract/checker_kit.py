"""The kit that every ClaimChecker passes, over two segments. A test class takes it over and gives a ``checker``."""

from collections.abc import Sequence
from typing import get_args

import pytest
from hypothesis import strategies as st

from graph.evidence import Segment, Verdict
from graph.ports import CheckedClaim, ClaimChecker, WrittenSection
from text.answer_markdown import units

LAMP_TEXT = "The lamp of the lighthouse turns once in 12 seconds. Its keeper oils the gears every Tuesday.\n"
SHOP_TEXT = "The bakery in Mill Lane opens at six. It sells rye bread on Fridays; the mill does not."
LAMP = Segment("7d9c2a10-0000-4000-8000-000000000001", 4, 1000, 1000 + len(LAMP_TEXT), LAMP_TEXT, title="Lighthouse")
SHOP = Segment("7d9c2a10-0000-4000-8000-000000000002", 0, 0, len(SHOP_TEXT), SHOP_TEXT, title="Shops")

VERBATIM = "The lamp of the lighthouse turns once in 12 seconds."
SECTIONS = [
    WrittenSection(f"{VERBATIM} The gears are oiled by its keeper on Tuesdays.", (LAMP,), (SHOP,)),
    WrittenSection("Whales sing in the harbour at night.", (SHOP, LAMP)),
    WrittenSection("Nothing is cited here.", (), (LAMP, SHOP)),
    WrittenSection("The bakery opens at six. Rye bread is sold there on Fridays.", (LAMP, SHOP), (), "matched"),
]
PIECES = [
    "The lamp ",
    "turns once ",
    "in 12 seconds",
    ". ",
    "。",
    "Mill Lane",
    "\n",
    "- ",
    "3.5 ",
    "灯塔",
    "é",
    "[1]",
    "🙂",
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=8).map("".join)


def checked_well(claims: Sequence[CheckedClaim], section: WrittenSection) -> None:
    """Check what holds of any verdicts: claims in order, and proofs that lie in the segments given."""
    segments = {segment.segment_id: segment for segment in section.segments}
    others = {segment.segment_id: segment for segment in (*section.segments, *section.others)}
    end = 0
    for claim in claims:
        assert end <= claim.start < claim.end <= len(section.text)
        assert section.text[claim.start : claim.end] == claim.text
        assert claim.text == claim.text.strip()
        assert claim.verdict in get_args(Verdict)
        assert claim.verdict != "supported" or claim.proofs
        assert all(reason.strip() for reason in claim.reasons)
        for span in (*claim.proofs, *(dispute.other for dispute in claim.disputes)):
            within = others[span["segment_id"]]
            assert within.start <= span["start"] < span["end"] <= within.end
            quote = within.text[span["start"] - within.start : span["end"] - within.start]
            assert quote == quote.strip()
        for proof in claim.proofs:
            assert proof["origin"] == (section.origin if proof["segment_id"] in segments else "matched")
        end = claim.end
    said = "".join(section.text[claim.start : claim.end] for claim in claims)
    wanted = "".join(section.text[slice(*each)] for unit in units(section.text) for each in unit.claims)
    assert [c for c in said if c.isalnum()] == [c for c in wanted if c.isalnum()], "words are left unchecked"


class ClaimCheckerContract:
    async def test_every_sentence_is_a_claim_with_a_verdict(self, checker: ClaimChecker) -> None:
        for section, count in zip(SECTIONS, [2, 1, 1, 2], strict=True):
            checked = await checker.check(section)
            checked_well(checked, section)
            assert len(checked) == count

    async def test_a_verbatim_claim_is_supported_by_its_sentence(self, checker: ClaimChecker) -> None:
        claim = (await checker.check(SECTIONS[0]))[0]
        assert claim.verdict == "supported"
        proof = claim.proofs[0]
        assert (proof["segment_id"], proof["start"], proof["end"]) == (LAMP.segment_id, 1000, 1000 + len(VERBATIM))

    async def test_what_no_source_holds_is_not_supported(self, checker: ClaimChecker) -> None:
        for section in SECTIONS[1:3]:
            assert (await checker.check(section))[0].verdict != "supported"

    async def test_a_changed_number_is_not_supported(self, checker: ClaimChecker) -> None:
        (claim,) = await checker.check(WrittenSection(VERBATIM.replace("12", "21"), (LAMP,)))
        assert claim.verdict != "supported"
        assert claim.doubted or claim.verdict in ("contradicted", "unsupported")

    async def test_reading_ahead_changes_no_verdict(self, checker: ClaimChecker) -> None:
        checker.read_ahead([LAMP, SHOP])
        for section in SECTIONS:
            ahead = await checker.check(section)
            assert ahead == await checker.check(section)
            checked_well(ahead, section)

    @pytest.mark.parametrize("text", ["", " \n"])
    async def test_nothing_said_is_nothing_to_check(self, checker: ClaimChecker, text: str) -> None:
        assert not await checker.check(WrittenSection(text, (LAMP,)))
