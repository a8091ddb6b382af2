"""The kit that every ClaimChecker passes, over two segments. A test class takes it over and gives a ``checker``."""

from collections.abc import Sequence
from typing import get_args

import pytest
from hypothesis import strategies as st

from graph.evidence import Segment, Verdict
from graph.ports import CheckResult, ClaimChecker, WrittenSection
from graph.usage import Meter
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
TEXTS = st.lists(st.lists(st.sampled_from(PIECES), max_size=8).map("".join), max_size=3)


def checked_well(checked: CheckResult, sections: Sequence[WrittenSection]) -> None:
    """Check what holds of any verdicts: claims in order, and proofs that lie in the segments given."""
    assert len(checked.sections) == len(sections)
    for section, claims in zip(sections, checked.sections, strict=True):
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
        meter = Meter()
        checked = await checker.check(SECTIONS, meter=meter)
        checked_well(checked, SECTIONS)
        assert [len(claims) for claims in checked.sections] == [2, 1, 1, 2]
        assert meter.calls <= 1

    async def test_a_verbatim_claim_is_supported_by_its_sentence(self, checker: ClaimChecker) -> None:
        checked = await checker.check(SECTIONS[:1], meter=Meter())
        claim = checked.sections[0][0]
        assert claim.verdict == "supported"
        proof = claim.proofs[0]
        assert (proof["segment_id"], proof["start"], proof["end"]) == (LAMP.segment_id, 1000, 1000 + len(VERBATIM))

    async def test_what_no_source_holds_is_not_supported(self, checker: ClaimChecker) -> None:
        _, whales, uncited, _ = (await checker.check(SECTIONS, meter=Meter())).sections
        assert whales[0].verdict != "supported"
        assert uncited[0].verdict != "supported"

    async def test_a_changed_number_is_not_supported(self, checker: ClaimChecker) -> None:
        wrong = WrittenSection(VERBATIM.replace("12", "21"), (LAMP,))
        (claim,) = (await checker.check([wrong], meter=Meter())).sections[0]
        assert claim.verdict != "supported"
        assert claim.doubted or claim.verdict in ("contradicted", "unsupported")

    async def test_reading_ahead_changes_no_verdict(self, checker: ClaimChecker) -> None:
        checker.read_ahead([LAMP, SHOP])
        ahead = await checker.check(SECTIONS, meter=Meter())
        assert ahead == await checker.check(SECTIONS, meter=Meter())
        checked_well(ahead, SECTIONS)

    @pytest.mark.parametrize("sections", [[], [WrittenSection("", (LAMP,))], [WrittenSection(" \n", (LAMP,))]])
    async def test_nothing_said_is_nothing_to_check(
        self, checker: ClaimChecker, sections: list[WrittenSection]
    ) -> None:
        assert (await checker.check(sections, meter=Meter())).sections == tuple(() for _ in sections)

    async def test_a_budget_that_is_used_up_leaves_verdicts(self, checker: ClaimChecker) -> None:
        meter = Meter(calls_left=0, tokens_left=0, seconds_left=0.0)
        checked = await checker.check(SECTIONS, meter=meter)
        checked_well(checked, SECTIONS)
        assert checked.sections[0][0].verdict == "supported"
        assert meter.calls == 0
