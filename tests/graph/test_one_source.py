"""What is one source to a reader: a hit with what stands around it, and a selected page; no more than was asked for."""

from dataclasses import replace

from graph.ports import SearchQuery, SearchResult
from tests.fakes import MemoryLibrary, ScriptedFamily, quote, segment
from tests.graph.asking import Asked

TEXTS = [f"Rule {number} of the club says that boat {number} stays in its shed. " for number in range(6)]
RULES = [segment("rules", at, text, start=sum(map(len, TEXTS[:at]))) for at, text in enumerate(TEXTS)]
OTHER = segment("shed", 0, "The shed of boat 9 is locked at night.")


class WideningLibrary(MemoryLibrary):
    """A library whose search adds the neighbours of what it finds, as the service's does."""

    async def search(self, query: SearchQuery) -> SearchResult:
        """Find by words, and add the segments beside each hit."""
        hits = {hit.segment_id: hit for hit in (await super().search(query)).hits}
        for hit in list(hits.values()):
            for each in self.segments:
                near = abs(each.segment_index - hit.segment.segment_index) == 1
                if near and each.document_id == hit.segment.document_id and each.segment_id not in hits:
                    hits[each.segment_id] = replace(hit, segment=each, score=hit.score * 0.9, own_score=0.0)
        return SearchResult(tuple(sorted(hits.values(), key=lambda hit: -hit.score)))


async def test_neighbours_of_a_hit_are_no_sources_of_their_own() -> None:
    drafts = [[*quote(TEXTS[2].strip(), "rules:2"), *quote(TEXTS[3].strip(), "rules:3"), *quote(OTHER.text, "shed:0")]]
    session = Asked(library=WideningLibrary([*RULES, OTHER]), family=ScriptedFamily(drafts=drafts))
    state = await session.ask("shed boat 2 locked", top_k=2, min_score=0.0)
    message = await session.message(state)
    assert [
        (each["segment_id"], [s["segment_index"] for s in each.get("segments", [])]) for each in message["sources"]
    ] == [
        ("shed:0", []),
        ("rules:2", [1, 2, 3]),
    ]
    told = session.told("sources_graded")[-1].sources
    assert [{**each, "excerpt": ""} for each in told] == [{**each, "excerpt": ""} for each in message["sources"]]
    cited = [(each["segment_id"], each["source_index"]) for each in message["citations"]]
    assert cited == [("rules:2", 2), ("rules:3", 2), ("shed:0", 1)]


async def test_a_selected_page_is_one_source_whose_segments_are_its_citations() -> None:
    drafts = [[*quote(TEXTS[4].strip(), "rules:4"), *quote(TEXTS[0].strip(), "rules:0")]]
    session = Asked(library=MemoryLibrary([*RULES, OTHER]), family=ScriptedFamily(drafts=drafts))
    state = await session.ask("Where does each boat stay?", pages=["rules", "shed"])
    message = await session.message(state)
    assert [(each["index"], each["document_id"]) for each in message["sources"]] == [(1, "rules"), (2, "shed")]
    assert [each["segment_index"] for each in message["sources"][0]["segments"]] == [0, 1, 2, 3, 4, 5]
    assert [(each["segment_id"], each["source_index"]) for each in message["citations"]] == [
        ("rules:4", 1),
        ("rules:0", 1),
    ]
    for text in (TEXTS[4], TEXTS[0]):
        assert text.strip() in message["sources"][0]["excerpt"]
