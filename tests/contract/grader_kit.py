"""The kit that every grader passes, over a small library."""

from graph.evidence import Hit, Segment
from graph.ports import RelevanceGrader
from graph.usage import Meter
from tests.contract.family_kit import BAKERY, LAMP, QUESTION, graded_once

TIDE_TEXT = "High tide is at noon. Boats leave an hour before."
TIDE = Segment("7d9c2a10-0000-4000-8000-000000000003", 0, 0, len(TIDE_TEXT), TIDE_TEXT, title="Harbour")


class GraderContract:
    async def test_what_bears_on_the_question_is_kept(self, grader: RelevanceGrader) -> None:
        hits = [Hit(BAKERY, 0.35), Hit(LAMP, 0.8), Hit(TIDE, 0.31)]
        grading = await grader.grade(QUESTION, hits, meter=Meter())
        graded_once(grading, hits)
        assert grading.kept[0][0] == LAMP.segment_id
        assert grading.fallback is None

    async def test_a_segment_found_twice_is_graded_once(self, grader: RelevanceGrader) -> None:
        hits = [Hit(LAMP, 1.0, "page"), Hit(LAMP, 0.7), Hit(BAKERY, 0.4)]
        graded_once(await grader.grade(QUESTION, hits, meter=Meter()), hits)

    async def test_nothing_is_nothing(self, grader: RelevanceGrader) -> None:
        assert (await grader.grade(QUESTION, [], meter=Meter(calls_left=0))).kept == ()

    async def test_without_a_call_left_the_best_is_still_kept(self, grader: RelevanceGrader) -> None:
        hits = [Hit(LAMP, 0.8), Hit(BAKERY, 0.35)]
        grading = await grader.grade(QUESTION, hits, meter=Meter(calls_left=0))
        graded_once(grading, hits)
        assert LAMP.segment_id in [segment_id for segment_id, _ in grading.kept]

    async def test_more_than_any_context_holds_is_graded(self, grader: RelevanceGrader) -> None:
        hits = [Hit(LAMP, 0.9)] + [Hit(_numbered(index), 0.8 - index / 1000) for index in range(150)]
        grading = await grader.grade(QUESTION, hits, meter=Meter())
        graded_once(grading, hits)
        assert grading.kept


class PageKeepingContract(GraderContract):
    """The kit of graders for writers that read what a person selected, whatever it is."""

    async def test_a_selected_page_is_kept(self, grader: RelevanceGrader) -> None:
        hits = [Hit(TIDE, 1.0, "page"), Hit(BAKERY, 1.0, "page"), Hit(LAMP, 0.8)]
        grading = await grader.grade(QUESTION, hits, meter=Meter())
        graded_once(grading, hits)
        assert [segment_id for segment_id, _ in grading.kept[:2]] == [TIDE.segment_id, BAKERY.segment_id]

    async def test_selected_pages_alone_need_no_call(self, grader: RelevanceGrader) -> None:
        meter = Meter(calls_left=0)
        grading = await grader.grade(QUESTION, [Hit(TIDE, 1.0, "page")], meter=meter)
        assert (grading.kept, grading.fallback, meter.exhausted) == (((TIDE.segment_id, 1.0),), None, None)


def _numbered(index: int) -> Segment:
    text = f"Buoy {index} is painted in another colour. " * 20
    return Segment("7d9c2a10-0000-4000-8000-000000000004", index, 0, len(text), text, title="Buoys")
