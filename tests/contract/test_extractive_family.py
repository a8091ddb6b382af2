"""The extractive family against the kit of its ports, and what it promises beyond it: quotes, and nothing else."""

import pytest

from answers.passage_markdown import shown_text
from graph.evidence import Hit, Segment
from graph.ports import DraftClosed, Family
from graph.usage import Meter
from tests.contract.family_kit import BAKERY, LAMP, QUESTION, FamilyContract, collected, graded_once, sections_of
from tools.claims.code_checker import CodeChecker
from tools.extractive.extractive_family import extractive_family


def segment(document: str, text: str, **fields: str) -> Segment:
    return Segment(document, 0, 0, len(text), text, **fields)  # type: ignore[arg-type]


def highlighted(section: DraftClosed, segment: Segment) -> str:
    assert section.passage is not None
    span = section.passage["highlight"]
    return segment.text[span["start"] - segment.start : span["end"] - segment.start]


class TestExtractiveFamily(FamilyContract):
    repairs = False

    @pytest.fixture
    def family(self) -> Family:
        return extractive_family(checker=CodeChecker())

    async def test_it_makes_no_model_call(self, family: Family) -> None:
        meter = Meter(calls_left=0, tokens_left=0)
        await family.preparer.prepare(QUESTION, [], search="auto", has_pages=False, meter=meter)
        await family.grader.grade(QUESTION, [Hit(LAMP, 0.8)], meter=meter)
        assert await collected(family.writer.write(QUESTION, [Hit(LAMP, 0.8)], language="en", meter=meter))
        assert (family.name, meter.calls, meter.tokens) == ("extractive", 0, 0)

    async def test_each_section_is_a_passage_of_the_segment_it_cites(self, family: Family) -> None:
        segments = {each.segment_id: each for each in (LAMP, BAKERY)}
        drafts = await collected(
            family.writer.write(QUESTION, [Hit(each, 0.8) for each in segments.values()], language="en", meter=Meter())
        )
        sections = sections_of(drafts)
        assert 1 <= len(sections) <= 3
        for section in sections:
            passage = section.passage
            assert passage is not None
            assert section.source_ids == (passage["segment_id"],)
            assert section.text == shown_text(segments[passage["segment_id"]], passage)
        assert highlighted(sections[0], LAMP) == "The lamp of the lighthouse turns once in twelve seconds."

    async def test_the_same_question_is_answered_the_same(self, family: Family) -> None:
        other = extractive_family(checker=CodeChecker())
        hits = [Hit(LAMP, 0.8), Hit(BAKERY, 0.5)]
        answers = []
        for each in (family, other, family):
            grading = await each.grader.grade(QUESTION, hits, meter=Meter())
            drafts = await collected(
                each.writer.write(QUESTION, [Hit(LAMP, 0.8), Hit(BAKERY, 0.5)], language="en", meter=Meter())
            )
            answers.append((grading, drafts))
        assert answers[0] == answers[1] == answers[2]

    async def test_unrelated_candidates_are_all_dropped(self, family: Family) -> None:
        texts = [
            "Rye bread is sold on Fridays. The oven is lit at four.",
            "The choir rehearses in the old chapel. Newcomers are welcome.",
            "Bicycles may be parked behind the station. The gate closes at ten.",
        ]
        hits = [Hit(segment(f"d{n}", text), 0.31 - n / 100) for n, text in enumerate(texts)]
        grading = await family.grader.grade("Who won the men's singles at Wimbledon in 2019?", hits, meter=Meter())
        graded_once(grading, hits)
        assert grading.kept == ()

    async def test_a_segment_found_twice_is_graded_once(self, family: Family) -> None:
        hits = [Hit(LAMP, 1.0, "page"), Hit(LAMP, 0.7), Hit(BAKERY, 0.4)]
        graded_once(await family.grader.grade(QUESTION, hits, meter=Meter()), hits)

    async def test_an_answer_from_two_documents_cites_both(self, family: Family) -> None:
        travel = segment("travel", "Trips are booked by the office. The hotel limit is 180 euros a night in any city.")
        claims = segment("claims", "Receipts are kept for a year. Approved expense claims are paid on the 15th.")
        question = "What is the hotel limit a night, and when are approved expense claims paid?"
        hits = [Hit(claims, 0.8), Hit(travel, 0.7), Hit(BAKERY, 0.4)]
        grading = await family.grader.grade(question, hits, meter=Meter())
        by_id = {hit.segment.segment_id: hit.segment for hit in hits}
        kept = [Hit(by_id[segment_id], score) for segment_id, score in grading.kept]
        sections = sections_of(await collected(family.writer.write(question, kept, language="en", meter=Meter())))
        assert {highlighted(section, by_id[section.source_ids[0]]) for section in sections[:2]} == {
            "The hotel limit is 180 euros a night in any city.",
            "Approved expense claims are paid on the 15th.",
        }

    async def test_prose_wins_over_the_heading_that_repeats_the_question(self, family: Family) -> None:
        text = (
            "# Default port\n\nThe server listens on port 8400 by default.\n\n## Changing the default port\n\nSet it."
        )
        sections = sections_of(
            await collected(
                family.writer.write(
                    "What is the default port?", [Hit(segment("manual", text), 0.8)], language="en", meter=Meter()
                )
            )
        )
        assert sections[0].text == "The server listens on port 8400 by default."
        assert not any(section.text.startswith("#") for section in sections)

    async def test_a_table_row_may_answer(self, family: Family) -> None:
        text = "| setting | default |\n|---|---|\n| port | 8400 |\n| host | 127.0.0.1 |\n"
        drafts = await collected(
            family.writer.write(
                "Which port is the default?", [Hit(segment("manual", text), 0.8)], language="en", meter=Meter()
            )
        )
        [section] = sections_of(drafts)
        assert section.text.splitlines() == [
            "| setting | default |",
            "| --- | --- |",
            "| port | 8400 |",
            "| host | 127.0.0.1 |",
        ]

    async def test_nothing_to_quote_is_an_honest_no(self, family: Family) -> None:
        blank = segment("blank", " \n\n---\n\n")
        assert await collected(family.writer.write(QUESTION, [Hit(blank, 0.8)], language="en", meter=Meter())) == []

    @pytest.mark.parametrize(
        ("said", "language", "line"),
        [("Thanks a lot!", "en", "thanks"), ("再见！", "zh", "goodbye"), ("Bạn là ai?", "vi", "about")],
    )
    async def test_small_talk_is_answered_in_kind(self, family: Family, said: str, language: str, line: str) -> None:
        from prompts import lines

        drafts = await collected(
            family.writer.converse(said, [], language=language, intent="small_talk", meter=Meter())
        )
        assert [section.text for section in sections_of(drafts)] == [getattr(lines(language), line)]


async def test_how_much_it_refuses_is_the_deployments_choice() -> None:
    """The same weak evidence is quoted by a lenient deployment and refused by a strict one."""
    hit = Hit(segment("handbook", "The travel desk answers on weekdays. Hotels are paid up to 140 euros."), 0.5)
    question = "Which airline does the travel desk prefer for flights to Lisbon?"
    lenient, strict = (extractive_family(checker=CodeChecker(), refuse_below=point) for point in (0.0, 1.0))
    assert (await lenient.grader.grade(question, [hit], meter=Meter())).kept
    assert not (await strict.grader.grade(question, [hit], meter=Meter())).kept
