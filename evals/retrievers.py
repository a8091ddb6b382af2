"""Retrievers for evaluations, our hybrid search and LangChain's vector store, and their measurement."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Literal, NotRequired

from typing_extensions import TypedDict

from evals.bootstrap import mean_interval
from evals.cases import Case, DataSet
from evals.dataset_store import stored_data_set
from evals.metrics import Figures, as_figure
from evals.metrics.metric_groups import TAGS
from evals.metrics.retrieval_metrics import ndcg, recall_at, reciprocal_rank
from evals.pacing import Progress
from graph.entrypoint import Citewell, open_runner
from graph.errors import InvalidRequest
from graph.evidence import Hit, Identity
from graph.ports import Resources, SearchQuery, SearchResult, SegmentSearcher
from tools.judges.examiner import without_background_exam
from tools.langchain.vector_store import library_vector_store
from tools.process.library import Library, open_library
from tools.runs.executor import Durability
from tools.settings import Settings

if TYPE_CHECKING:
    from langchain_postgres import PGVectorStore


RetrieverName = Literal["ours", "langchain"]
# A cosine similarity is not calibrated, and LangChain's own retriever drops nothing by default.
LEAST_SCORES: Mapping[RetrieverName, float] = {"ours": 0.3, "langchain": 0.0}


@dataclass(frozen=True, slots=True)
class VectorStoreSearcher:
    """SegmentSearcher over LangChain's ``PGVectorStore``: one vector search, scored by cosine similarity.

    A workspace's store is opened at its first search, and closed with ``stores``. Neighbours are not added.
    """

    library: Library
    stores: AsyncExitStack
    _opened: "dict[str, PGVectorStore]" = field(default_factory=dict)
    _opening: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def search(self, query: SearchQuery) -> SearchResult:
        """Return the segments closest to the question; see ``graph.ports.SegmentSearcher``.

        Raises InvalidRequest for a query limited to spaces, for which the store has no column.
        """
        if query.spaces:
            raise InvalidRequest("LangChain's vector store cannot be searched by space.")
        store = await self._store(query.identity.workspace)
        within = {"document_id": {"$in": list(query.document_ids)}} if query.document_ids else None
        found = await store.asimilarity_search_with_score(query.text, k=query.top_k, filter=within)
        scores = {str(document.id): min(1.0, max(0.0, 1.0 - distance)) for document, distance in found}
        kept = [segment_id for segment_id, score in scores.items() if score >= query.min_score]
        segments = await self.library.reader.read_segments(kept, query.identity)
        ranked = ((segment, scores[segment.segment_id]) for segment in segments)
        return SearchResult(tuple(Hit(segment, score, own_score=score) for segment, score in ranked))

    async def _store(self, workspace: str) -> "PGVectorStore":
        async with self._opening:
            if workspace not in self._opened:
                library = self.library
                opening = library_vector_store(library.database, library.workspaces, library.embedder, workspace)
                self._opened[workspace] = await self.stores.enter_async_context(opening)
            return self._opened[workspace]


@asynccontextmanager
async def open_searcher(library: Library, retriever: RetrieverName) -> AsyncIterator[SegmentSearcher]:
    """Open a retriever's searcher over a library."""
    async with AsyncExitStack() as stores:
        yield library.searcher if retriever == "ours" else VectorStoreSearcher(library, stores)


@asynccontextmanager
async def open_with_retriever(
    settings: Settings,
    retriever: RetrieverName,
    *,
    durability: Durability | None = None,
    change: Callable[[Resources], Resources] | None = None,
) -> AsyncIterator[Citewell]:
    """Open Citewell with a retriever instead of its own search. No exam of a judge starts by itself.

    ``change`` alters the graph's ports, as a writer that plants sentences does.
    Raises ConfigurationError, DatabaseUnavailable, EmbeddingMismatch.
    """
    async with (
        open_library(without_background_exam(settings)) as library,
        open_searcher(library, retriever) as searcher,
    ):
        searched = replace(library, searcher=searcher)
        resources = searched.resources if change is None else change(searched.resources)
        async with open_runner(searched, settings, durability=durability, resources=resources) as citewell:
            yield citewell


