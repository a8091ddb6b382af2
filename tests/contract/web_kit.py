"""What every ``WebSearcher`` must do, over a scripted web."""

import pytest

from graph.errors import WebUnavailable
from graph.evidence import Identity
from graph.ports import SearchResult, SegmentReader, WebSearcher
from tests.scripted_web import Reply, ScriptedWeb, found, result

ME, YOU = Identity(), Identity(user="someone-else")
LAMP = "The lamp of the lighthouse turns every twelve seconds."
KEEPER = "The keeper oils the gears of the lamp on Tuesdays."
QUESTION = "How often does the lamp turn?"


async def ask(
    web: WebSearcher, query: str = QUESTION, identity: Identity = ME, *, top_k: int = 10, least: float = 0.0
) -> SearchResult:
    return await web.search_web(query, identity, top_k=top_k, min_score=least, seconds=None)


class WebContract:
    """A subclass has fixtures ``web`` (the searcher), ``script`` (the web that it searches) and ``reader``."""

    @pytest.fixture(autouse=True)
    def _searches(self, script: ScriptedWeb) -> None:
        script.searches = [
            found(
                result(script.url("lamp.test/keeper"), KEEPER, "The keeper"),
                result(script.url("lamp.test/lamp"), LAMP, "The lamp"),
            )
        ]

    async def test_what_bears_on_the_query_comes_first(self, web: WebSearcher) -> None:
        searched = await ask(web)
        assert [hit.segment.text for hit in searched.hits] == [LAMP, KEEPER]
        assert {hit.kind for hit in searched.hits} == {"web"}
        assert searched.degraded is None

    async def test_a_hit_says_what_it_is_and_where_from(self, web: WebSearcher, script: ScriptedWeb) -> None:
        segment = (await ask(web)).hits[0].segment
        assert (segment.source_type, segment.title, segment.url) == ("web", "The lamp", script.url("lamp.test/lamp"))

    async def test_scores_fall_and_none_is_below_the_least(self, web: WebSearcher) -> None:
        for least in (0.0, 0.3, 0.6):
            scores = [hit.score for hit in (await ask(web, least=least)).hits]
            assert scores == sorted(scores, reverse=True)
            assert all(least <= score <= 1 for score in scores)

    async def test_no_more_than_top_k_are_found(self, web: WebSearcher) -> None:
        assert len((await ask(web, top_k=1)).hits) == 1

    async def test_a_hit_can_be_read_again_by_who_asked_alone(self, web: WebSearcher, reader: SegmentReader) -> None:
        segment = (await ask(web)).hits[0].segment
        assert await reader.read_segments([segment.segment_id], ME) == [segment]
        [page] = await reader.read_pages([segment.document_id], ME)
        assert "".join(part.text for part in page.segments)[segment.start : segment.end] == segment.text
        assert await reader.read_segments([segment.segment_id], YOU) == []
        assert await reader.read_pages([segment.document_id], YOU) == []

    async def test_each_user_has_what_they_found_themselves(self, web: WebSearcher) -> None:
        mine = {hit.segment.document_id for hit in (await ask(web)).hits}
        yours = {hit.segment.document_id for hit in (await ask(web, identity=YOU)).hits}
        assert len(mine) == len(yours) == 2
        assert not mine & yours

    async def test_the_same_again_is_the_same_document(self, web: WebSearcher) -> None:
        first, second = (await ask(web)).hits, (await ask(web)).hits
        assert [(hit.segment.segment_id, hit.segment.text, hit.score) for hit in first] == [
            (hit.segment.segment_id, hit.segment.text, hit.score) for hit in second
        ]

    async def test_nothing_found_is_no_failure(self, web: WebSearcher, script: ScriptedWeb) -> None:
        script.searches = [found()]
        assert await ask(web) == SearchResult(())

    async def test_a_search_that_fails_says_so(self, web: WebSearcher, script: ScriptedWeb) -> None:
        script.searches = [Reply(status=403)]
        with pytest.raises(WebUnavailable, match="refuses the key"):
            await ask(web)

    async def test_a_search_ends_with_the_time_of_the_run(self, web: WebSearcher, script: ScriptedWeb) -> None:
        script.searches = [Reply(length=10, held=True)]
        for seconds in (0.1, 0.0, -1.0):
            with pytest.raises(WebUnavailable, match="the run had left"):
                await web.search_web(QUESTION, ME, top_k=10, min_score=0.0, seconds=seconds)
