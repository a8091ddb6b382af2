"""Read the selected pages whole, as far as the token budget goes, in the order they were selected."""

from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from graph.context import Context
from graph.events import PagesLoaded, PageUse
from graph.evidence import Page
from graph.ports import SegmentReader
from graph.spending import Meter
from graph.state import Candidate, State

PAGE_SCORE = 1.0


class LoadSelectedPagesUpdate(TypedDict):
    """The pages' segments as candidates."""

    candidates: list[Candidate]


async def load_selected_pages(
    state: State, runtime: Runtime[Context], *, reader: SegmentReader, meter: Meter
) -> LoadSelectedPagesUpdate:
    """Offer every segment of the selected pages that the budget of tokens holds; say what was cut or not found."""
    pages = await reader.read_pages(state.page_ids, runtime.context.identity)
    room = runtime.context.page_tokens
    candidates: list[Candidate] = []
    used: list[PageUse] = []
    cut: list[PageUse] = []
    for page in pages:
        read = _fitting(page, room)
        room -= sum(segment.tokens for segment in page.segments[:read])
        candidates += [
            Candidate(segment_id=segment.segment_id, kind="page", score=PAGE_SCORE) for segment in page.segments[:read]
        ]
        use = PageUse(document_id=page.document_id, title=page.title, segments=read, of=len(page.segments))
        (used if read == len(page.segments) else cut).append(use)
    found = {page.document_id for page in pages}
    unused = [page_id for page_id in state.page_ids if page_id not in found]
    runtime.stream_writer(PagesLoaded(used=used, cut=cut, unused=unused))
    return {"candidates": candidates}


def _fitting(page: Page, room: int) -> int:
    """Count the leading segments of a page that fit into ``room`` tokens."""
    for count, segment in enumerate(page.segments):
        room -= segment.tokens
        if room < 0:
            return count
    return len(page.segments)
