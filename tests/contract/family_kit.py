"""The kit that every family passes: preparer, rewriter, grader and writer, over one small library.

A test class takes it over and provides the fixture ``family``. Where a model stands behind the family, its replies have
to be those of a model that understands: the kit asks nothing but QUESTION, FOLLOW_UP, SMALL_TALK and their likes here.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing

import pytest

from graph.evidence import Hit, Segment
from graph.ports import (
    Draft,
    DraftClosed,
    DraftOpened,
    DraftText,
    DraftThinking,
    Family,
    FaultyClaim,
    FaultySection,
    Grading,
    Revision,
)
from graph.rows import Turn
from graph.usage import Meter
from text.language import language

LAMP_TEXT = "The lamp of the lighthouse turns once in twelve seconds. Its keeper oils the gears every Tuesday."
BAKERY_TEXT = "The bakery in Mill Lane opens at six. It sells rye bread on Fridays."
LAMP = Segment("7d9c2a10-0000-4000-8000-000000000001", 0, 0, len(LAMP_TEXT), LAMP_TEXT, title="Lighthouse")
BAKERY = Segment("7d9c2a10-0000-4000-8000-000000000002", 0, 0, len(BAKERY_TEXT), BAKERY_TEXT, title="Shops")

QUESTION = "How often does the lamp of the lighthouse turn?"
FOLLOW_UP = "Who oils its gears?"
CHINESE_QUESTION = "灯塔的灯多久转一圈？"
SMALL_TALK = "Hello there!"
WRONG = "The lamp of the lighthouse turns once in twenty seconds."
FAULTY = FaultySection(3, WRONG, (FaultyClaim(WRONG, "contradicted", ("the source says twelve seconds",)),))
INVENTED = FaultySection(1, "Ada Holm built it.", (FaultyClaim("Ada Holm built it.", "unsupported", ()),))
TURNS = [Turn(question=QUESTION, standalone_question=QUESTION, answer="It turns once in twelve seconds.")]


def sections_of(drafts: Sequence[Draft]) -> list[DraftClosed]:
    """Check that drafts are well formed, section after section, and give the closed sections."""
    sections: list[DraftClosed] = []
    opened, text = False, ""
    for draft in drafts:
        match draft:
            case DraftOpened():
                assert not opened
                opened, text = True, ""
            case DraftText(delta):
                assert opened
                assert delta
                text += delta
            case DraftClosed():
                assert opened
                assert draft.text == text
                assert len(set(draft.source_ids)) == len(draft.source_ids)
                opened = False
                sections.append(draft)
            case DraftThinking(delta):
                assert delta
    assert not opened
    return sections


async def collected(drafts: AsyncIterator[Draft]) -> list[Draft]:
    return [draft async for draft in drafts]


def graded_once(grading: Grading, hits: Sequence[Hit]) -> None:
    """Check that each candidate was kept or dropped, none twice, and that scores fall within [0, 1]."""
    ids = [segment_id for segment_id, _ in (*grading.kept, *grading.dropped)]
    assert sorted(ids) == sorted({hit.segment.segment_id for hit in hits})
    scores = [score for _, score in grading.kept]
    assert scores == sorted(scores, reverse=True)
    assert all(0.0 <= score <= 1.0 for score in scores)
    assert all(reason for _, reason in grading.dropped)


def revised_once(revisions: Sequence[Revision], faulty: Sequence[FaultySection], hits: Sequence[Hit]) -> None:
    """Check that only faulty sections are written again, none twice, from offered ids; what is withdrawn cites none."""
    indices = [revision.section_index for revision in revisions]
    assert len(set(indices)) == len(indices)
    assert set(indices) <= {section.section_index for section in faulty}
    offered = {hit.segment.segment_id for hit in hits}
    for revision in revisions:
        assert len(set(revision.source_ids)) == len(revision.source_ids)
        assert offered.issuperset(revision.source_ids)
        assert revision.text == revision.text.strip()
        assert revision.text or not revision.source_ids


class FamilyContract:
    repairs = True  # whether the writer writes failed sections again; one that only quotes withdraws them

    async def test_a_question_needs_the_library(self, family: Family) -> None:
        prepared = await family.preparer.prepare(QUESTION, [], search="auto", has_pages=False, meter=Meter())
        assert prepared.needs_retrieval
        assert (prepared.intent, prepared.language) == ("content_query", "en")
        assert "lighthouse" in prepared.standalone_question
        assert prepared.reason
        assert prepared.fallback is None

    async def test_small_talk_does_not(self, family: Family) -> None:
        prepared = await family.preparer.prepare(SMALL_TALK, [], search="auto", has_pages=False, meter=Meter())
        assert not prepared.needs_retrieval
        assert (prepared.intent, prepared.language) == ("small_talk", "en")

    async def test_a_follow_up_is_made_standalone(self, family: Family) -> None:
        prepared = await family.preparer.prepare(FOLLOW_UP, TURNS, search="auto", has_pages=False, meter=Meter())
        assert prepared.needs_retrieval
        assert "gears" in prepared.standalone_question
        assert "lamp" in prepared.standalone_question or "lighthouse" in prepared.standalone_question

    async def test_the_language_is_the_questions(self, family: Family) -> None:
        prepared = await family.preparer.prepare(CHINESE_QUESTION, TURNS, search="auto", has_pages=False, meter=Meter())
        assert prepared.language == "zh"

    @pytest.mark.parametrize(
        ("search", "has_pages", "needed"), [("always", False, True), ("off", False, False), ("off", True, True)]
    )
    async def test_the_search_mode_overrules_the_decision(
        self, family: Family, search: str, has_pages: bool, needed: bool
    ) -> None:
        prepared = await family.preparer.prepare(
            QUESTION,
            [],
            search=search,
            has_pages=has_pages,
            meter=Meter(),
        )
        assert prepared.needs_retrieval is needed
        assert prepared.intent == "content_query"

    async def test_the_grader_keeps_what_bears_on_the_question(self, family: Family) -> None:
        hits = [Hit(LAMP, 0.8), Hit(BAKERY, 0.35)]
        grading = await family.grader.grade(QUESTION, hits, meter=Meter())
        graded_once(grading, hits)
        assert LAMP.segment_id in [segment_id for segment_id, _ in grading.kept]
        assert grading.fallback is None

    async def test_the_writer_cites_what_it_was_given(self, family: Family) -> None:
        drafts = await collected(
            family.writer.write(QUESTION, [Hit(LAMP, 0.8), Hit(BAKERY, 0.5)], language="en", meter=Meter())
        )
        sections = sections_of(drafts)
        assert LAMP.segment_id in sections[0].source_ids
        offered = {LAMP.segment_id, BAKERY.segment_id}
        assert all(offered.issuperset(section.source_ids) for section in sections)
        assert any("twelve seconds" in section.text for section in sections)

    async def test_a_query_is_worded_anew(self, family: Family) -> None:
        rewriting = await family.rewriter.rewrite(QUESTION, [QUESTION], languages=["en"], meter=Meter())
        assert rewriting.query
        assert rewriting.query != QUESTION
        assert rewriting.reason
        assert rewriting.fallback is None

    async def test_no_query_is_tried_twice(self, family: Family) -> None:
        tried = [QUESTION]
        for _ in range(3):
            rewriting = await family.rewriter.rewrite(QUESTION, tried, languages=["en"], meter=Meter())
            assert rewriting.query not in tried
            tried += [rewriting.query] if rewriting.query else []

    async def test_a_failed_section_is_written_again_from_the_sources_or_withdrawn(self, family: Family) -> None:
        hits = [Hit(LAMP, 0.8), Hit(BAKERY, 0.5)]
        revisions = await family.writer.revise(QUESTION, [FAULTY, INVENTED], hits, language="en", meter=Meter())
        revised_once(revisions, [FAULTY, INVENTED], hits)
        (mended,) = [revision for revision in revisions if revision.section_index == FAULTY.section_index]
        assert bool(mended.text) == self.repairs
        if self.repairs:
            assert "twelve seconds" in mended.text
            assert LAMP.segment_id in mended.source_ids

    async def test_without_sources_failed_sections_are_withdrawn(self, family: Family) -> None:
        revisions = await family.writer.revise(QUESTION, [FAULTY, INVENTED], [], language="en", meter=Meter())
        revised_once(revisions, [FAULTY, INVENTED], [])
        assert sorted((revision.section_index, revision.text) for revision in revisions) == [(1, ""), (3, "")]

    async def test_nothing_failed_is_nothing_to_write(self, family: Family) -> None:
        assert not await family.writer.revise(QUESTION, [], [Hit(LAMP, 0.8)], language="en", meter=Meter())

    async def test_small_talk_is_answered_without_sources(self, family: Family) -> None:
        drafts = await collected(
            family.writer.converse(SMALL_TALK, [], language="en", intent="small_talk", meter=Meter())
        )
        sections = sections_of(drafts)
        assert sections
        assert all(section.text.strip() and not section.source_ids for section in sections)

    @pytest.mark.parametrize(
        "question", [QUESTION, CHINESE_QUESTION, SMALL_TALK, "“Lamp?”\n\n" + 40 * "turning, " + "or not?"]
    )
    async def test_a_title_is_one_short_line(self, family: Family, question: str) -> None:
        assert family.titler is not None
        title = await family.titler.title(question, language=language(question), meter=Meter())
        assert 1 <= len(title) <= 60
        assert title == " ".join(title.split())
        assert not set(title) & set('"“”「」«»')

    async def test_a_reader_may_leave_in_mid_answer(self, family: Family) -> None:
        async with aclosing(family.writer.write(QUESTION, [Hit(LAMP, 0.8)], language="en", meter=Meter())) as drafts:
            assert isinstance(await anext(drafts), DraftOpened | DraftThinking)

    async def test_runs_do_not_mix(self, family: Family) -> None:
        both = await asyncio.gather(
            collected(family.writer.write(QUESTION, [Hit(LAMP, 0.8)], language="en", meter=Meter())),
            collected(family.writer.write(QUESTION, [Hit(LAMP, 0.8)], language="en", meter=Meter())),
        )
        for drafts in both:
            assert all(set(section.source_ids) <= {LAMP.segment_id} for section in sections_of(drafts))
