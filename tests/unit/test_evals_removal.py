"""What a library without one of its documents knows of it: nothing."""

import pytest

from evals.dataset_store import ingest_texts, throwaway_workspace, without_documents
from graph.entrypoint import open_citewell
from graph.ports import SearchQuery
from tools.library.ingestion import NewDocument
from tools.settings import Settings

TEXTS = (
    "The town lies on a river. The Cedar Bridge was finished in 1911. It carries two lanes.",
    "The bakery in Mill Lane opens at six. It sells rye bread on Fridays. The oven is old.",
    "The lighthouse on Gull Island is lit by a lamp of nine lenses. A keeper lived in it until 1974.",
)


async def test_a_document_that_is_left_out_is_in_no_statistic(settings: Settings) -> None:
    """Search without it scores as in a library that never had it, and with it again as before."""
    document = NewDocument(text=TEXTS[0], title="1", document_id="0f6ab1a4-6a33-4ad5-9e0e-3a4a5e8f2b10")
    async with open_citewell(settings) as citewell:
        library = citewell.library

        async with throwaway_workspace(library, "left-out") as identity, throwaway_workspace(library, "never") as other:
            query = SearchQuery("When was the bakery by the Cedar Bridge finished?", identity, min_score=0.0)
            elsewhere = SearchQuery(query.text, other, min_score=0.0)
            for each in (identity, other):
                await ingest_texts(library, each, TEXTS[1:], ["2", "3"])
            never = [hit.score for hit in (await library.searcher.search(elsewhere)).hits]
            async for _ in library.ingestor.ingest_many(identity, [document]):
                pass
            before = [hit.score for hit in (await library.searcher.search(query)).hits]
            async with without_documents(library, identity, [document]):
                without = [hit.score for hit in (await library.searcher.search(query)).hits]
            after = [hit.score for hit in (await library.searcher.search(query)).hits]
    assert without == pytest.approx(never)
    assert before == pytest.approx(after)
    assert len(before) == len(without) + 1
