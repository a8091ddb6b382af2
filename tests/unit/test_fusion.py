"""One order of what the wordings of a question have found."""

import asyncio
from dataclasses import dataclass, field

import pytest

from answers.fusion import search_wordings
from graph.errors import DependencyFailed
from graph.evidence import Hit, Identity
from graph.ports import SearchQuery, SearchResult
from tests.fakes import segment

QUERY = SearchQuery("", Identity(), top_k=1, min_score=0.0)  # four places for two wordings
OWN, WORDS = "câu hỏi", "question"


@dataclass
class Found:
    """SegmentSearcher that finds what is given for a text."""

    hits: dict[str, list[Hit]]
    asked: list[SearchQuery] = field(default_factory=list)

    async def search(self, query: SearchQuery) -> SearchResult:
        self.asked.append(query)
        return SearchResult(tuple(self.hits[query.text]))


def hits(document: str, *scores: float) -> list[Hit]:
    """Make a hit of every third segment, so that none is a neighbour of another."""
    return [
        Hit(segment(document, 3 * at, f"{document} {at}"), score, own_score=score) for at, score in enumerate(scores)
    ]


def ids(told: list[tuple[str, SearchResult]]) -> dict[str, list[str]]:
    return {wording: [hit.segment_id for hit in result.hits] for wording, result in told}


async def test_each_wording_has_its_share_however_high_the_other_scores() -> None:
    searcher = Found({OWN: hits("vi", 0.5, 0.4, 0.35), WORDS: hits("en", 1.0, 0.99, 0.98, 0.97, 0.96)})
    told = await search_wordings(searcher, QUERY, [OWN, WORDS])
    assert ids(told) == {OWN: ["vi:0", "vi:3"], WORDS: ["en:0", "en:3"]}
    assert [hit.score for _, result in told for hit in result.hits] == [0.5, 0.4, 1.0, 0.99]


async def test_what_a_wording_leaves_the_other_takes() -> None:
    searcher = Found({OWN: hits("vi", 0.5), WORDS: hits("en", 1.0, 0.99, 0.98, 0.97, 0.96)})
    told = await search_wordings(searcher, QUERY, [OWN, WORDS])
    assert ids(told) == {OWN: ["vi:0"], WORDS: ["en:0", "en:3", "en:6"]}


async def test_a_find_of_both_counts_once_with_its_better_score() -> None:
    searcher = Found({OWN: hits("code", 0.4, 0.3), WORDS: hits("code", 0.8, 0.2) + hits("en", 0.7)})
    told = await search_wordings(searcher, QUERY, [OWN, WORDS])
    assert ids(told) == {OWN: ["code:3"], WORDS: ["code:0", "en:0"]}
    assert [hit.score for _, result in told for hit in result.hits] == [0.3, 0.8, 0.7]


async def test_only_what_is_taken_brings_its_neighbours() -> None:
    beside = [Hit(segment(name, 1, "beside"), 0.9 * score) for name, score in (("vi", 0.5), ("other", 0.3))]
    own = [*hits("vi", 0.5), beside[0], *hits("other", 0.3), beside[1]]
    told = await search_wordings(Found({OWN: own, WORDS: hits("en", 0.9, 0.8, 0.7)}), QUERY, [OWN, WORDS])
    assert set(ids(told)[OWN]) == {"vi:0", "vi:1", "other:0", "other:1"}
    own.extend(hits("third", 0.4))
    told = await search_wordings(Found({OWN: own, WORDS: hits("en", 0.9, 0.8, 0.7)}), QUERY, [OWN, WORDS])
    assert ids(told) == {OWN: ["vi:0", "vi:1", "third:0"], WORDS: ["en:0", "en:3"]}


async def test_one_wording_is_searched_once_and_left_as_it_is_found() -> None:
    searcher = Found({OWN: [*hits("vi", 0.5, 0.4), Hit(segment("vi", 1, "beside"), 0.0)]})
    told = await search_wordings(searcher, QUERY, [OWN, OWN])
    assert [query.text for query in searcher.asked] == [OWN]
    assert told == [(OWN, SearchResult(tuple(searcher.hits[OWN])))]


async def test_where_one_search_fails_the_other_ends() -> None:
    ended = asyncio.Event()

    class OneFails:
        async def search(self, query: SearchQuery) -> SearchResult:
            if query.text == WORDS:
                raise DependencyFailed("The index is gone.")
            try:
                await asyncio.Event().wait()
            finally:
                ended.set()
            raise AssertionError

    with pytest.raises(DependencyFailed):
        await search_wordings(OneFails(), QUERY, [OWN, WORDS])
    assert ended.is_set()
