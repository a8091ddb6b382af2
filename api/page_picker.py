"""Pages for a picker: by id in the order asked, or by what their titles and then their texts say."""

from api.schemas.docmost import PageSearch
from api.schemas.docmost_replies import AiPage
from graph.evidence import Identity, Segment, Space
from graph.ports import SearchQuery
from tools.documents import Document
from tools.resources import Library

PAGES_LISTED = 20
SEGMENTS_FOUND = 10


async def find_pages(library: Library, identity: Identity, wanted: PageSearch) -> list[AiPage]:
    """List the pages that the identity may read, leaving out deleted ones and what runs brought from elsewhere."""
    if wanted.page_ids:
        page_ids = list(dict.fromkeys(map(str, wanted.page_ids)))
        named = await library.documents.list(identity, limit=len(page_ids), document_ids=page_ids, lasting=True)
        by_id = {document.document_id: _page(document) for document in named.documents}
        return [by_id[page_id] for page_id in page_ids if page_id in by_id]
    words, space = " ".join(wanted.query.split()), wanted.space_id.strip() or None
    titled = await library.documents.list(identity, limit=PAGES_LISTED, space=space, title=words or None, lasting=True)
    pages = [_page(document) for document in titled.documents]
    if words and len(pages) < PAGES_LISTED:
        spaces = (space,) if space else ()
        query = SearchQuery(words, identity, top_k=SEGMENTS_FOUND, spaces=spaces, expand=0)
        pages += [_page(hit.segment) for hit in (await library.searcher.search(query)).hits]
    return list({page.page_id: page for page in pages}.values())[:PAGES_LISTED]


def _page(found: Document | Segment) -> AiPage:
    space = found.space or Space(id=None, slug=None)
    return AiPage(
        page_id=found.document_id,
        title=found.title,
        slug_id=found.slug or "",
        space_id=space["id"] or "",
        space_slug=space["slug"] or "",
    )