SEGMENTS = 30  # enough for ten documents even if some yield several segments
_DEPTHS = (1, 3, 5, 10)


class RetrieverFigures(TypedDict):
    """Figures of all questions that have evidence, and of those that share a tag's value, by tag and value."""

    all: Figures
    by: dict[str, dict[str, Figures]]


class RetrievalReport(RetrieverFigures):
    """The figures of a retriever; for another than ours, ``beside`` has those of ours on the same questions."""

    retriever: RetrieverName
    documents: int
    questions: int
    beside: NotRequired[RetrieverFigures]


@dataclass(frozen=True, slots=True)
class _Searched:
    case: Case
    ranked: Sequence[str]


async def run_retrieval(
    library: Library, data: DataSet, *, retriever: RetrieverName = "ours", progress: Progress | None = None
) -> RetrievalReport:
    """Search all documents of a set for each question that has gold evidence, with the question as written.

    A question's selected pages are ignored: everything is searched, without a minimum score. Ranks are of documents,
    and each measure is the one of the same name in ``evals.metrics.retrieval_metrics``. Raises InvalidRequest if no
    question has evidence or a document is refused, CitewellError if the library can't be read.
    """
    cases = [case for case in data.cases if case.evidence]
    if not cases:
        raise InvalidRequest(f"{data.name} has no question with evidence to search for.")
    retrievers: list[RetrieverName] = ["ours"] if retriever == "ours" else ["ours", retriever]
    figures: dict[RetrieverName, RetrieverFigures] = {}
    async with stored_data_set(library, data) as (stored, identity):
        for turn, name in enumerate(retrievers):
            searched: list[_Searched] = []
            async with open_searcher(library, name) as searcher:
                for case in cases:
                    searched.append(await _search(searcher, stored.names, case, identity))
                    if progress is not None:
                        progress(turn * len(cases) + len(searched), len(retrievers) * len(cases))
            figures[name] = _all_figures(searched)
    report = RetrievalReport(
        retriever=retriever,
        documents=len(data.documents),
        questions=len(cases),
        all=figures[retriever]["all"],
        by=figures[retriever]["by"],
    )
    if retriever != "ours":
        report["beside"] = figures["ours"]
    return report


async def _search(searcher: SegmentSearcher, names: Mapping[str, str], case: Case, identity: Identity) -> _Searched:
    query = SearchQuery(case.question, identity, top_k=SEGMENTS, min_score=0.0, expand=0)
    hits = (await searcher.search(query)).hits
    return _Searched(case, list(dict.fromkeys(names[hit.segment.document_id] for hit in hits)))


def _all_figures(searched: Sequence[_Searched]) -> RetrieverFigures:
    groups = {tag: _by_tag(searched, tag) for tag in TAGS}
    return RetrieverFigures(all=_figures(searched), by={tag: found for tag, found in groups.items() if len(found) > 1})


def _by_tag(searched: Sequence[_Searched], tag: str) -> dict[str, Figures]:
    values = sorted({each.case.tags[tag] for each in searched if tag in each.case.tags})
    return {value: _figures([each for each in searched if each.case.tags.get(tag) == value]) for value in values}


def _figures(searched: Sequence[_Searched]) -> Figures:
    measures = {f"recall_at_{k}": partial(recall_at, k) for k in _DEPTHS} | {
        "mrr": reciprocal_rank,
        "ndcg_at_10": ndcg,
    }
    values: Mapping[str, list[float]] = {
        name: [measure(each.ranked, each.case.gold_documents) for each in searched]
        for name, measure in measures.items()
    }
    several = [each for each in searched if min(map(len, each.case.gold_documents)) > 1]
    all_gold = [float(recall_at(10, each.ranked, each.case.gold_documents) == 1.0) for each in several]
    return {
        name: as_figure(mean_interval(found)) for name, found in {**values, "all_gold_at_10": all_gold}.items() if found
    }
