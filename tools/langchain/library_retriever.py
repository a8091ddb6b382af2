"""The library as a LangChain retriever."""

from functools import partial
from typing import Annotated

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import Field, SkipValidation

from graph.evidence import Hit, Identity
from graph.ports import SearchQuery
from tools.langchain.shared_library import SharedLibrary
from tools.process.library import Library


class LibraryRetriever(BaseRetriever):
    """Hybrid search as a LangChain retriever, in synchronous and asynchronous code, as ``identity`` may read."""

    library: Annotated[SharedLibrary, SkipValidation]
    identity: Identity = Identity()
    top_k: int = Field(default=10, ge=1, le=30)
    min_score: float = Field(default=0.3, ge=0, le=1)
    spaces: tuple[str, ...] = ()
    document_ids: tuple[str, ...] = ()
    expand: int = Field(default=0, ge=0)

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        return self.library.run(partial(self._search, query))

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun
    ) -> list[Document]:
        return await self.library.arun(partial(self._search, query))

    async def _search(self, query: str, library: Library) -> list[Document]:
        found = await library.searcher.search(
            SearchQuery(
                text=query,
                identity=self.identity,
                top_k=self.top_k,
                min_score=self.min_score,
                spaces=self.spaces,
                document_ids=self.document_ids,
                expand=self.expand,
            )
        )
        return [_as_document(hit) for hit in found.hits]


def _as_document(hit: Hit) -> Document:
    segment = hit.segment
    return Document(
        id=segment.segment_id,
        page_content=segment.text,
        metadata={
            "segment_id": segment.segment_id,
            "document_id": segment.document_id,
            "segment_index": segment.segment_index,
            "start": segment.start,
            "end": segment.end,
            "page_idx": segment.page_idx,
            "heading": segment.heading,
            "title": segment.title,
            "url": segment.url,
            "source_type": segment.source_type,
            "score": hit.score,
        },
    )
